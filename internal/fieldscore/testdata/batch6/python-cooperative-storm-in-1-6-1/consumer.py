from confluent_kafka import Consumer

conf = {
    'bootstrap.servers': 'kafka-1:9092',
    'group.id': 'quotes',
    'partition.assignment.strategy': 'cooperative-sticky',
}
consumer = Consumer(conf)
consumer.subscribe(['quotes'])
