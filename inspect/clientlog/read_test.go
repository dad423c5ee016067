package clientlog

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/golden"
)

var update = flag.Bool("update", false, "write the golden files")

func events(t *testing.T, text string, o Options) []inspect.LogEvent {
	t.Helper()
	var out []inspect.LogEvent
	_, err := Read(strings.NewReader(text), "app.log", o, Handler{Event: func(e inspect.LogEvent) error { out = append(out, e); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// brief is an event in one line, as the goldens hold it.
func brief(e inspect.LogEvent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", e.Kind)
	add := func(k, v string) {
		if v != "" {
			fmt.Fprintf(&b, " %s=%s", k, v)
		}
	}
	add("cause", string(e.Cause))
	add("error", e.Error)
	add("family", string(e.Family))
	add("group", e.Group)
	add("client", e.ClientID)
	add("member", e.MemberID)
	add("instance", e.InstanceID)
	if e.Generation != nil {
		add("gen", fmt.Sprint(*e.Generation))
	}
	if e.Length != nil {
		add("length", e.Length.Duration().String())
	}
	if !e.Time.IsZero() {
		add("time", e.Time.Format("2006-01-02T15:04:05.000Z"))
	}
	if e.Broker != nil {
		add("broker", fmt.Sprint(*e.Broker))
	}
	add("version", e.Version)
	add("sign", string(e.Sign))
	if e.Limit != nil {
		add("limit", e.Limit.Duration().String())
	}
	add("state", e.State)
	add("api", e.API)
	if e.Node != nil {
		add("node", fmt.Sprint(*e.Node))
	}
	if e.OffsetsPartition != nil {
		add("partition", fmt.Sprint(*e.OffsetsPartition))
	}
	add("topics", e.Topics)
	add("reason", e.Reason)
	return b.String()
}

// TestLiterals reads every log line of the collected reports and library sources;
// what is seen in each is held in a golden file, and each must be seen as something.
func TestLiterals(t *testing.T) {
	data, err := os.ReadFile("testdata/literals.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f := strings.SplitN(line, "\t", 4)
		// The reports leave numbers out.
		got := events(t, strings.NewReplacer("<n>", "7", "<p>", "3").Replace(f[3]), Options{})
		seen := "NOTHING"
		if len(got) > 0 {
			seen = brief(got[0])
		} else {
			t.Errorf("%s: nothing seen in %q", f[0], f[3])
		}
		fmt.Fprintf(&b, "%s\n\t%s\n", f[3], seen)
	}
	compare(t, "testdata/literals.golden", b.String())
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	golden.Compare(t, *update, file, got, "run go test ./inspect/clientlog -update and look at the difference; now:\n"+got)
}

func TestFrames(t *testing.T) {
	day := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct{ line, want string }{
		"log4j": {
			"[2026-11-29 14:43:13,123] WARN [Consumer clientId=orders-2, groupId=orders] consumer poll timeout has expired. This means the time between … (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
			"poll_timeout cause=poll_interval_exceeded family=java group=orders client=orders-2 time=2026-11-29T14:43:13.123Z sign=poll_timeout"},
		"spring boot 3": {
			"2026-11-29T14:43:13.123+01:00  INFO 1 --- [shop] [ntainer#0-0-C-1] o.a.k.c.c.internals.ConsumerCoordinator  : [Consumer instanceId=pod-0, clientId=c-1, groupId=shop] Request joining group due to: group is already rebalancing",
			"rejoin_requested error=REBALANCE_IN_PROGRESS family=java group=shop client=c-1 instance=pod-0 time=2026-11-29T13:43:13.123Z sign=already_rebalancing reason=group is already rebalancing"},
		"logstash": {
			`{"@timestamp":"2026-11-29T14:43:13.123Z","logger_name":"org.apache.kafka.clients.consumer.internals.ConsumerCoordinator","level":"INFO","message":"[Consumer clientId=c, groupId=g] Member c-77 sending LeaveGroup request to coordinator k:9092 (id: 2147483645 rack: null) due to consumer poll timeout has expired."}`,
			"poll_timeout cause=poll_interval_exceeded family=java group=g client=c member=c-77 time=2026-11-29T14:43:13.123Z sign=poll_timeout node=2"},
		"kafkajs": {
			`{"level":"ERROR","timestamp":"2026-11-29T14:43:13.123Z","logger":"kafkajs","message":"[Runner] The coordinator is not aware of this member, re-joining the group","groupId":"g","memberId":"m-1","error":"The coordinator is not aware of this member","retryCount":0}`,
			"evicted error=UNKNOWN_MEMBER_ID family=kafkajs group=g member=m-1 time=2026-11-29T14:43:13.123Z sign=unknown_member"},
		"librdkafka": {
			"%4|1796049793.123|MAXPOLL|orders#consumer-1| [thrd:main]: Application maximum poll interval (300000ms) exceeded by 180ms (adjust max.poll.interval.ms for long-running message processing): leaving group",
			"poll_timeout cause=poll_interval_exceeded family=librdkafka client=orders length=180ms time=2026-11-30T14:43:13.123Z sign=poll_timeout limit=5m0s"},
		"compose": {
			"shop-1  | 2026-11-29 14:43:13,123 - kafka.coordinator - WARNING - Heartbeat poll expired, leaving group",
			"poll_timeout cause=poll_interval_exceeded family=kafka-python time=2026-11-29T14:43:13.123Z sign=poll_timeout"},
		"kubernetes": {
			"2026-11-29T14:43:13.123456789Z stderr F 14:43:12.9 [main] INFO o.a.k.c.c.i.ConsumerCoordinator - [Consumer clientId=c, groupId=g] Request joining group due to: rebalance enforced by user",
			"rejoin_requested family=java group=g client=c time=2026-11-29T14:43:13.123Z sign=rejoin_reason reason=rebalance enforced by user"},
		"docker": {
			`{"log":"[2026-11-29 14:43:13,123] INFO [GroupCoordinator 2]: Member orders-2-uuid in group orders has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)\n","stream":"stdout","time":"2026-11-29T14:43:14.000Z"}`,
			"evicted cause=session_expired group=orders member=orders-2-uuid time=2026-11-29T14:43:13.123Z broker=2 sign=session_expired"},
		"broker with the client's reason": {
			"[2026-11-29 14:43:13,123] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=31] Preparing to rebalance group orders in state PreparingRebalance with old generation 45 (reason: explicit `LeaveGroup` request for (orders-2-1f) members.). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
			"rebalance cause=member_left group=orders member=orders-2-1f gen=45 time=2026-11-29T14:43:13.123Z broker=1 sign=preparing state=PreparingRebalance partition=31 reason=explicit `LeaveGroup` request for (orders-2-1f) members"},
		"broker 3.2 poll timeout": {
			"[2026-11-29 14:43:13,123] INFO [GroupCoordinator 1]: Preparing to rebalance group orders in state PreparingRebalance with old generation 45 (__consumer_offsets-31) (reason: Removing member orders-2-1f on LeaveGroup; client reason: consumer poll timeout has expired.) (kafka.coordinator.group.GroupCoordinator)",
			"rebalance cause=poll_interval_exceeded group=orders member=orders-2-1f gen=45 time=2026-11-29T14:43:13.123Z broker=1 sign=preparing state=PreparingRebalance partition=31 reason=Removing member orders-2-1f on LeaveGroup; client reason: consumer poll timeout has expired"},
		"KIP-848 fenced": {
			"[2026-11-29 14:43:13,123] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=7] [GroupId pay] Member 5NYoT4F3QfqG fenced from the group because it failed to transition from epoch 4 within 15000ms. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
			"evicted cause=rejoin_timed_out group=pay member=5NYoT4F3QfqG gen=4 length=15s time=2026-11-29T14:43:13.123Z broker=1 sign=rejoin_timeout partition=7"},
		"go": {
			"[sarama] 2026/11/29 14:43:13 consumergroup/orders: lost ownership of map[t:[0]] due to kafka server: The provided member is not known in the current generation",
			"evicted error=UNKNOWN_MEMBER_ID family=sarama group=orders time=2026-11-29T14:43:13.000Z sign=lost reason=kafka server: The provided member is not known in the current generation"},
		"time of day only": {
			"14:43:13.123 [main] WARN c - Heartbeat session expired, marking coordinator dead",
			"coordinator_lost family=kafka-python time=2026-11-29T14:43:13.123Z sign=session_lost"},
		"unified gc": {
			"[2026-11-29T14:43:13.123+0000][info][gc] GC(12) Pause Full (G1 Compaction Pause) 1021M->870M(1024M) 12345.678ms",
			"pause family=java length=12.345678s time=2026-11-29T14:43:13.123Z reason=Pause Full (G1 Compaction Pause)"},
		"jdk 8 gc": {
			"2026-11-29T14:43:13.123+0100: 12.345: [Full GC (Allocation Failure)  1021M->870M(1024M), 8.5000000 secs]",
			"pause family=java length=8.5s time=2026-11-29T13:43:13.123Z reason=Full GC (Allocation Failure)"},
		"safepoint": {
			`[2026-11-29T14:43:13.123+0000][info][safepoint] Safepoint "ThreadDump", Time since last: 1000 ns, Reaching safepoint: 200 ns, Cleanup: 10 ns, At safepoint: 300 ns, Total: 2500000 ns`,
			"pause family=java length=2.5ms time=2026-11-29T14:43:13.123Z reason=safepoint ThreadDump"},
	} {
		got := events(t, tc.line, Options{Day: day})
		if len(got) != 1 || brief(got[0]) != tc.want {
			t.Errorf("%s:\n got", name)
			for _, e := range got {
				t.Errorf("     %s", brief(e))
			}
			t.Errorf("want %s", tc.want)
		}
	}
}

func TestConcurrentPhasesAreNoPauses(t *testing.T) {
	if got := events(t, "[2026-11-29T14:43:13.123+0000][info][gc] GC(13) Concurrent Mark Cycle 3500.123ms\n", Options{}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestAStackTraceInheritsTimeAndClient(t *testing.T) {
	got := events(t, `[2026-11-29 14:43:13,123] ERROR [Consumer clientId=c, groupId=g] Offset commit failed on partition t-0 at offset 5: The coordinator is not aware of this member. (x)
org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has already rebalanced
	at org.apache.kafka.clients.consumer.internals.ConsumerCoordinator.x(ConsumerCoordinator.java:1)
`, Options{})
	if len(got) != 2 || got[1].Time != got[0].Time || got[1].Group != "g" || got[1].Cause != "" {
		t.Errorf("%+v", got)
	}
}

const block = `[2026-11-29 14:40:00,000] INFO ConsumerConfig values: 
	client.id = orders-2
	group.id = orders
	group.instance.id = null
	heartbeat.interval.ms = 3000
	max.poll.interval.ms = 300000
	partition.assignment.strategy = [class org.apache.kafka.clients.consumer.RangeAssignor, class org.apache.kafka.clients.consumer.CooperativeStickyAssignor]
	sasl.jaas.config = [hidden]
	ssl.key.password = hunter2
	session.timeout.ms = 45000
 (org.apache.kafka.clients.consumer.ConsumerConfig)
[2026-11-29 14:40:00,050] INFO Kafka version: 3.7.1 (org.apache.kafka.common.utils.AppInfoParser)
`

func TestConfigurationBlock(t *testing.T) {
	for name, text := range map[string]string{
		"plain":   block,
		"compose": prefixed("shop-1  | ", block),
		"json":    fmt.Sprintf(`{"@timestamp":"2026-11-29T14:40:00Z","message":%q}`+"\n"+`{"@timestamp":"2026-11-29T14:40:00Z","message":"Kafka version: 3.7.1"}`, strings.Split(block, "[2026-11-29 14:40:00,050]")[0]),
	} {
		var configs []inspect.ClientConfig
		if _, err := Read(strings.NewReader(text), "app.log", Options{}, Handler{Config: func(c inspect.ClientConfig) error { configs = append(configs, c); return nil }}); err != nil {
			t.Fatal(err)
		}
		if len(configs) != 1 {
			t.Fatalf("%s: %d configurations", name, len(configs))
		}
		c := configs[0]
		if c.Group != "orders" || c.Name != "orders-2" || c.Version != "3.7.1" || c.Family != inspect.Java {
			t.Errorf("%s: %+v", name, c)
		}
		if s, ok := c.Get("session.timeout.ms"); !ok || s.Millis == nil || s.Millis.Duration() != 45*time.Second {
			t.Errorf("%s: session %+v", name, s)
		}
		if s, _ := c.Get("partition.assignment.strategy"); s.Value != "org.apache.kafka.clients.consumer.RangeAssignor,org.apache.kafka.clients.consumer.CooperativeStickyAssignor" {
			t.Errorf("%s: assignors %q", name, s.Value)
		}
		if strings.Contains(fmt.Sprintf("%+v", c), "hunter2") {
			t.Errorf("%s: a secret was kept", name)
		}
		if _, ok := c.Get("group.instance.id"); ok {
			t.Errorf("%s: null was kept as a value", name)
		}
	}
}

func prefixed(p, text string) string {
	return p + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+p) + "\n"
}

func TestInterleavedContainersKeepTheirOwnState(t *testing.T) {
	a := strings.Split(prefixed("a-1  | ", block), "\n")
	b := strings.Split(prefixed("b-1  | ", strings.ReplaceAll(block, "orders", "billing")), "\n")
	var mixed []string
	for i := range a {
		mixed = append(mixed, a[i], b[i])
	}
	groups := map[string]string{}
	if _, err := Read(strings.NewReader(strings.Join(mixed, "\n")), "x", Options{}, Handler{Config: func(c inspect.ClientConfig) error { groups[c.Group] = c.Name; return nil }}); err != nil {
		t.Fatal(err)
	}
	if groups["orders"] != "orders-2" || groups["billing"] != "billing-2" {
		t.Errorf("%v", groups)
	}
}

func TestSecretsAreMasked(t *testing.T) {
	got := events(t, `ERROR consumer group error: JoinGroup failed: x sasl.jaas.config=org.Plain username="u" password="hunter2" token: abc123`, Options{})
	if len(got) != 1 || strings.Contains(got[0].Text+got[0].Reason, "hunter2") || strings.Contains(got[0].Text+got[0].Reason, "abc123") {
		t.Errorf("%+v", got)
	}
}

func TestGzipAndBinary(t *testing.T) {
	var zipped bytes.Buffer
	zw := gzip.NewWriter(&zipped)
	fmt.Fprint(zw, "Heartbeat poll expired, leaving group\n")
	zw.Close()
	n := 0
	if _, err := Read(&zipped, "x.gz", Options{}, Handler{Event: func(inspect.LogEvent) error { n++; return nil }}); err != nil || n != 1 {
		t.Errorf("gzip: %d events, %v", n, err)
	}
	if _, err := Read(strings.NewReader("\x7fELF\x00\x01"), "x", Options{}, Handler{}); !errors.Is(err, ErrNotText) {
		t.Errorf("binary: %v", err)
	}
	if _, err := Read(strings.NewReader("\x1f\x8bgarbage"), "x.gz", Options{}, Handler{}); err == nil || !strings.Contains(err.Error(), "gzip") {
		t.Errorf("damaged gzip: %v", err)
	}
}

// A line that is kept in part ends between two words, and says that more came.
func TestALineIsCutBetweenWords(t *testing.T) {
	got := quote(strings.Repeat("which typically implies ", 30))
	if words := strings.TrimSuffix(got, " …"); len(got) > 400 || words == got || !strings.HasSuffix(words, " which") && !strings.HasSuffix(words, " typically") && !strings.HasSuffix(words, " implies") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-30:])
	}
}

func TestALineOverTheLimitIsCutNotLost(t *testing.T) {
	long := "Heartbeat poll expired, leaving group " + strings.Repeat("x", 3*MaxLine) + "\nHeartbeat poll expired, leaving group\n"
	n := 0
	sum, err := Read(strings.NewReader(long), "x", Options{}, Handler{Event: func(e inspect.LogEvent) error {
		n++
		if len(e.Text) > 400 {
			t.Errorf("text of %d bytes", len(e.Text))
		}
		return nil
	}})
	if err != nil || n != 2 || sum.Cut != 1 || sum.Lines != 2 {
		t.Errorf("%d events, %+v, %v", n, sum, err)
	}
}

func TestAHandlersErrorEndsTheReading(t *testing.T) {
	stop := errors.New("enough")
	_, err := Read(strings.NewReader(strings.Repeat("Heartbeat poll expired, leaving group\n", 5)), "x", Options{}, Handler{Event: func(inspect.LogEvent) error { return stop }})
	if !errors.Is(err, stop) {
		t.Errorf("%v", err)
	}
}

func FuzzRead(f *testing.F) {
	data, _ := os.ReadFile("testdata/literals.tsv")
	for _, line := range strings.Split(string(data), "\n") {
		f.Add(line)
	}
	f.Add(block)
	f.Add(`{"message":"a\nb","time":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := Read(strings.NewReader(text), "f", Options{Day: time.Unix(0, 0)}, Handler{Event: func(e inspect.LogEvent) error {
			if e.From.Line < 1 || len(e.Text) > 400 || strings.ContainsAny(e.Text, "\n\x1b") {
				t.Errorf("bad event %+v", e)
			}
			return nil
		}})
		if err != nil && !errors.Is(err, ErrNotText) && !strings.Contains(err.Error(), "gzip") {
			t.Errorf("%v", err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	line := "[2026-11-29 14:43:13,123] INFO served GET /orders/12345 in 17 ms from 10.0.0.7 with status 200 (com.example.Http)\n"
	kafka := "[2026-11-29 14:43:13,123] INFO [Consumer clientId=orders-2, groupId=orders] Request joining group due to: group is already rebalancing (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
	text := strings.Repeat(strings.Repeat(line, 99)+kafka, 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Read(strings.NewReader(text), "x", Options{}, Handler{}); err != nil {
			b.Fatal(err)
		}
	}
}
