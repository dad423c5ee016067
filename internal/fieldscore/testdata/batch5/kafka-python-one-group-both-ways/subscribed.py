from kafka import KafkaConsumer

consumer = KafkaConsumer(bootstrap_servers='kafka:9092', group_id='my_group')
consumer.subscribe(['subscribe_topic'])
for message in consumer:
    print(message.value)
