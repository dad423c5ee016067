from arroyo.backends.kafka import KafkaConsumer
from arroyo.backends.kafka.configuration import build_kafka_consumer_configuration
conf = build_kafka_consumer_configuration({}, group_id="g")
conf["session.timeout.ms"] = 10000
conf["max.poll.interval.ms"] = 5000
