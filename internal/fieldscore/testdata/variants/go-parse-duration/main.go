package main

import "github.com/IBM/sarama"

func cfg() *sarama.Config {
	c := sarama.NewConfig()
	c.Consumer.Group.Heartbeat.Interval = 10_000 * time.Millisecond
	return c
}
