package main

import "github.com/confluentinc/confluent-kafka-go/kafka"

func newConsumer(brokers, group string) (*kafka.Consumer, error) {
	return kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers":       brokers,
		"group.id":                group,
		"socket.keepalive.enable": true,
		"socket.timeout.ms":       150000,
	})
}
