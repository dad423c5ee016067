from aiokafka import AIOKafkaConsumer
consumer = AIOKafkaConsumer(
    "events", bootstrap_servers="kafka:9092", group_id="ev",
    max_poll_interval_ms=10_000,
)
