//go:build realkafka

package offsetlog

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/template"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
)

// The speed test compares the scanner with a plain kgo loop and with Apache's
// console consumer on one real broker. scripts/bench runs it. Each reader is a
// process of its own, so that its wall time, processor time and peak memory are its
// own, and the readers take turns.
//
//	KGDIAG_BENCH_RECORDS    commits in a log (default 1,000,000); the long log has ten times as many
//	KGDIAG_BENCH_ROUNDS     turns (default 5)
//	KGDIAG_BENCH_CLASSPATH  Kafka's jars, for the console consumer; without it that reader is left out
//	KGDIAG_BENCH_DOC        where to write the result as Markdown; without it, it is only logged

// reading is what one process needed.
type reading struct {
	wall, cpu time.Duration
	rss       int64 // KiB
}

// shape is one log to read.
type shape struct {
	Name, Topic string
	PerBatch    int
	Records     int
	id          [16]byte
	results     map[string][]reading
}

// readers in the order in which they take turns. The console consumer reads the
// short logs only.
var readers = []string{"console", "kgo", "scan1", "scan4", "all4"}

func benchInt(t *testing.T, name string, def int) int {
	s := os.Getenv(name)
	if s == "" {
		return def
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func TestSpeed(t *testing.T) {
	if os.Getenv("KGDIAG_BENCH") == "" {
		t.Skip("a measurement, not a test: scripts/bench runs it")
	}
	n := benchInt(t, "KGDIAG_BENCH_RECORDS", 1_000_000)
	rounds := benchInt(t, "KGDIAG_BENCH_ROUNDS", 5)
	shapes := []*shape{
		{Name: "100 records a batch", PerBatch: 100, Records: n},
		{Name: "1 record a batch", PerBatch: 1, Records: n},
		{Name: "100 records a batch, ten times the log", PerBatch: 100, Records: 10 * n},
	}
	cl := realClient(t)
	for _, s := range shapes {
		s.Topic = fmt.Sprintf("kgdiag-bench-%d-%d", s.PerBatch, s.Records)
		s.results = make(map[string][]reading)
		began := time.Now()
		fillBench(t, cl, s)
		t.Logf("%s: %d records there after %s", s.Topic, s.Records, time.Since(began).Round(time.Millisecond))
	}
	load := loadAverage()
	for round := range rounds {
		for i, s := range shapes {
			for _, r := range readers {
				if i == 2 && round > 0 || r == "console" && (i == 2 || round > 0 || os.Getenv("KGDIAG_BENCH_CLASSPATH") == "") {
					continue // slow enough for one turn to tell
				}
				s.results[r] = append(s.results[r], runReader(t, r, s))
			}
		}
	}
	text := benchDoc(t, shapes, rounds, load)
	t.Log("\n" + text)
	if out := os.Getenv("KGDIAG_BENCH_DOC"); out != "" {
		if err := os.WriteFile(out, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	checkBench(t, shapes)
}

// loadAverage is of the last minute, so that a reader of the table can tell a quiet
// machine from a busy one.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

func realClient(t testing.TB, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	seeds := os.Getenv("KGDIAG_TEST_BOOTSTRAP")
	if seeds == "" {
		t.Fatal("KGDIAG_TEST_BOOTSTRAP is not set: run scripts/test or scripts/bench")
	}
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(strings.Split(seeds, ",")...)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// fillBench writes the log unless it is there from an earlier run.
func fillBench(t *testing.T, cl *kgo.Client, s *shape) {
	t.Helper()
	ctx := context.Background()
	adm := kadm.NewClient(cl)
	adm.CreateTopic(ctx, 1, 1, map[string]*string{"retention.ms": kmsg.StringPtr("-1")}, s.Topic)
	ends, err := adm.ListEndOffsets(ctx, s.Topic)
	if err != nil || ends.Error() != nil {
		t.Fatal(err, ends.Error())
	}
	details, err := adm.ListTopics(ctx, s.Topic)
	if err != nil {
		t.Fatal(err)
	}
	s.id = details[s.Topic].ID
	if end, _ := ends.Lookup(s.Topic, 0); end.Offset >= int64(s.Records) {
		return
	}
	const writers, clients = 64, 8
	var wg sync.WaitGroup
	batches := s.Records / s.PerBatch
	shared := make([]*kgo.Client, clients)
	for i := range shared {
		shared[i] = realClient(t)
	}
	for w := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			writer := shared[w%clients]
			for b := w; b < batches; b += writers {
				writeBatch(t, writer, s, b)
			}
		}()
	}
	wg.Wait()
}

// writeBatch sends one batch as it is, so that the log has exactly the shape wanted.
func writeBatch(t *testing.T, cl *kgo.Client, s *shape, b int) {
	recs, deltas := make([]*kgo.Record, s.PerBatch), make([]int32, s.PerBatch)
	for i := range recs {
		at := b*s.PerBatch + i
		deltas[i] = int32(i)
		if recs[i] = commitRecord("payments-settlement", int32(at%12), int64(at)); at%10_000 == 0 {
			recs[i] = groupRecord("payments-settlement", int32(at))
		}
	}
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = 1, 10_000
	rt, rp := kmsg.NewProduceRequestTopic(), kmsg.NewProduceRequestTopicPartition()
	rt.Topic, rt.TopicID = s.Topic, s.id
	rp.Records = makeBatch(0, int32(s.PerBatch), deltas, time.Now(), 0, recs)
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(context.Background(), cl)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		t.Error(err)
	}
}

// runReader starts a reader on a log and measures the process.
func runReader(t *testing.T, name string, s *shape) reading {
	t.Helper()
	var cmd *exec.Cmd
	if name == "console" {
		// Apache's own start script gives this heap and collector.
		cmd = exec.Command("java", "-Xmx512M", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-cp", os.Getenv("KGDIAG_BENCH_CLASSPATH"),
			"org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", os.Getenv("KGDIAG_TEST_BOOTSTRAP"), "--topic", s.Topic,
			"--partition", "0", "--offset", "earliest", "--max-messages", strconv.Itoa(s.Records),
			"--formatter", "org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter")
	} else {
		cmd = exec.Command(os.Args[0], "-test.run", "^TestSpeedReader$")
		cmd.Env = append(os.Environ(), "KGDIAG_BENCH_READER="+name, "KGDIAG_BENCH_TOPIC="+s.Topic, "KGDIAG_BENCH_WANT="+strconv.Itoa(s.Records))
	}
	began := time.Now()
	out, err := cmd.CombinedOutput()
	r := reading{wall: time.Since(began)}
	if err != nil {
		t.Fatalf("%s on %s: %v\n%.2000s", name, s.Topic, err, out)
	}
	if name == "console" && !strings.Contains(string(out), "payments-settlement") {
		t.Fatalf("the console consumer printed no group:\n%.2000s", out)
	}
	ru := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	r.cpu, r.rss = cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), ru.Maxrss
	return r
}

// TestSpeedReader is what the measured Go processes run.
func TestSpeedReader(t *testing.T) {
	want := int64(benchInt(t, "KGDIAG_BENCH_WANT", 0))
	topic := os.Getenv("KGDIAG_BENCH_TOPIC")
	var records, groups int64
	switch os.Getenv("KGDIAG_BENCH_READER") {
	case "":
		t.Skip("run by TestSpeed")
	case "kgo":
		records, groups = plainLoop(t, topic, want)
	case "scan1":
		records, groups = scanLoop(t, topic, 1, false)
	case "scan4":
		records, groups = scanLoop(t, topic, 4, false)
	case "all4":
		records, groups = scanLoop(t, topic, 4, true)
	}
	if records != want || groups != want/10_000 {
		t.Fatalf("read %d records and %d groups, want %d and %d", records, groups, want, want/10_000)
	}
}

// plainLoop is what one would write first: a client with default options.
func plainLoop(t *testing.T, topic string, want int64) (records, groups int64) {
	cl := realClient(t, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))
	for records < want {
		fs := cl.PollFetches(context.Background())
		if err := fs.Err(); err != nil {
			t.Fatal(err)
		}
		fs.EachRecord(func(r *kgo.Record) {
			records++
			if len(r.Key) > 1 && r.Key[0] == 0 && r.Key[1] == 2 {
				k, v := kmsg.NewGroupMetadataKey(), kmsg.NewGroupMetadataValue()
				if k.ReadFrom(r.Key) == nil && v.ReadFrom(r.Value) == nil {
					groups++
				}
			}
		})
	}
	return records, groups
}

