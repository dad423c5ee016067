kafka-console-consumer.sh --bootstrap-server k:9092 --topic t --group g --consumer-property session.timeout.ms=10000 --consumer-property heartbeat.interval.ms=10000
