consumer_config = {
    "session.timeout.ms": 60000,
    "max.poll.interval.ms": 35000,
    "fetch.wait.max.ms": 1000,
}
consumer = Consumer(consumer_config)
