for (ConsumerRecord<String, String> r : consumer.poll(Duration.ofMillis(500))) {
    if (r.value().startsWith("poison")) {
        for (int attempt = 1; attempt <= 5; attempt++) {
            Thread.sleep(4000);
        }
    }
}
consumer.commitSync();
