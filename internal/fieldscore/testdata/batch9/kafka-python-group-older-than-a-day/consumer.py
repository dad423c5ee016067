from kafka import KafkaConsumer, TopicPartition, OffsetAndMetadata

consumer = KafkaConsumer("test-topic", bootstrap_servers=["localhost:9092"],
                             group_id="test-group", client_id="test-client-id",
                             enable_auto_commit=False, consumer_timeout_ms=1000)
while True:
    for msg in consumer:
        print("msg")
        topicPartition = TopicPartition(msg.topic, msg.partition)
        consumer.commit({topicPartition: OffsetAndMetadata(msg.offset + 1, '')})
    print("idle")
