Properties properties = new Properties();
properties.setProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:9092");
properties.setProperty(ConsumerConfig.GROUP_ID_CONFIG, "group-01-static");
properties.setProperty(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, "3");
