from confluent_kafka import Consumer
c = Consumer({'bootstrap.servers': 'b', 'group.id': 'g', 'auto.offset.reset': 'earliest'})
c.subscribe(['t'])
msg = c.poll(1.0)
if msg is None:
    print("timed out")
c.close()
