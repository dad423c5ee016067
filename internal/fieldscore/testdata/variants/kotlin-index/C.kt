val props = Properties().apply {
    this[ConsumerConfig.GROUP_ID_CONFIG] = "g"
    this[ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG] = 10_000
    this[ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG] = 10_000
}
