package advise_test

import (
	"testing"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
)

// TestAFixIsWrittenInTheFilesOwnNotation reads a too short poll or rebalance timeout in
// each notation, and holds the edit to the same one.
func TestAFixIsWrittenInTheFilesOwnNotation(t *testing.T) {
	const work = 8 * 60 * 1000
	for _, tc := range []struct{ name, file, text, key, spelled, value string }{
		{"Spring, 5m", "application.yml", "spring:\n  kafka:\n    consumer:\n      group-id: g\n      max-poll-interval: 5m\n",
			"max.poll.interval.ms", "spring.kafka.consumer.max-poll-interval", "10m"},
		{"Spring, ISO 8601", "application.properties", "spring.kafka.consumer.group-id=g\nspring.kafka.consumer.max-poll-interval=PT5M\n",
			"max.poll.interval.ms", "spring.kafka.consumer.max-poll-interval", "PT10M"},
		{"Spring, the client's own key", "application.properties", "spring.kafka.consumer.group-id=g\nspring.kafka.consumer.properties.max.poll.interval.ms=300000\n",
			"max.poll.interval.ms", "spring.kafka.consumer.properties.max.poll.interval.ms", "600000"},
		{"TOML with underscores", "c.toml", "[sources.in]\ntype = \"kafka\"\ngroup_id = \"g\"\n[sources.in.librdkafka_options]\n\"max.poll.interval.ms\" = \"300000\"\n",
			"max.poll.interval.ms", "sources.in.librdkafka_options.max.poll.interval.ms", "600000"},
		{"sarama in Go durations", "c.yaml", "kafka:\n  consumer:\n    group:\n      rebalance: {timeout: 60s}\n",
			"rebalance.timeout.ms", "kafka.Consumer.Group.Rebalance.Timeout", "10m"},
		{"sarama in nanoseconds", "c.json", `{"Consumer":{"Group":{"Rebalance":{"Timeout":60000000000}}}}`,
			"rebalance.timeout.ms", "Consumer.Group.Rebalance.Timeout", "600000000000"},
		{"racecar in seconds", "racecar.yml", "production:\n  group_id: g\n  max_poll_interval: 300\n",
			"max.poll.interval.ms", "production.max_poll_interval", "600"},
		{"Redpanda Connect, not set", "connect.yaml", "input:\n  kafka_franz:\n    seed_brokers: [k:9092]\n    consumer_group: g\n",
			"rebalance.timeout.ms", "input.kafka_franz.rebalance_timeout", "10m"},
	} {
		configs, err := clientconf.Read(tc.file, []byte(tc.text), clientconf.Options{})
		if err != nil || len(configs) != 1 {
			t.Errorf("%s: %v, %d consumers", tc.name, err, len(configs))
			continue
		}
		c := inspect.Case{Configs: configs}
		took := inspect.Millis(work * 1e6)
		c.Declared.BatchTime = &took
		found := false
		for _, f := range advise.Evaluate(&c, advise.Options{}).Findings {
			if f.Fix == nil {
				continue
			}
			for _, e := range f.Fix.Edits {
				if e.Key == tc.key && e.Alternative == 0 {
					found = true
					if e.Spelled != tc.spelled || e.Value != tc.value {
						t.Errorf("%s: %s says %s: %s, want %s: %s", tc.name, f.ID, e.Spelled, e.Value, tc.spelled, tc.value)
					}
				}
			}
		}
		if !found {
			t.Errorf("%s: no edit of %s", tc.name, tc.key)
		}
	}
}
