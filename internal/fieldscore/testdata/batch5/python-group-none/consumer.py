from confluent_kafka import Consumer

c = Consumer({
    'bootstrap.servers': 'kafka:9092',
    'group.id': None,
    'enable.auto.commit': False,
})
c.subscribe(['events'], on_assign=assigned)
while True:
    msg = c.poll(1.0)
    if msg is None:
        continue
    handle(msg)
