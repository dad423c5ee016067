KafkaConsumer<String, String> consumer = new KafkaConsumer<>(props);
consumer.subscribe(new ArrayList<String>());
consumer.assign(new ArrayList<TopicPartition>());
consumer.poll(Duration.ofMillis(1000));
