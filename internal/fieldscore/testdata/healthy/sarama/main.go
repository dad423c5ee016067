package main

import "github.com/IBM/sarama"

func configure() *sarama.Config {
	config := sarama.NewConfig()
	config.ClientID = "orders-1"
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	return config
}
