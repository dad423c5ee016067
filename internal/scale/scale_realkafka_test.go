//go:build realkafka

package scale

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestScale measures kgdiag with 20,000 groups and 20,000,000 commits. scripts/bench runs it.
// What loads the cluster runs in processes of its own (TestScaleHelper), so that this one
// stays small: a measured process begins with its parent's memory.
//
//	KGDIAG_BENCH_BINARY     kgdiag
//	KGDIAG_BENCH_CLASSPATH  Kafka's jars
//	KGDIAG_BENCH_DOC        Markdown to which the result is added; without it, it is only logged
//	KGDIAG_BENCH_PART       watch, curve or looks: that alone
//	KGDIAG_BENCH_WATCH      how long the watch is measured (default 1m; 1h for what an hour does to its memory)
//	KGDIAG_BENCH_SHARE      divides the numbers, to try it out (default 1)
func TestScale(t *testing.T) {
	if os.Getenv("KGDIAG_BENCH") == "" {
		t.Skip("a measurement, not a test: scripts/bench runs it")
	}
	r := &report{t: t, share: share(t)}
	r.helper("topics")
	switch os.Getenv("KGDIAG_BENCH_PART") {
	case "watch":
		r.helper(fmt.Sprintf("groups 0 %d", mostGroups/r.share))
		r.part(r.watch)
		return
	case "curve":
		r.part(r.curve)
		return
	case "looks":
		r.helper("long")
		r.helper(fmt.Sprintf("groups 0 %d", mostGroups/r.share))
		r.part(r.watch) // its groups that changed are what a look back reads commits for
		r.helper("fill")
		r.part(r.looks)
		return
	}
	r.helper("long") // first: its records are the oldest
	r.part(r.long)
	r.part(r.curve)
	r.part(r.big)
	r.part(r.watch)
	r.helper("fill")
	r.part(r.looks)
}

// part measures a part, and adds what it says to the document.
func (r *report) part(measure func()) {
	r.t.Helper()
	r.out.Reset()
	measure()
	r.t.Log("\n" + r.out.String())
	doc := os.Getenv("KGDIAG_BENCH_DOC")
	if doc == "" {
		return
	}
	f, err := os.OpenFile(doc, os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(r.out.String()); err != nil {
		r.t.Fatal(err)
	}
}

// The numbers of the measurement, divided by KGDIAG_BENCH_SHARE.
const (
	mostGroups  = 20_000
	allCommits  = 20_000_000
	longCommits = 10_000_000 // of the one long partition
	manyMembers = 500
	commitRate  = 5_000 // a second, while a watch is measured
	changing    = 40    // groups that change meanwhile

	longBatch = 50 * width // commits in a batch of the long partition
	fillBatch = 2 * width  // and of all others: what two requests wrote together
	longGroup = "orders"
)

func share(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("KGDIAG_BENCH_SHARE"), "1"))
	if err != nil || n < 1 {
		t.Fatalf("KGDIAG_BENCH_SHARE: %v", err)
	}
	return n
}

// report is a measurement under way, with the text that it makes.
type report struct {
	t       *testing.T
	share   int
	out     strings.Builder
	watched string // the row of the watch in the table of loads
}

func (r *report) printf(format string, args ...any) { fmt.Fprintf(&r.out, format, args...) }

// misses notes a promise that is not kept.
func (r *report) misses(broken bool, format string, args ...any) {
	r.t.Helper()
	if broken && r.share == 1 {
		r.t.Errorf(format, args...)
	}
}

// helper runs a part of the work in a process of its own, to its end.
func (r *report) helper(what string) string {
	r.t.Helper()
	began := time.Now()
	c := helperCommand(r.t.Context(), what)
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", what, err, out)
	}
	r.t.Logf("%s: %s", what, time.Since(began).Round(time.Millisecond))
	return string(out)
}

func helperCommand(ctx context.Context, what string) *exec.Cmd {
	c := exec.CommandContext(ctx, os.Args[0], "-test.run", "^TestScaleHelper$", "-test.v")
	c.Env = append(os.Environ(), "KGDIAG_SCALE_DO="+what)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) } // a shell has its background jobs ignore an interrupt
	return c
}

