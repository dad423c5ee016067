while (!shutdownFlag) {
    try {
        ConsumerRecords<K, V> records = consumer.poll(pollTimeout);
        summaryOfMessagePollCount += records.count();
        doConsume(records);
    } catch (Exception e) {
        log.warn("kafka consume exception ", e);
    }
    if (!shutdownFlag) {
        consumer.commitSync(commitSyncTimeout);
    }
}
