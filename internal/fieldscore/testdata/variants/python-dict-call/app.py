from confluent_kafka import Consumer
c = Consumer(dict({"bootstrap.servers": BROKERS, "group.id": "resize", "auto.offset.reset": "earliest"}))
while True:
    msg = c.poll(1.0)
    resize(msg)
    c.commit(msg)
