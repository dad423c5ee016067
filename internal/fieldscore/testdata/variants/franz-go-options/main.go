package main

import "github.com/twmb/franz-go/pkg/kgo"

func main() {
	cl, _ := kgo.NewClient(
		kgo.SeedBrokers(seeds...), kgo.ConsumerGroup("g"), kgo.SessionTimeout(10*time.Second),
		kgo.HeartbeatInterval(10*time.Second))
}
