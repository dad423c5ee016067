app.connectMicroservice<MicroserviceOptions>({
  transport: Transport.KAFKA,
  options: { client: { brokers: ['kafka:9092'] }, consumer: { groupId: 'g', sessionTimeout: 3000 } },
});
