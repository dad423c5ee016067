Map<String, String> config = new HashMap<>();
config.put("bootstrap.servers", "kafka-1:9092");
config.put("group.id", "readers");
config.put("enable.auto.commit", "false");
config.put("max.poll.interval.ms", "10000");

KafkaConsumer<String, String> consumer = KafkaConsumer.create(vertx, config);
consumer.handler(record -> {
  consumer.pause();
  vertx.setTimer(15000, t -> consumer.resume());
});
consumer.subscribe("events");
