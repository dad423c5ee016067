const consumer = new Kafka.KafkaConsumer({
		'group.id': 'g1',
		'metadata.broker.list': brokers,
		'debug': 'all',
		'enable.auto.commit': false,
		'log.connection.close': false,
		// Trying to reduce latency
		'queue.buffering.max.ms': 1,
		// Client group session and failure detection timeout
		'session.timeout.ms': 6000,
}, {});
consumer.connect();
consumer.on('ready', () => { consumer.subscribe(['t']); consumer.consume(); });
