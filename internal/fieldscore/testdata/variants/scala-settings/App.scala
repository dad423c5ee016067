val settings = ConsumerSettings(system, new StringDeserializer, new StringDeserializer)
  .withBootstrapServers("kafka:9092")
  .withGroupId("scores")
  .withProperty(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, "5000")
