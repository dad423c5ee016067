package main

func consume(claim sarama.ConsumerGroupClaim) {
	config := sarama.NewConfig()
	config.Version = sarama.V1_0_0_0
	config.Consumer.Return.Errors = true
	config.Consumer.Offsets.Initial = sarama.OffsetNewest

	select {
	case msg, ok := <-claim.Messages():
	}
}
