from confluent_kafka import Consumer

c = Consumer({
    'bootstrap.servers': 'kafka-1:9092',
    'group.id': 'two-topics',
    'topic.metadata.refresh.interval.ms': 60000,
    'debug': 'cgrp,metadata,topic',
})
c.subscribe(['topic_a', 'topic_b'])
