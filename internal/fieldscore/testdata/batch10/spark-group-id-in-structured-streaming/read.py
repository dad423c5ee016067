df = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", bootstrap)
    .option("subscribe", topic)
    .option("startingOffsets", "latest")
    .option("kafka.group.id", spec.consumer_group)
    .option("maxOffsetsPerTrigger", "50000")
    .load()
)
