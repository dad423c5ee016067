package main

func newConsumer(brokerAddr string) {
	// Define Kafka settings to deal with the cluster
	consumerConfig := &kafka.ConfigMap{
		"bootstrap.servers":  brokerAddr,
		"auto.offset.reset":  "earliest",
		"enable.auto.commit": false,
	}
}
