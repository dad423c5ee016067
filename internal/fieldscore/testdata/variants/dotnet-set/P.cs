var config = new ConsumerConfig();
config.GroupId = "g";
config.Set("session.timeout.ms", "10000");
config.Set("heartbeat.interval.ms", "10000");
