def props = ['bootstrap.servers': 'k:9092', 'group.id': 'g', 'session.timeout.ms': 10000, 'heartbeat.interval.ms': '10000']
