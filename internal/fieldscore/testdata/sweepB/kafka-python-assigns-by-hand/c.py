#!/usr/bin/env python2
# coding=utf8
import time
import logging
from kafka import KafkaConsumer
from kafka import TopicPartition

logging.basicConfig(level=logging.INFO)

c = KafkaConsumer(
    bootstrap_servers="arch:9092,arch:9093,arch:9094",
    group_id="g1",
    enable_auto_commit=True,
    session_timeout_ms=3000,
)
c.assign([TopicPartition("test", 0)])
for m in c:
    print(m)
