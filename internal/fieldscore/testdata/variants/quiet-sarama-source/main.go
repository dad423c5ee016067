package main

import "github.com/IBM/sarama"

func cfg() {
	c := sarama.NewConfig()
	c.Consumer.Group.Session.Timeout = 30 * time.Second
	c.Consumer.Group.Heartbeat.Interval = 6 * time.Second
	c.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange()}
}
