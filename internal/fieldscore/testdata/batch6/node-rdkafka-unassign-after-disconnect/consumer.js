const Kafka = require('node-rdkafka')

const consumer = new Kafka.KafkaConsumer({
  'group.id': 'events',
  'metadata.broker.list': 'kafka-1:9092',
  'rebalance_cb': true
})
