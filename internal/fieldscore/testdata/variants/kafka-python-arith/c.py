from kafka import KafkaConsumer
POLL = 1000 * 60 * 5
consumer = KafkaConsumer("events", group_id="ev", max_poll_interval_ms=POLL)
for m in consumer:
    process(m)
