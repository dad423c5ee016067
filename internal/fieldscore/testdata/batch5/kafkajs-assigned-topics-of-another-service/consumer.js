const { Kafka } = require('kafkajs')

const kafka = new Kafka({ clientId: 'kafka-reader', brokers: ['kafka1.com:9092'] })
const consumer = kafka.consumer({ groupId: 'kafka-reader' })

const run = async () => {
  await consumer.connect()
  const inputTopics = ['some_topic']
  for (const topic of inputTopics) {
    await consumer.subscribe({ topic, fromBeginning: true })
  }
  await consumer.run({ eachMessage: async ({ message }) => console.log(message.value.toString()) })
}

run()