// TestScaleHelper is what the helpers run.
func TestScaleHelper(t *testing.T) {
	n := share(t)
	what, arg, _ := strings.Cut(os.Getenv("KGDIAG_SCALE_DO"), " ")
	switch what {
	case "":
		t.Skip("run by TestScale")
	case "topics":
		kadm.NewClient(connect(t).cl).CreateTopic(t.Context(), manyMembers, 1, nil, "wide")
	case "groups":
		var first, last int
		if _, err := fmt.Sscan(arg, &first, &last); err != nil {
			t.Fatal(err)
		}
		connect(t).groups(first, last)
	case "members":
		members(t, manyMembers/n)
	case "load":
		connect(t).load(commitRate / n)
	case "long":
		connect(t).fillLong(n)
	case "fill":
		connect(t).fillAll(n)
	}
}

// fillLong writes the long partition over a day, and lets its group rebalance.
func (c *cluster) fillLong(share int) {
	var templates [][]byte
	for i := 0; len(templates) < 20; i++ {
		// Their coordinator must be this partition's: Apache's tool ends at a group that is listed by one broker and asked of another.
		if g := fmt.Sprintf("neighbour-%04d", i); c.partition(g) == c.partition(longGroup) {
			templates = append(templates, batch(g, longBatch))
		}
	}
	now := time.Now()
	c.fill(filling{map[int32][][]byte{c.partition(longGroup): templates}, longCommits / share / longBatch, now.Add(-24 * time.Hour), now})
	for i := range 20 {
		c.commit(longGroup, int64(i)) // the coordinator takes up what was written behind its back
	}
	for range 3 { // a group that rebalanced is what why is asked about
		c.joinAndLeave(longGroup, func(string, int32, time.Time) {})
	}
}

// fillAll writes all other partitions over the last hour, and has the coordinators take up
// what was written.
func (c *cluster) fillAll(share int) {
	templates := map[int32][][]byte{}
	for i := range mostGroups {
		p := c.partition(groupName(i))
		templates[p] = append(templates[p], batch(groupName(i), fillBatch))
	}
	delete(templates, c.partition(longGroup))
	now := time.Now()
	c.fill(filling{templates, allCommits / share / (fillBatch * len(templates)), now.Add(-time.Hour), now})
	each(16, len(c.leaders), func(p int) {
		for i := range 100_000 {
			if g := fmt.Sprintf("waker-%05d", i); c.partition(g) == int32(p) {
				c.commit(g, 1)
				return
			}
		}
	})
}

// load commits so many offsets a second, until the process is terminated.
func (c *cluster) load(rate int) {
	tick := time.NewTicker(time.Second * 10 / time.Duration(rate/width))
	defer tick.Stop()
	work := make(chan int, 64)
	for range 16 {
		go func() {
			for i := range work {
				c.commit(fmt.Sprintf("load-%03d", i%500), int64(i))
			}
		}()
	}
	for i := 0; ; {
		select {
		case <-tick.C:
			for range 10 {
				work <- i
				i++
			}
		case <-c.t.Context().Done():
			return
		}
	}
}

// members joins so many members to one classic group and says when it is at rest; it stays
// until the process is terminated.
func members(t *testing.T, n int) {
	for i := range n {
		cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap(t)...), kgo.ConsumerGroup("many-members"), kgo.ConsumeTopics("wide"), kgo.DisableClientMetrics(),
			kgo.ClientID(fmt.Sprintf("member-%03d", i)), kgo.Balancers(kgo.RangeBalancer()), kgo.SessionTimeout(2*time.Minute), kgo.RebalanceTimeout(2*time.Minute), kgo.FetchMaxWait(30*time.Second), kgo.HeartbeatInterval(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		go cl.PollFetches(t.Context())
	}
	adm := kadm.NewClient(connect(t).cl)
	for {
		got, err := adm.DescribeGroups(t.Context(), "many-members")
		if g := got["many-members"]; err == nil && g.State == "Stable" && len(g.Members) == n {
			fmt.Println("stable")
			<-t.Context().Done()
			return
		}
		wait(t.Context(), 200*time.Millisecond)
	}
}

// run is what a measured process needed.
type run struct {
	wall, cpu time.Duration
	slowest   time.Duration // wall time of several runs
	rss       int64         // KiB
	out, err  []byte
	cut       bool // by its time limit
}

func measure(limit time.Duration, name string, args ...string) (run, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, name, args...)
	c.Stdout, c.Stderr = &out, &errs
	began := time.Now()
	err := c.Run()
	m := run{wall: time.Since(began), out: out.Bytes(), err: errs.Bytes(), cut: errors.Is(ctx.Err(), context.DeadlineExceeded)}
	if c.ProcessState != nil {
		m.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
		m.rss = c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	}
	if m.cut {
		err = nil
	}
	return m, err
}

