from kafka import KafkaConsumer


def run():
    consumer = KafkaConsumer(bootstrap_servers='kafka-1:9092',
                             enable_auto_commit='false',
                             auto_offset_reset='earliest',
                             group_id="test-X-1")
    consumer.subscribe(["test"])
    output = consumer.poll(timeout_ms=100)
    for message in output:
        print(message)
        consumer.commit()


run()
