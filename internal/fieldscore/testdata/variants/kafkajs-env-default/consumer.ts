import { Kafka } from 'kafkajs';
export const consumer = kafka.consumer({
  groupId: process.env.GROUP_ID || 'mail',
  sessionTimeout: Number(process.env.SESSION_TIMEOUT ?? 30000),
});
