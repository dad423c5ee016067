package main

import "github.com/Shopify/sarama"

func main() {
	config := sarama.NewConfig()
	config.Consumer.Group.Rebalance.Timeout = time.Minute * 5
	config.Consumer.Group.Session.Timeout = time.Duration(30) * time.Second
	sarama.NewConsumerGroup(brokers, "g", config)
}
