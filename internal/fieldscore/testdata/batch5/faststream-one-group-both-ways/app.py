import logging

from faststream import FastStream
from faststream.kafka import KafkaRouter, TopicPartition, KafkaBroker

router = KafkaRouter()


@router.subscriber('t1', group_id='cg1')
async def handle_group(msg):
    print('handle_group')


@router.subscriber(group_id='cg1', partitions=[TopicPartition('t2', 0), TopicPartition('t2', 1)])
async def handle_partition(msg):
    print('handle_partition')


broker = KafkaBroker(log_level=logging.INFO, graceful_timeout=5.0)
broker.include_router(router, prefix='rtr_')
app = FastStream(broker)
