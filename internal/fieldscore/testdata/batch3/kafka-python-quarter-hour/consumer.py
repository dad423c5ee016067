from kafka import KafkaConsumer
import json

consumer = KafkaConsumer("topic", bootstrap_servers="kafka:9092",
                         enable_auto_commit=False,
                         group_id="steppart")
for msg in consumer:
    work(json.loads(msg.value.decode('UTF-8'))["id"])
    consumer.commit()
