package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
)

func main() {
	cl, err := kgo.NewClient(
		kgo.SeedBrokers("kafka:9092"),
		kgo.ConsumerGroup("orders"),
		kgo.ConsumeTopics("orders"),
		kgo.BlockRebalanceOnPoll(),
	)
	if err != nil {
		panic(err)
	}
	for {
		fetches := cl.PollRecords(context.Background(), 1)
		fetches.EachRecord(handle)
		cl.AllowRebalance()
	}
}
