package main

import "github.com/IBM/sarama"

const heartbeat = 10 * time.Second

func New() {
	saramaSubscriberConfig := kafka.DefaultSaramaSubscriberConfig()
	saramaSubscriberConfig.Consumer.Group.Session.Timeout = 10 * time.Second
	saramaSubscriberConfig.Consumer.Group.Heartbeat.Interval = heartbeat
}
