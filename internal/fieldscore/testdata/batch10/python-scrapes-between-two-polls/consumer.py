from confluent_kafka import Consumer
import random, time

consumer = Consumer(config)
consumer.subscribe(["jobs"], on_assign=reset_offset)

pending = []
while True:
    msg = consumer.poll(1.0)
    if msg is None:
        for url in pending:
            save(fetch(url))
            time.sleep(random.randint(1, 10) + random.random())
        pending.clear()
    elif msg.error():
        print("ERROR: {0}".format(msg.error()))
    else:
        pending.append(msg.value().decode("utf-8"))
