ReceiverOptions<String, String> o = ReceiverOptions.<String, String>create()
    .consumerProperty(ConsumerConfig.GROUP_ID_CONFIG, "g")
    .consumerProperty(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, 10000)
    .consumerProperty(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, 10000);
