package main

func configure(cfg *sarama.Config) {
	cfg.Consumer.Offsets.Initial = sarama.OffsetNewest
	cfg.Consumer.Return.Errors = false
	cfg.Consumer.Offsets.AutoCommit.Interval = 3 * time.Second
	cfg.Consumer.MaxWaitTime = time.Second
	cfg.Consumer.Fetch.Default = 524288
	cfg.Consumer.Fetch.Max = 1048576
	cfg.Consumer.Group.Rebalance.Timeout = 10 * time.Second
	cfg.Net.MaxOpenRequests = 1
	cfg.Net.KeepAlive = 1 * time.Minute
	cfg.Metadata.Retry.Max = 1
	cfg.Metadata.Retry.Backoff = 1000 * time.Millisecond
	cfg.Metadata.RefreshFrequency = 5 * time.Minute
	cfg.Metadata.Full = false
}