func (r *report) kgdiag(args ...string) run {
	r.t.Helper()
	m, err := measure(5*time.Minute, os.Getenv("KGDIAG_BENCH_BINARY"), append(args, "-b", os.Getenv("KGDIAG_TEST_BOOTSTRAP"), "--timeout", "2m")...)
	if err != nil {
		r.t.Fatalf("kgdiag %v: %v\n%.2000s", args, err, m.err)
	}
	r.t.Logf("kgdiag %v: %s, %s processor, %s MiB", args, m.wall.Round(time.Millisecond), m.cpu, mib(m.rss))
	return m
}

// best runs kgdiag three times: the least of the times and the longest, the most of the memory.
func (r *report) best(args ...string) run {
	r.t.Helper()
	least := r.kgdiag(args...)
	least.slowest = least.wall
	for range 2 {
		m := r.kgdiag(args...)
		least.wall, least.cpu, least.rss, least.slowest = min(least.wall, m.wall), min(least.cpu, m.cpu), max(least.rss, m.rss), max(least.slowest, m.wall)
	}
	return least
}

// spread are the least and the longest wall time of several runs, in seconds.
func (r run) spread() string { return seconds(r.wall) + "–" + seconds(r.slowest) }

// apache runs Apache's tool with the heap and collector that its start script gives it.
func (r *report) apache(limit time.Duration) run {
	r.t.Helper()
	m, err := measure(limit, "java", "-Xmx256M", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-cp", os.Getenv("KGDIAG_BENCH_CLASSPATH"),
		"org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", "--bootstrap-server", os.Getenv("KGDIAG_TEST_BOOTSTRAP"), "--describe", "--all-groups", "--timeout", "600000")
	if err != nil {
		r.t.Fatalf("Apache's tool: %v\n%.2000s", err, m.err)
	}
	r.t.Logf("Apache's tool: %s, %s processor", m.wall.Round(time.Millisecond), m.cpu)
	return m
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }
func mib(kib int64) string           { return fmt.Sprintf("%.0f", float64(kib)/1024) }

// curve adds groups and describes them all, next to Apache's tool.
func (r *report) curve() {
	r.printf("\n## Very many groups\n\nThree brokers, %d processors shared with them, load average at the start %s. Each group has committed offsets of %d\n"+
		"partitions. Apache's is `kafka-consumer-groups.sh --describe --all-groups`, once, with the heap of its start script; kgdiag the least and\n"+
		"the longest of three, and how many times faster that is at most and at least. Asked: 20 times faster, `why` within 256 MiB.\n\n"+
		"| groups | Apache's, s | `describe --all-groups`, s | times | processor s | peak MiB | `why`, s | processor s | peak MiB |\n|---|---|---|---|---|---|---|---|---|\n", runtime.NumCPU(), loadAverage(), width)
	first := 0
	for _, n := range []int{2_000, 5_000, 10_000, mostGroups} {
		n /= r.share
		r.helper(fmt.Sprintf("groups %d %d", first, n))
		first = n
		d, w, a := r.best("describe", "--all-groups"), r.best("why"), r.apache(150*time.Second)
		if got := strings.Count(string(d.out), "\ngroup-"); got != n {
			r.t.Errorf("describe has %d groups of %d", got, n)
		}
		least := ""
		if a.cut {
			least = "over "
		} else if got := bytes.Count(a.out, []byte("\ngroup-")); got < n*width {
			r.t.Errorf("Apache's tool shows %d partitions of %d, and ends early: %.500s", got, n*width, a.err)
		}
		times := a.wall.Seconds() / d.wall.Seconds()
		r.misses(times < 20, "%d groups: %.1f times faster than Apache's, want 20", n, times)
		r.misses(w.rss > 256<<10, "why of %d groups: %s MiB, want 256", n, mib(w.rss))
		r.printf("| %d | %s%s | %s | %s%.0f–%.0f | %s | %s | %s | %s | %s |\n", n, least, seconds(a.wall), d.spread(), least, a.wall.Seconds()/d.slowest.Seconds(), times, seconds(d.cpu), mib(d.rss), w.spread(), seconds(w.cpu), mib(w.rss))
	}
}

// big describes a group of very many members.
func (r *report) big() {
	ctx, stop := context.WithCancel(r.t.Context())
	c := helperCommand(ctx, "members")
	out, err := c.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	began := time.Now()
	defer func() { stop(); _ = c.Wait() }() // it is terminated
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "stable" { //nolint:revive // waits for the word
	}
	if lines.Err() != nil {
		r.t.Fatal(lines.Err())
	}
	r.t.Logf("members: %s", time.Since(began).Round(time.Millisecond))
	d, w := r.best("describe", "many-members"), r.best("why", "many-members")
	r.printf("\nA classic group of %d members, with one partition each: `describe` %s s and %s MiB, `why` %s s and %s MiB.\n", manyMembers/r.share, d.spread(), mib(d.rss), w.spread(), mib(w.rss))
}

