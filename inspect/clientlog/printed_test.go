package clientlog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// printedIn reads a log and gives each configuration in a line: family, version, settings.
func printedIn(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	_, err := Read(strings.NewReader(text), "app.log", Options{}, Handler{Config: func(c inspect.ClientConfig) error {
		line := fmt.Sprintf("%s %s group=%s", c.Family, c.Version, c.Group)
		for _, s := range c.Settings {
			if s.Millis != nil {
				line += fmt.Sprintf(" %s=%d@%d", s.Key, s.Millis.Duration().Milliseconds(), s.Where.Line)
			}
		}
		out = append(out, line)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPrintedSettings(t *testing.T) {
	for _, tc := range []struct{ name, log, want string }{
		{"a map of Java", `2026-11-29 10:00:00 INFO App - properties: {group.id=g, key.deserializer=class a.B, bootstrap.servers=[k:9092], session.timeout.ms=10000}`,
			"java  group=g session.timeout.ms=10000@1"},
		{"a dict of Python", `INFO:root:config {'group.id': 'g', 'max.poll.interval.ms': 60000}`, "librdkafka  group=g max.poll.interval.ms=60000@1"},
		{"a map of Go", `2026/11/29 10:00:00 config map[group.id:g session.timeout.ms:6000]`, "librdkafka  group=g session.timeout.ms=6000@1"},
		{"a field of JSON", `{"msg":"start","cfg":{"group.id":"g","heartbeat.interval.ms":3000}}`, "  group=g heartbeat.interval.ms=3000@1"},
		{"an object of kafkajs", `consumer { groupId: 'g', sessionTimeout: 30000, heartbeatInterval: 3000 }`, "kafkajs  group=g session.timeout.ms=30000@1 heartbeat.interval.ms=3000@1"},
		{"keyword arguments", `creating KafkaConsumer(group_id='g', session_timeout_ms=10000)`, "kafka-python  group=g session.timeout.ms=10000@1"},
		{"librdkafka's list", "%7|1614000000.1|CONF|rdkafka#consumer-1| [thrd:app]:   client.software.name = librdkafka\n" +
			"%7|1614000000.1|CONF|rdkafka#consumer-1| [thrd:app]:   client.software.version = 2.3.0\n" +
			"%7|1614000000.1|CONF|rdkafka#consumer-1| [thrd:app]:   group.id = g\n" +
			"%7|1614000000.1|CONF|rdkafka#consumer-1| [thrd:app]:   session.timeout.ms = 6000", "librdkafka 2.3.0 group=g session.timeout.ms=6000@4"},
	} {
		if got := printedIn(t, tc.log+"\n"+tc.log+"\n"); strings.Join(got, "\n") != tc.want {
			t.Errorf("%s:\n got %q\nwant %q", tc.name, got, tc.want)
		}
	}
}

func TestNotPrintedSettings(t *testing.T) {
	for _, line := range []string{
		`{"msg":"http","session":{"timeout":10},"client.id":"web"}`,
		`producer {acks=all, linger.ms=5, delivery.timeout.ms=120000}`,
		`(adjust max.poll.interval.ms for long-running message processing): leaving group`,
		`kafkajs Request JoinGroup {"sessionTimeout":30000,"rebalanceTimeout":60000,"groupId":"g"}`,
		`session.timeout.ms=10000`,
		`{group.id=g, session.timeout.ms=${SESSION}}`,
	} {
		if got := printedIn(t, line+"\n"); len(got) > 0 {
			t.Errorf("%s: taken for settings: %q", line, got)
		}
	}
}
