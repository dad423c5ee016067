package main

import "github.com/twmb/franz-go/pkg/kgo"

func connect() (*kgo.Client, error) {
	return kgo.NewClient(
		kgo.SeedBrokers("broker-1:9092"),
		kgo.ConsumerGroup("orders"),
		kgo.ClientID("orders-1"),
	)
}