// looks are the looks back into a long log.
func (r *report) looks() {
	r.printf("\n## Very many commits\n\nThe offsets log of %d partitions was written with batches as brokers write them (%d commits each), by a producer under the\n"+
		"client id that a broker lets write it: %d commits over the last hour. One partition holds %d more, in batches of %d, which\n"+
		"were written before: `why` reads all of them where they stand behind newer ones.\n\n"+
		"Load average %s.\n\n| command | s | processor s | peak MiB | asked |\n|---|---|---|---|---|\n", 50, fillBatch, allCommits/r.share, longCommits/r.share, longBatch, loadAverage())
	why := r.best("why")
	r.misses(why.wall > 5*time.Second, "why: %s, want 5 s", why.wall)
	r.misses(why.rss > 256<<10, "why: %s MiB, want 256", mib(why.rss))
	r.printf("| `why`, all groups, the last hour | %s | %s | %s | 5 s, 256 MiB |\n", why.spread(), seconds(why.cpu), mib(why.rss))
	r.load()
}

// long is why of one group in a long partition.
func (r *report) long() {
	one := r.best("why", longGroup)
	whole := r.wireOf("history", longGroup, "--since", "25h")
	hour := r.wireOf("why", longGroup)
	r.misses(hour.read*10 > whole.read, "why of an hour read %d bytes of the %d of the partition", hour.read, whole.read)
	r.printf("\n## One group in a long partition\n\nA partition holds %d commits of other groups over a day, in batches of %d, and the rebalances of one group. `why` of it in the last hour\n"+
		"takes %s s and %s MiB and reads %.1f MB of the %.1f MB that `history --since 25h` reads (asked: a tenth).\n",
		longCommits/r.share, longBatch, one.spread(), mib(one.rss), float64(hour.read)/1e6, float64(whole.read)/1e6)
}

// wired is the account of --debug.
type wired struct{ requests, connections, sent, read int64 }

var wireHead = regexp.MustCompile(`wire  (\d+) requests on (\d+) connections, (\d+) bytes sent and (\d+) read`)

func (r *report) wireOf(args ...string) wired {
	return r.wire(r.kgdiag(append(args, "--debug")...).err)
}

func (r *report) wire(stderr []byte) (w wired) {
	r.t.Helper()
	m := wireHead.FindSubmatch(stderr)
	if m == nil {
		r.t.Fatalf("no account of the wire in %.300s", stderr)
	}
	for i, to := range []*int64{&w.requests, &w.connections, &w.sent, &w.read} {
		*to, _ = strconv.ParseInt(string(m[i+1]), 10, 64)
	}
	return w
}

// load tells what each command asks of the brokers.
func (r *report) load() {
	r.printf("\n## The load on the brokers\n\nOf the same cluster, by `--debug`.\n\n| command | requests | connections | sent | read |\n|---|---|---|---|---|\n")
	row := func(args ...string) {
		w := r.wireOf(args...)
		r.printf("| `kgdiag %s` | %d | %d | %.1f kB | %.1f MB |\n", strings.Join(args, " "), w.requests, w.connections, float64(w.sent)/1e3, float64(w.read)/1e6)
	}
	row("locate", "group-00001")
	row("describe", "group-00001")
	row("describe", "--all-groups")
	row("history", "group-00001")
	row("why", "group-00001")
	row("why")
	row("why", "--budget", "200MB")
	row("check")
	r.printf("%s", r.watched)
}

func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// event is what is read of a watch's line.
type event struct {
	Type       string `json:"type"`
	Group      string `json:"group"`
	Source     string `json:"source"`
	Generation *int32 `json:"generation"`
}

// watchFor is how long the watch is measured.
func (r *report) watchFor() time.Duration {
	r.t.Helper()
	d, err := time.ParseDuration(cmp.Or(os.Getenv("KGDIAG_BENCH_WATCH"), "1m"))
	if err != nil {
		r.t.Fatalf("KGDIAG_BENCH_WATCH: %v", err)
	}
	return d / time.Duration(r.share)
}

