from kafka import KafkaConsumer
consumer = KafkaConsumer('t', group_id='g', bootstrap_servers=BROKERS)
for message in consumer:
    process(message)
    time.sleep(10)
