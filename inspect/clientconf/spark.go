package clientconf

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Spark's own file, spark-defaults.conf, and the --conf of a command line. Nothing in it
// reaches a consumer: Structured Streaming hands on the options that begin with "kafka.",
// DStreams the map of kafkaParams. What is read of it is the one key that is taken for a
// consumer's.
var _ = register(dialect{name: "spark", sniff: sniffSpark, read: readSpark})

// sparkPoll is how long an executor of Spark waits in one poll of its consumer
// (CachedKafkaConsumer); spark.network.timeout, 120 s, where it is not set.
const sparkPoll = "spark.streaming.kafka.consumer.poll.ms"

var sparkPollSet = pattern.New(regexp.QuoteMeta(sparkPoll) + `["']?\s*[=,:\s]\s*["']?(\d+)`)

func sniffSpark(name string, data []byte) int {
	if !looksCode(name, data) && !isYAML(name, data) && sparkPollSet.Match(data) {
		return 40
	}
	return 0
}

func readSpark(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	b := newBuilder(name, "spark", inspect.Java, o, 1)
	b.sparkPoll(data)
	return []inspect.ClientConfig{b.c}, nil
}

// sparkPoll notes where a text sets Spark's wait of a poll.
func (b *builder) sparkPoll(data []byte) {
	for i, line := range strings.Split(string(data), "\n") {
		m := sparkPollSet.FindStringSubmatch(line)
		if m == nil || comment.MatchString(line) {
			continue
		}
		b.problem("other_limit", inspect.Position{File: b.c.Where.File, Line: i + 1}, sparkPoll, "kafka.max.poll.interval.ms",
			fmt.Sprintf("%s=%s is how long Spark itself waits in one poll; it does not set the consumer's max.poll.interval.ms", sparkPoll, m[1]))
		return
	}
}
