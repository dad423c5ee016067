from kafka import KafkaConsumer

consumer = KafkaConsumer(topic, bootstrap_servers=server_list, group_id='worker', enable_auto_commit=False)
for message in consumer:
    process(message)
    consumer.commit()
    break
