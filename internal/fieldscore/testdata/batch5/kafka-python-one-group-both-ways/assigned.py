from kafka import KafkaConsumer, TopicPartition

consumer = KafkaConsumer(bootstrap_servers='kafka:9092', group_id='my_group')
consumer.assign([TopicPartition('assign_topic', p) for p in range(5)])
for message in consumer:
    print(message.value)
