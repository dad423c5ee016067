const Kafka = require('node-rdkafka');
const consumer = new Kafka.KafkaConsumer({
  'group.id': 'kafka', 'metadata.broker.list': 'localhost:9092',
  'session.timeout.ms': 10000, 'max.poll.interval.ms': 8000,
}, {});
