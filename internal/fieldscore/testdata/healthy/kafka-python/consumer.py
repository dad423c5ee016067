consumer = KafkaConsumer(
    bootstrap_servers=["broker-1:9092"],
    group_id="orders",
    client_id="orders-1",
    auto_offset_reset="earliest",
    enable_auto_commit=True,
)
