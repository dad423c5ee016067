val props = mapOf(
    ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG to "kafka:9092",
    ConsumerConfig.GROUP_ID_CONFIG to "mailer",
    ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG to 30_000,
)
