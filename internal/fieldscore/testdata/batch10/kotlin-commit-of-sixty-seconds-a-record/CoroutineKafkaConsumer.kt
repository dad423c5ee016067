val records = consumer.poll(Duration.ofMillis(1000))
consumer.resume(resumeQueue.pollAll())
for (record in records) {
    withContext(Dispatchers.IO) { body(record) }
    consumer.commitSync(mapOf(partition to OffsetAndMetadata(record.offset() + 1)))
}
