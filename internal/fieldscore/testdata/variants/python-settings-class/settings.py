KAFKA_CONSUMER = {
    "bootstrap.servers": os.environ["BROKERS"],
    "group.id": "g",
    "max.poll.interval.ms": int(os.getenv("MAX_POLL", 5 * 60 * 1000)),
}
