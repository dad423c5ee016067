from kafka import KafkaConsumer
consumer = KafkaConsumer('events', bootstrap_servers=['kafka:9092'], group_id='ev',
                         session_timeout_ms=30000, request_timeout_ms=20000)
