const Kafka = require('node-rdkafka');
const consumer = new Kafka.KafkaConsumer({
  'group.id': 'consumer-group-1',
  'client.id': 'consumer-1',
  'metadata.broker.list': 'localhost:9092',
  'enable.auto.commit': true,
}, {});
consumer.connect();
consumer.on('ready', () => {
  consumer.assign([{ topic: 'test', partition: 0 }]);
  consumer.consume();
});
consumer.on('event.log', (log) => { console.log(JSON.stringify(log)); });
