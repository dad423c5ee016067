package main

import "github.com/confluentinc/confluent-kafka-go/v2/kafka"

func main() {
	c, err := kafka.NewConsumer(&kafka.ConfigMap{"bootstrap.servers": "x", "group.id": "g", "max.poll.interval.ms": 10000, "session.timeout.ms": 45000})
}
