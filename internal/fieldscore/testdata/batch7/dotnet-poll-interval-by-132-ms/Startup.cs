var consumerConfig = new ConsumerConfig
{
	GroupId = $"{_options.EnvironmentPrefix}_{_options.ConsumerName}".ToLowerInvariant(),
	BootstrapServers = options.ConnectionString,
	EnableAutoCommit = true,
	EnableAutoOffsetStore = false,
	PartitionAssignmentStrategy = PartitionAssignmentStrategy.RoundRobin,
	AutoOffsetReset = AutoOffsetReset.Earliest
};

_consumer = new ConsumerBuilder<string, string>(consumerConfig)
	.SetLogHandler((_, logMessage) => _logger.LogInformation(logMessage.Message))
	.SetErrorHandler((_, errorHandler) =>
	{
		if (errorHandler.IsFatal)
		{
			_logger.LogError(errorHandler.Reason);
			throw new KafkaException(errorHandler);
		}
		_logger.LogWarning(errorHandler.Reason);
	})
	.SetPartitionsAssignedHandler((c, partitions) => _logger.LogInformation("Assigned partitions: [{Partitions}]", string.Join(", ", partitions)))
	.Build();
