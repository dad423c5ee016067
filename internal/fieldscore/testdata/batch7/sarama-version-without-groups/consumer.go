package main

func newGroup(brokers []string, groupID string) {
	config := sarama.NewConfig()
	config.Version = sarama.V0_10_1_1
	group, err := sarama.NewConsumerGroup(brokers, groupID, config)
}
