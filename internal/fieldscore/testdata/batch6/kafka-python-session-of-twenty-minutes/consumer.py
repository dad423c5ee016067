import kafka

SECOND = 1000
consumer = kafka.KafkaConsumer(
    topic,
    bootstrap_servers = bootstrap_servers,
    client_id = client_id,
    group_id = group_id,
    value_deserializer = value_deserializer,
    auto_offset_reset = 'earliest',
    enable_auto_commit = False,
    consumer_timeout_ms = 1000 * 1,
    api_version = (0, 10),
    session_timeout_ms = SECOND * 60 * 20,
    heartbeat_interval_ms = SECOND,
)
