consumerConfigs.put(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, 3000);
