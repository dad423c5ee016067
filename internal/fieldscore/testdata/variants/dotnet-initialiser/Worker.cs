var config = new ConsumerConfig { BootstrapServers = "kafka:9092", GroupId = "g", SessionTimeoutMs = 6000, MaxPollIntervalMs = 5000, EnableAutoCommit = false };
using var consumer = new ConsumerBuilder<Ignore, string>(config).Build();
