const kafka = new Kafka({ clientId: 'orders-1', brokers: ['broker-1:9092'] })
const consumer = kafka.consumer({ groupId: 'orders' })
