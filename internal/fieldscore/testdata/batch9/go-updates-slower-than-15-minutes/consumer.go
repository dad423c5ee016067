package main

import "github.com/confluentinc/confluent-kafka-go/kafka"

func connect(brokers, group string) (*kafka.Consumer, error) {
	var config = &kafka.ConfigMap{
		"auto.offset.reset":    "earliest",
		"bootstrap.servers":    brokers,
		"enable.auto.commit":   false,
		"enable.partition.eof": true,
		"group.id":             group,
		"max.poll.interval.ms": 900000,
		"security.protocol":    "plaintext",
	}
	return kafka.NewConsumer(config)
}
