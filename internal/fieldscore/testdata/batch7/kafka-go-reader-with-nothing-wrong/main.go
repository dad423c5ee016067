package main

func newReader(conf config) {
	reader = kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{conf.Broker},
		Topic:   conf.Topic,
		GroupID: conf.GroupID,
	})
}
