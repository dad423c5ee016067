from confluent_kafka import Consumer, KafkaError, TopicPartition
c = Consumer({
    'bootstrap.servers': 'localhost',
    'group.id': 'alice-group',        
    'default.topic.config': {
        'auto.offset.reset': 'smallest',
    }
})

c.subscribe(['topic-a'])
tp = TopicPartition('topic-a', 0, 10)
#msg = c.poll()
c.seek(tp)
