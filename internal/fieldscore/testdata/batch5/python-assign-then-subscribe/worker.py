import multiprocessing
from confluent_kafka import Consumer, TopicPartition

multiprocessing.set_start_method('spawn')


class Worker:
    def __init__(self, partition):
        self._consumer1 = Consumer({
            'bootstrap.servers': 'some_servers',
            'group.id': 'some_group',
            'default.topic.config': {
                'auto.offset.reset': 'latest'
            }
        })
        self._tp = TopicPartition('topic', partition)
        self._consumer1.assign([self._tp])
        self._consumer1.subscribe(['topic'])
