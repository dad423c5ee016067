In [1]: from kafka import TopicPartition, KafkaConsumer

In [2]: consumer = KafkaConsumer(group_id='py-group-1')

In [3]: consumer.assign([TopicPartition('py-test-2', 0)])

In [4]: for c in consumer:
   ...:     print(c)
