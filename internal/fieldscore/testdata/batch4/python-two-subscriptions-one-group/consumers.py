from confluent_kafka import Consumer

config = {"bootstrap.servers": "broker.example.org:9092", "group.id": "my-group", "auto.offset.reset": "earliest"}

def wait_for_assignment(topic):
    assigned = []
    consumer = Consumer(config)
    consumer.subscribe([topic], on_assign=lambda c, p: assigned.extend(p))
    while not assigned:
        consumer.poll(0.1)
    return consumer

first = wait_for_assignment("topic-a")
second = wait_for_assignment("topic-b")
