package consumer

import (
	"time"

	"github.com/Shopify/sarama"
)

func config() *sarama.Config {
	cfg := sarama.NewConfig()
	cfg.Version = sarama.V1_1_0_0
	cfg.Consumer.Group.Session.Timeout = 20 * time.Second
	cfg.Consumer.Group.Heartbeat.Interval = 6 * time.Second
	return cfg
}
