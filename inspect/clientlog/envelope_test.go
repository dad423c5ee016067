package clientlog

import (
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// One message in every wrapper that loggers and platforms put around it: what happened,
// to whom, and when must come out the same.
func TestEnvelopes(t *testing.T) {
	const lost = "Group coordinator kafka-2:9092 (id: 2147483645 rack: null) is unavailable or invalid due to cause: coordinator unavailable. isDisconnected: true. Rediscovery will be attempted."
	const java = "[Consumer clientId=c-1, groupId=g] " + lost
	at := time.Date(2026, 11, 29, 14, 43, 13, 123e6, time.UTC)
	second := at.Truncate(time.Second)
	for name, tc := range map[string]struct {
		line string
		at   time.Time
	}{
		"kafka's log4j":    {"[2026-11-29 14:43:13,123] INFO " + java + " (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)", at},
		"log4j with line":  {"[2026-11-29 14:43:13,123] INFO " + java + " (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator:843)", at},
		"logback":          {"14:43:13.123 [main] INFO  o.a.k.c.c.i.ConsumerCoordinator - " + java, at},
		"spring boot":      {"2026-11-29 14:43:13.123  INFO 1 --- [ntainer#0-0-C-1] o.a.k.c.c.internals.ConsumerCoordinator  : " + java, at},
		"spring boot 3":    {"2026-11-29T15:43:13.123+01:00  INFO 1 --- [shop] [ntainer#0-0-C-1] o.a.k.c.c.internals.ConsumerCoordinator  : " + java, at},
		"quarkus":          {"2026-11-29 14:43:13,123 INFO  [org.apa.kaf.cli.con.int.ConsumerCoordinator] (vert.x-eventloop-thread-1) " + java, at},
		"coloured":         {"\x1b[2m2026-11-29 14:43:13.123\x1b[0;39m \x1b[32m INFO\x1b[0;39m \x1b[36mo.a.k.c.c.internals.ConsumerCoordinator \x1b[0;39m : " + java, at},
		"logstash":         {`{"@timestamp":"2026-11-29T14:43:13.123Z","message":"` + java + `","logger_name":"org.apache.kafka.clients.consumer.internals.ConsumerCoordinator","level":"INFO"}`, at},
		"ecs":              {`{"@timestamp":"2026-11-29T14:43:13.123Z","log.level":"INFO","message":"` + java + `","log.logger":"org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"}`, at},
		"log4j2 json":      {`{"instant":{"epochSecond":1},"timeMillis":1795963393123,"thread":"main","level":"INFO","message":"` + java + `"}`, at},
		"logstash's own":   {`{"level":"INFO","loggerName":"x","timeMillis":1795963393123,"thread":"main","logEvent":{"message":"` + java + `"}}`, at},
		"gelf":             {`{"version":"1.1","host":"h","short_message":"` + java + `","timestamp":1795963393.123,"level":6}`, at},
		"cloud":            {`{"textPayload":"` + java + `","timestamp":"2026-11-29T14:43:13.123456789Z","severity":"INFO"}`, at},
		"journald json":    {`{"__REALTIME_TIMESTAMP":"1795963393123000","MESSAGE":"` + java + `","PRIORITY":"6"}`, at},
		"docker json":      {`{"log":"[2026-11-29 14:43:13,123] INFO ` + java + `\n","stream":"stdout","time":"2026-11-29T14:43:14Z"}`, at},
		"json in docker":   {`{"log":"{\"@timestamp\":\"2026-11-29T14:43:13.123Z\",\"message\":\"` + java + `\"}\n","stream":"stdout","time":"2026-11-29T14:43:14Z"}`, at},
		"serilog compact":  {`{"@t":"2026-11-29T14:43:13.123Z","@m":"` + java + `","@l":"Information"}`, at},
		"cri":              {"2026-11-29T14:43:13.123456789Z stdout F INFO " + java, at},
		"kubectl prefix":   {"[pod/shop-0/app] 2026-11-29T14:43:13.123Z INFO " + java, at},
		"stern":            {"shop-0 app 2026-11-29T14:43:13.123Z INFO " + java, at},
		"compose":          {"shop-1  | 2026-11-29 14:43:13,123 INFO " + java, at},
		"syslog":           {"Nov 29 14:43:13 host-1 app[12]: " + java, second},
		"syslog with json": {`Nov 29 14:43:13 host-1: {"level":"INFO","message":"` + java + `","timestamp":"2026-11-29T14:43:13.123Z"}`, at},
		"logfmt":           {`time="2026-11-29T14:43:13.123Z" level=info msg="` + java + `" app_id=shop`, at},
		"slog":             {`time=2026-11-29T14:43:13.123Z level=INFO msg="` + java + `"`, at},
		"windows line end": {"[2026-11-29 14:43:13,123] INFO " + java + "\r", at},
		"utc named":        {"2026-11-29 14:43:13.123 UTC INFO " + java, at},
	} {
		got := events(t, tc.line, Options{Day: second})
		if len(got) != 1 {
			t.Errorf("%s: %d events", name, len(got))
			continue
		}
		e := got[0]
		if e.Kind != inspect.LogCoordinatorLost || e.Group != "g" || e.ClientID != "c-1" || e.Family != inspect.Java || e.Node == nil || *e.Node != 2 || !e.Time.Truncate(time.Millisecond).Equal(tc.at) {
			t.Errorf("%s: %s", name, brief(e))
		}
	}
}

// A line that continues an uninteresting one has its time from there.
func TestAContinuedLineHasTheTimeOfItsHead(t *testing.T) {
	got := events(t, `2026-11-29 14:40:00,000 INFO Consumer group error: JoinGroup failed: Broker: Not coordinator
2026-11-29 14:43:13,123 ERROR com.example.Job - the job failed
org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has already rebalanced
`, Options{})
	if len(got) != 2 || got[1].Time.Format("15:04:05.000") != "14:43:13.123" {
		t.Errorf("%+v", got)
	}
}

// The cause of a failure stands in the stack trace, in whatever field loggers put it.
func TestTheCauseWithinAFieldIsRead(t *testing.T) {
	const stack = `com.example.StreamError: it failed\nCaused by: org.apache.kafka.common.errors.GroupAuthorizationException: Not authorized to access group: orders\n`
	for name, line := range map[string]string{
		"nested exception": `{"message":"Unable to poll","level":"ERROR","exception":{"exception_message":"it failed","stacktrace":"` + stack + `"}}`,
		"opentelemetry":    `{"body":"Unable to poll","attributes":{"exception.stacktrace":"x","exception":{"stacktrace":"` + stack + `"}},"exception.stacktrace":"` + stack + `"}`,
		"ecs, dotted":      `{"message":"Unable to poll","error.stack_trace":"` + stack + `"}`,
		"ecs, nested":      `{"message":"Unable to poll","error":{"type":"x","stack_trace":"` + stack + `"}}`,
		"pino":             `{"msg":"Unable to poll","err":{"type":"Error","message":"it failed","stack":"` + stack + `"}}`,
		"log4j2 layout":    `{"message":"Unable to poll","thrown":{"message":"it failed","extendedStackTrace":"` + stack + `"}}`,
	} {
		got := events(t, line, Options{})
		if len(got) != 1 || got[0].Error != "GROUP_AUTHORIZATION_FAILED" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
