Map<String, Object> cfg = Map.of("group.id", "a", "session.timeout.ms", 10000, "heartbeat.interval.ms", 10000);
var c = new KafkaConsumer<String, String>(cfg);
