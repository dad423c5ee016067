df = (spark.readStream.format("kafka").option("subscribe", "t")
  .option("kafka.group.id", "g")
  .option("kafka.session.timeout.ms", "10000")
  .option("kafka.heartbeat.interval.ms", "10000").load())
