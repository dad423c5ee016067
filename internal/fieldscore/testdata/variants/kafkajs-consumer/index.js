const { Kafka } = require('kafkajs')
const kafka = new Kafka({ clientId: 'app', brokers: ['kafka:9092'] })
const consumer = kafka.consumer({ groupId: 'test', sessionTimeout: 6000, heartbeatInterval: 6000 })
