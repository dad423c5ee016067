from confluent_kafka import Consumer
conf = {'bootstrap.servers': 'localhost:9092', 'group.id': 'g', 'session.timeout.ms': 6000,
        'max.poll.interval.ms': 5000, 'enable.auto.commit': False}
c = Consumer(conf)
