const { Kafka } = require('@confluentinc/kafka-javascript').KafkaJS;
const consumer = new Kafka().consumer({ kafkaJS: { groupId: 'g', sessionTimeout: 10000, heartbeatInterval: 10000 } });
