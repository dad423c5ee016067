package main

import "github.com/IBM/sarama"

func config() *sarama.Config {
	cfg := sarama.NewConfig()
	cfg.Version = sarama.V3_1_0_0
	cfg.Net.TLS.Enable = false
	return cfg
}