// watch measures a watch of all groups while commits come and groups change.
func (r *report) watch() {
	ctx, stop := context.WithCancel(r.t.Context())
	load := helperCommand(ctx, "load")
	if err := load.Start(); err != nil {
		r.t.Fatal(err)
	}
	defer func() { stop(); _ = load.Wait() }() // it is terminated
	w := exec.CommandContext(ctx, os.Getenv("KGDIAG_BENCH_BINARY"), "watch", "--all-groups", "-o", "json", "-b", os.Getenv("KGDIAG_TEST_BOOTSTRAP"))
	w.Cancel = func() error { return w.Process.Signal(os.Interrupt) }
	var errs bytes.Buffer
	w.Stderr = &errs
	out, err := w.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := w.Start(); err != nil {
		r.t.Fatal(err)
	}
	seen := map[string][]time.Time{} // by group and generation, which begin anew where an empty group was forgotten
	started, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		start := sync.OnceFunc(func() { close(started) })
		defer start()
		s := bufio.NewScanner(out)
		s.Buffer(nil, 1<<26)
		for s.Scan() {
			at := time.Now()
			var e event
			if json.Unmarshal(s.Bytes(), &e) != nil {
				continue
			}
			start()
			if e.Type != "rebalance" || e.Generation == nil {
				continue
			}
			key := fmt.Sprintf("%s/%d", e.Group, *e.Generation)
			seen[key] = append(seen[key], at)
		}
	}()
	<-started
	c := connect(r.t)
	wait(ctx, 3*time.Second)
	before, first := usage(r.t, w.Process.Pid), time.Now()
	changes, after, memory := map[string]time.Time{}, before, []string{mib(before.rss)}
	for range 4 {
		maps.Copy(changes, c.changes(r.watchFor()/4, changing))
		after = usage(r.t, w.Process.Pid)
		memory = append(memory, mib(after.rss))
	}
	lasted := time.Since(first)
	wait(ctx, time.Second)
	_ = w.Process.Signal(os.Interrupt) // it has not ended
	<-ended
	if err := w.Wait(); err != nil {
		r.t.Errorf("watch: %v", err)
	}
	var took []time.Duration
	for key, at := range changes {
		if i := slices.IndexFunc(seen[key], at.Before); i >= 0 {
			took = append(took, seen[key][i].Sub(at))
		}
	}
	slices.Sort(took)
	if len(took) < len(changes)*9/10 || len(took) == 0 {
		r.t.Fatalf("%d lines for %d changes", len(took), len(changes))
	}
	median, late := took[len(took)/2], took[len(took)*99/100]
	cpu := 100 * (after.cpu - before.cpu).Seconds() / lasted.Seconds()
	r.misses(median > 100*time.Millisecond || late > 300*time.Millisecond, "watch: median %s, 99th percentile %s, want 100 and 300 ms", median, late)
	r.misses(cpu > 10, "watch: %.1f %% of a core, want 10", cpu)
	r.printf("\n## A watch of all groups at %d commits a second\n\nLoad average %s. %d groups, %s s, %d changes of membership (a member joins, and leaves). From the request that made the change to the line:\n"+
		"median %d ms, 99th percentile %d ms, most %d ms (asked: 100 and 300). Lines for %d of the changes. Processor %.1f %% of a core (asked: 10).\n"+
		"Memory %s MiB at the start and after each quarter; that what it keeps of commits does not grow is held by a test (inspect/judge).\n", commitRate/r.share, loadAverage(), mostGroups/r.share, seconds(lasted), len(changes), median.Milliseconds(), late.Milliseconds(), took[len(took)-1].Milliseconds(),
		len(took), cpu, strings.Join(memory, ", "))
	const s = 10
	x := r.wireOf("watch", "--all-groups", "--for", "10s") // apart: an account of each request costs more than the watch
	r.watched = fmt.Sprintf("| `kgdiag watch --all-groups`, a second of its first ten | %d | %d in all | %.1f kB | %.2f MB |\n", x.requests/s, x.connections, float64(x.sent/s)/1e3, float64(x.read/s)/1e6)
}

// used is what a process has used so far.
type used struct {
	cpu time.Duration
	rss int64 // KiB
}

func usage(t *testing.T, pid int) (u used) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	for _, i := range []int{11, 12} { // user and system, in hundredths of a second
		n, _ := strconv.ParseInt(fields[i], 10, 64)
		u.cpu += time.Duration(n) * 10 * time.Millisecond
	}
	pages, _ := strconv.ParseInt(fields[21], 10, 64)
	u.rss = pages * int64(os.Getpagesize()) / 1024
	return u
}
