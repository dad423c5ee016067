import signal
from confluent_kafka import Consumer, KafkaException, KafkaError

conf = {'bootstrap.servers': 'kafka:9092', 'group.id': 'collector', 'session.timeout.ms': 6000,
        'default.topic.config': {'auto.offset.reset': 'smallest'}}
c = Consumer(conf)
c.subscribe(['readings'])
try:
    while True:
        msg = c.poll(timeout=1.0)
        if msg is None:
            continue
        if msg.error():
            if msg.error().code() == KafkaError._PARTITION_EOF:
                continue
            raise KafkaException(msg.error())
        handle(msg)
finally:
    c.close()
