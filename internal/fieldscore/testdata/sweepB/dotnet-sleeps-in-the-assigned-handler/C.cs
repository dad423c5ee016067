var consumerConfig = new ConsumerConfig
        {
            BootstrapServers = kafkaSecrets.Value.InternalKafkaBootstrapServers,
            GroupId = groupId,
            SecurityProtocol = SecurityProtocol.Plaintext,
            AutoOffsetReset = autoOffsetReset,
            EnableAutoCommit = false,
            AutoCommitIntervalMs = 0,
        };
using var fleetTailPositionsConsumer = new ConsumerBuilder<string, ProtoFleetMessage>(consumerConfig)
            .SetPartitionsAssignedHandler((_, assignedPartitions) =>
            {
                Console.WriteLine("Does not matter what code is here");
                Thread.Sleep(10000);
            })
            .SetErrorHandler((_, error) =>
            {
                Console.WriteLine(error.Reason);
            })
            .Build();
fleetTailPositionsConsumer.Subscribe("t");
while (true) { var r = fleetTailPositionsConsumer.Consume(); Handle(r); }