func scanLoop(t *testing.T, topic string, parallel int, commits bool) (records, groups int64) {
	s := &Scanner{Client: realClient(t), Topic: topic}
	if parallel > 1 {
		s.Dial = func() (*kgo.Client, error) { return kgo.NewClient(s.Client.Opts()...) }
	}
	logs, err := s.Scan(context.Background(), Request{Parallel: parallel, Filter: Filter{Commits: commits}}, func(r inspect.Record) error {
		if r.Metadata != nil {
			groups++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return logs[0].Records, groups
}

// best is the least of a column: other load on the machine only ever adds.
func best(rs []reading, of func(reading) float64) float64 {
	least := 0.0
	for i, r := range rs {
		if v := of(r); i == 0 || v < least {
			least = v
		}
	}
	return least
}

// ratios are the least and the most of how many times more the one takes in each turn.
func ratios(rs, than []reading, of func(reading) float64) string {
	var all []float64
	for i, r := range rs {
		all = append(all, of(r)/of(than[i]))
	}
	least, most := fmt.Sprintf("%.1f", slices.Min(all)), fmt.Sprintf("%.1f", slices.Max(all))
	if least == most {
		return least
	}
	return least + "–" + most
}

func wallMs(r reading) float64 { return float64(r.wall.Microseconds()) / 1000 }
func cpuMs(r reading) float64  { return float64(r.cpu.Microseconds()) / 1000 }
func rssMiB(r reading) float64 { return float64(r.rss) / 1024 }

// checkBench holds the scanner to what is promised.
func checkBench(t *testing.T, shapes []*shape) {
	for i, s := range shapes {
		scan := best(s.results["scan4"], wallMs)
		if ratio := best(s.results["kgo"], wallMs) / scan; ratio < 4 {
			t.Errorf("%s: %.1f times the plain loop, want 4", s.Name, ratio)
		}
		if c := s.results["console"]; i < 2 && c != nil {
			if ratio := best(c, wallMs) / scan; ratio < 15 {
				t.Errorf("%s: %.1f times the console consumer, want 15", s.Name, ratio)
			}
		}
		for _, r := range slices.Concat(s.results["scan4"], s.results["all4"]) {
			if rssMiB(r) > 64 {
				t.Errorf("%s: %.0f MiB, want at most 64", s.Name, rssMiB(r))
			}
		}
	}
}

const benchTemplate = `# Performance

Generated by ` + "`scripts/bench`" + `; do not edit. Each reader reads the same log on the same real broker, whole, and
decodes the group metadata in it (one record in 10,000; the rest are offset commits, CRC checked and passed over). Each
reading is a process of its own, measured from its start to its end, so start, connection and metadata are part of it. The
readers took turns, {{.Rounds}} times (the console consumer and the long log once); the table shows the least of the times
and the most of the memory, since other load on the machine only adds, and of the ratios, each of two readings of one turn, the
least and the most. Where the load average was above the number of processors, the processor times say more than the wall times,
which then are mostly a wait for one's turn.

Kafka {{.Kafka}}, one broker, loopback; {{.CPU}} processors shared with the broker; {{.Go}}; load average at the start
{{.Load}}. A log of {{.N}} records. Asked: at least 4 times the plain loop, 15 times the console consumer, within 64 MiB.

{{range .Shapes}}## {{.Name}}: {{.Records}} records

| reader | wall ms | processor ms | peak MiB | wall, times four ranges | processor, times four ranges |
|---|---|---|---|---|---|
{{range .Rows}}| {{.Name}} | {{.Wall}} | {{.CPU}} | {{.RSS}} | {{.Ratio}} | {{.CPURatio}} |
{{end}}
{{end}}What is not known: the figures are from loopback, where a round trip costs nothing; with a distant cluster the ranges in
flight matter more than the walk. TLS is not in them. Compressed batches cost their decompression in every reader.
`

type benchRow struct{ Name, Wall, CPU, RSS, Ratio, CPURatio string }

func benchDoc(t *testing.T, shapes []*shape, rounds int, load string) string {
	titles := map[string]string{"console": "kafka-console-consumer, GroupMetadataMessageFormatter", "kgo": "plain kgo loop, default options",
		"scan1": "kgdiag's scanner, one range", "scan4": "kgdiag's scanner, four ranges", "all4": "the same, every commit decoded and handed out"}
	type section struct {
		Name    string
		Records int
		Rows    []benchRow
	}
	data := struct {
		Rounds, CPU, N int
		Kafka, Go      string
		Load           string
		Shapes         []section
	}{rounds, runtime.NumCPU(), shapes[0].Records, os.Getenv("KGDIAG_BENCH_KAFKA"), runtime.Version(), load, nil}
	if bi, ok := debug.ReadBuildInfo(); ok {
		for _, d := range bi.Deps {
			if d.Path == "github.com/twmb/franz-go" {
				data.Go += ", franz-go " + d.Version
			}
		}
	}
	for _, s := range shapes {
		sec := section{Name: s.Name, Records: s.Records}
		for _, r := range readers {
			rs := s.results[r]
			if len(rs) == 0 {
				continue
			}
			peak := slices.MaxFunc(rs, func(a, b reading) int { return int(a.rss - b.rss) })
			sec.Rows = append(sec.Rows, benchRow{titles[r], fmt.Sprintf("%.0f", best(rs, wallMs)), fmt.Sprintf("%.0f", best(rs, cpuMs)),
				fmt.Sprintf("%.0f", rssMiB(peak)), ratios(rs, s.results["scan4"], wallMs), ratios(rs, s.results["scan4"], cpuMs)})
		}
		data.Shapes = append(data.Shapes, sec)
	}
	raw, _ := json.Marshal(data)
	t.Logf("%s", raw)
	var out strings.Builder
	if err := template.Must(template.New("doc").Parse(benchTemplate)).Execute(&out, data); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
