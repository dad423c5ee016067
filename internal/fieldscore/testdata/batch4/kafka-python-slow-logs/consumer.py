from kafka import KafkaConsumer

while True:
    consumer = KafkaConsumer(
            'topic',
            client_id='client',
            bootstrap_servers='broker.example.org:9092',
            consumer_timeout_ms=2000,
            group_id='group',
    )

    for m in consumer:
        foo(m.value)
