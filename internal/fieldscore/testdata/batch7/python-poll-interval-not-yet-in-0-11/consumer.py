consumer_config = {
            'bootstrap.servers': 'broker1:9092,broker2:9092',
            'group.id': 'some-group',
            'max.poll.interval.ms': 600000
        }
