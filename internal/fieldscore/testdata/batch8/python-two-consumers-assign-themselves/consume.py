def consume(consumers, expected):
    received = []
    running = True
    while running:
        for c in consumers:
            if len(received) == expected:
                running = False
                break
            msg = c.poll(1)
            if not msg.error():
                print('Received message: %s' % msg.value().decode('utf-8'))
                received.append(msg.value().decode('utf-8'))
            elif msg.error().code() != KafkaError._PARTITION_EOF:
                print(msg.error())
                running = False
    return received

   consumer_config = {'bootstrap.servers': '127.0.0.1:9092', 'group.id': 'group_a', 'session.timeout.ms':    1000, "enable.auto.commit": "true",  'default.topic.config': { 'auto.offset.reset': 'earliest'}}

    c1 = Consumer(consumer_config)
    c2 = Consumer(consumer_config)
    c1.assign(list(map(lambda p: TopicPartition("topic_a", p), range(0,3))))
    c2.assign(list(map(lambda p: TopicPartition("topic_a", p), range(0,3))))
    received = consume([c1, c2], len(messages))
    print received
