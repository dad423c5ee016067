from aiokafka import AIOKafkaConsumer
consumer = AIOKafkaConsumer('t', bootstrap_servers='k:9092', group_id='g', session_timeout_ms=30000, heartbeat_interval_ms=3000, max_poll_interval_ms=300000)
