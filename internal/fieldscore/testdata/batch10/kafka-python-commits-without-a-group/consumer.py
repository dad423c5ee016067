consumer = KafkaConsumer("employees_cdc", bootstrap_servers="localhost:9092", enable_auto_commit=False)
for message in consumer:
    apply(message.value)
    consumer.commit()
