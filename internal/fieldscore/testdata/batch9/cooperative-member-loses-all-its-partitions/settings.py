{
    'bootstrap.servers': 'kafka:19092',
    'group.id': 'realtime-analysis-service-v1',
    'auto.offset.reset': 'earliest',
    'enable.auto.commit': False,
    'partition.assignment.strategy': 'cooperative-sticky'
}
