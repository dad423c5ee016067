from kafka import KafkaConsumer
CONFIG = dict(bootstrap_servers='k:9092', group_id='g', session_timeout_ms=10000,
              request_timeout_ms=5000)
consumer = KafkaConsumer('t', **CONFIG)
