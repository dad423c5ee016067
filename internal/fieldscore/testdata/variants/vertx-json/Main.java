JsonObject config = new JsonObject().put("bootstrap.servers", "k:9092").put("group.id", "g").put("max.poll.interval.ms", "30000");
KafkaConsumer<String, String> c = KafkaConsumer.create(vertx, config.getMap());
