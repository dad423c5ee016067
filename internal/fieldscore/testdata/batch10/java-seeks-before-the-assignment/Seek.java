consumer.subscribe(Arrays.asList(topic));
consumer.seek(new TopicPartition(topic, 0), 10);
