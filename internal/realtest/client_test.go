//go:build realkafka

package realtest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// kind is a client library of the laboratory.
type kind string

const (
	javaClient  kind = "java"
	shareClient kind = "share"   // lab.Share
	streams     kind = "streams" // lab.Streams
	spring      kind = "spring"  // lab.Spring
	librdkafka  kind = "confluent"
	kafkaPython kind = "kafka-python"
	aiokafka    kind = "aiokafka"
	franzGo     kind = "franz-go"
	kafkaJS     kind = "kafkajs"
	sarama      kind = "sarama"
)

// classes are the programs of the kinds that run in a JVM.
var classes = map[kind]string{javaClient: "lab.Consumer", shareClient: "lab.Share", streams: "lab.Streams", spring: "lab.Spring"}

// jvm reports whether the client runs in a JVM.
func (k kind) jvm() bool { return classes[k] != "" }

// client says how a laboratory client is started; times are milliseconds, and zero
// values leave the setting at the library's default.
type client struct {
	Kind       kind
	Group      string
	Topics     string
	ClientID   string
	InstanceID string
	Assignor   string
	Protocol   string
	Session    int
	Heartbeat  int
	MaxPoll    int
	MaxRecords int
	PerPoll    int
	PerRecord  int
	Commit     string
	Rack       string
	Regex      string
	StateDir   string
	Plain      bool      // Streams without stores, that works at a pace
	Log        string    // level of the client's own log on standard error; empty its quiet one
	LogTo      io.Writer // where that goes; nil into what is shown when a test fails
	Extra      []string  // key=value
}

func (c client) args(bootstrap string) []string {
	args := []string{"--bootstrap", bootstrap, "--group", c.Group}
	add := func(name, value string) {
		if value != "" && value != "0" {
			args = append(args, "--"+name, value)
		}
	}
	add("topics", c.Topics)
	add("client-id", c.ClientID)
	add("instance-id", c.InstanceID)
	add("assignor", c.Assignor)
	add("protocol", c.Protocol)
	add("session", strconv.Itoa(c.Session))
	add("heartbeat", strconv.Itoa(c.Heartbeat))
	add("max-poll", strconv.Itoa(c.MaxPoll))
	add("max-records", strconv.Itoa(c.MaxRecords))
	add("per-poll", strconv.Itoa(c.PerPoll))
	add("per-record", strconv.Itoa(c.PerRecord))
	add("commit", c.Commit)
	add("rack", c.Rack)
	add("regex", c.Regex)
	add("state-dir", c.StateDir)
	if c.Plain {
		add("plain", "true")
	}
	if !c.Kind.jvm() { // theirs is a property of the JVM
		add("log", c.Log)
	}
	for _, x := range c.Extra {
		args = append(args, "-X", x)
	}
	return args
}

func (c client) command(bootstrap string) *exec.Cmd {
	args := c.args(bootstrap)
	switch {
	case c.Kind.jvm():
		level := cmp.Or(c.Log, "warn")
		return exec.Command("java", append([]string{"-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
			"-Dorg.slf4j.simpleLogger.defaultLogLevel=" + level, "-Dorg.slf4j.simpleLogger.showDateTime=true",
			"-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss,SSS", "-cp", classpath, classes[c.Kind]}, args...)...)
	case c.Kind == kafkaJS:
		cmd := exec.Command("node", append([]string{filepath.Join(repository, "scripts", "lab", "node", "consumer.js")}, args...)...)
		cmd.Env = append(os.Environ(), "NODE_PATH="+nodeModules)
		return cmd
	case c.Kind == sarama:
		return exec.Command(saramaClient, args...)
	case c.Kind == franzGo:
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), franzEnv+"=1")
		return cmd
	default:
		script := filepath.Join(repository, "scripts", "lab", "python", "consumer.py")
		return exec.Command(python, append([]string{script, "--client", string(c.Kind)}, args...)...)
	}
}

// event is one line of a client's standard output.
type event struct {
	Event      string   `json:"event"`
	TS         int64    `json:"ts"`
	Partitions []string `json:"partitions"`
	Member     string   `json:"member"`
	Message    string   `json:"message"`
}

// process is a running client.
type process struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	done  chan struct{}

	mu     sync.Mutex
	events []event
	news   chan struct{} // closed and replaced at each event
	stderr tail
}

// start runs the client; it is killed at the end of the test if it still runs.
func start(t *testing.T, bootstrap string, c client) *process {
	t.Helper()
	p := &process{t: t, name: fmt.Sprintf("%s %s/%s", c.Kind, c.Group, c.ClientID), cmd: c.command(bootstrap),
		done: make(chan struct{}), news: make(chan struct{})}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = &p.stderr
	if c.LogTo != nil {
		p.cmd.Stderr = c.LogTo
	}
	p.quietly(c.Kind)
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	go p.read(stdout)
	t.Cleanup(func() {
		p.signal(syscall.SIGKILL)
		<-p.done
		if t.Failed() {
			t.Logf("%s: events %v\n%s", p.name, p.seen(), p.stderr.String())
		}
	})
	return p
}

// jvms bounds how many JVMs start at once: on two cores more of them starve each other,
// and the clients that are to send heartbeats.
var jvms = make(chan struct{}, 2)

// quietly waits for a place among the starting JVMs, if the client is one, and gives
// it back at the first event.
func (p *process) quietly(k kind) {
	if !k.jvm() {
		return
	}
	jvms <- struct{}{}
	news := p.news
	go func() {
		defer func() { <-jvms }()
		select {
		case <-news:
		case <-p.done:
		case <-time.After(20 * time.Second):
		}
	}()
}

func (p *process) read(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			e = event{Event: "text", Message: lines.Text()}
		}
		p.mu.Lock()
		p.events = append(p.events, e)
		close(p.news)
		p.news = make(chan struct{})
		p.mu.Unlock()
	}
	_ = p.cmd.Wait() // the event "closed", or its absence, says how it ended
	close(p.done)
}

func (p *process) seen() []event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.events)
}

// await waits for the first event from the given index on for which ok holds, and
// gives it and the index after it.
func (p *process) await(from int, what string, ok func(event) bool) (event, int) {
	p.t.Helper()
	limit := time.After(patience)
	for {
		p.mu.Lock()
		news := p.news
		for i := from; i < len(p.events); i++ {
			if ok(p.events[i]) {
				e := p.events[i]
				p.mu.Unlock()
				return e, i + 1
			}
		}
		p.mu.Unlock()
		select {
		case <-news:
		case <-p.done:
			p.t.Fatalf("%s: ended before %s: %v\n%s", p.name, what, p.seen(), p.stderr.String())
		case <-limit:
			p.t.Fatalf("%s: no %s within %s: %v\n%s", p.name, what, patience, p.seen(), p.stderr.String())
		}
	}
}

// assigned waits until the client holds n partitions, by its latest word.
func (p *process) assigned(n int) event {
	p.t.Helper()
	e, _ := p.await(0, fmt.Sprintf("%d partitions", n), func(e event) bool { return e.Event == "assigned" && len(e.Partitions) == n })
	return e
}

// startAssigned runs the client until it holds n partitions. A join of kafka-python
// (3.0.12) that its own first metadata interrupts now and then never ends; it alone
// gets a second try, as a supervisor would give it.
func startAssigned(t *testing.T, bootstrap string, c client, n int) *process {
	t.Helper()
	p := start(t, bootstrap, c)
	if c.Kind == kafkaPython && !p.within(40*time.Second, n) {
		t.Logf("%s: the join does not end, a known fault of this library: once more", p.name)
		p.signal(syscall.SIGKILL)
		<-p.done
		p = start(t, bootstrap, c)
	}
	p.assigned(n)
	return p
}

// within reports whether the client holds n partitions before the limit.
func (p *process) within(limit time.Duration, n int) bool {
	over := time.After(limit)
	for {
		p.mu.Lock()
		news := p.news
		holds := slices.ContainsFunc(p.events, func(e event) bool { return e.Event == "assigned" && len(e.Partitions) == n })
		p.mu.Unlock()
		if holds {
			return true
		}
		select {
		case <-news:
		case <-p.done:
			return false
		case <-over:
			return false
		}
	}
}

// again waits for an assignment of n partitions after the given number of events.
func (p *process) again(from, n int) event {
	p.t.Helper()
	e, _ := p.await(from, fmt.Sprintf("%d partitions again", n), func(e event) bool { return e.Event == "assigned" && len(e.Partitions) == n })
	return e
}

// count is how many events there were so far: the place to go on from.
func (p *process) count() int { return len(p.seen()) }

// say gives a command.
func (p *process) say(format string, args ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.stdin, format+"\n", args...); err != nil {
		p.t.Fatalf("%s: %v", p.name, err)
	}
}

func (p *process) signal(s syscall.Signal) {
	select {
	case <-p.done:
	default:
		_ = p.cmd.Process.Signal(s) // it may have ended in between
	}
}

// kill is SIGKILL: no LeaveGroup, no last commit.
func (p *process) kill() time.Time {
	at := time.Now()
	p.signal(syscall.SIGKILL)
	<-p.done
	return at
}

// term is SIGTERM, upon which the client closes cleanly.
func (p *process) term() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(40 * time.Second):
		p.t.Fatalf("%s: still runs 40 s after SIGTERM\n%s", p.name, p.stderr.String())
	}
}

func (p *process) pause()  { p.signal(syscall.SIGSTOP) }
func (p *process) resume() { p.signal(syscall.SIGCONT) }

// tail keeps the end of what a process wrote.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (w *tail) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, b...)
	if len(w.text) > 8192 {
		w.text = w.text[len(w.text)-4096:]
	}
	return len(b), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}

// ---- the franz-go client, which is this test binary itself -------------------------

// franz is a franz-go consumer with the pace of scripts/lab/README.md.
type franz struct {
	cl        *kgo.Client
	commit    string
	perPoll   time.Duration
	perRecord time.Duration
	commands  chan string
}

func say(name string, fields map[string]any) {
	line := map[string]any{"event": name, "ts": time.Now().UnixMilli()}
	for k, v := range fields {
		line[k] = v
	}
	out, _ := json.Marshal(line)
	fmt.Println(string(out))
}

// franzMain is the program of the client; it gives the exit code.
func franzMain(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	f, err := newFranz(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer cancel()
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() && in.Text() != "close" {
			f.commands <- in.Text()
		}
	}()
	f.loop(ctx)
	if f.commit == "auto" {
		_ = f.cl.CommitUncommittedOffsets(context.Background())
	}
	f.cl.CloseAllowingRebalance()
	say("closed", nil)
	return 0
}

func newFranz(args []string) (*franz, error) {
	set := flag.NewFlagSet("franz-go", flag.ContinueOnError)
	text := make(map[string]*string)
	for _, name := range []string{"bootstrap", "group", "topics", "client-id", "instance-id", "assignor", "protocol", "rack", "commit", "log"} {
		text[name] = set.String(name, "", "")
	}
	number := make(map[string]*int)
	for _, name := range []string{"session", "heartbeat", "max-poll", "per-poll", "per-record"} {
		number[name] = set.Int(name, 0, "")
	}
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	ms := func(name string) time.Duration { return time.Duration(*number[name]) * time.Millisecond }
	f := &franz{commit: *text["commit"], perPoll: ms("per-poll"), perRecord: ms("per-record"), commands: make(chan string, 16)}
	if f.commit == "" {
		f.commit = "auto"
	}
	if p := *text["protocol"]; p != "" && p != "classic" {
		return nil, fmt.Errorf("protocol %q: franz-go joins classic groups here", p)
	}
	opts := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(*text["bootstrap"], ",")...),
		kgo.ConsumerGroup(*text["group"]),
		kgo.ConsumeTopics(strings.Split(*text["topics"], ",")...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.OnPartitionsAssigned(f.changed("assigned")),
		kgo.OnPartitionsRevoked(f.changed("revoked")),
		kgo.OnPartitionsLost(f.changed("lost")),
	}
	if *text["log"] != "" {
		opts = append(opts, kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelInfo, stamp)))
	}
	if f.commit != "auto" {
		opts = append(opts, kgo.DisableAutoCommit())
	}
	if id := *text["client-id"]; id != "" {
		opts = append(opts, kgo.ClientID(id))
	}
	if id := *text["instance-id"]; id != "" {
		opts = append(opts, kgo.InstanceID(id))
	}
	if rack := *text["rack"]; rack != "" {
		opts = append(opts, kgo.Rack(rack))
	}
	if d := ms("session"); d > 0 {
		opts = append(opts, kgo.SessionTimeout(d))
	}
	if d := ms("heartbeat"); d > 0 {
		opts = append(opts, kgo.HeartbeatInterval(d))
	}
	if d := ms("max-poll"); d > 0 {
		opts = append(opts, kgo.RebalanceTimeout(d))
	}
	switch *text["assignor"] {
	case "range":
		opts = append(opts, kgo.Balancers(kgo.RangeBalancer()))
	case "roundrobin":
		opts = append(opts, kgo.Balancers(kgo.RoundRobinBalancer()))
	case "sticky":
		opts = append(opts, kgo.Balancers(kgo.StickyBalancer()))
	case "", "cooperative-sticky":
	default:
		return nil, fmt.Errorf("assignor %q: unknown", *text["assignor"])
	}
	var err error
	f.cl, err = kgo.NewClient(opts...)
	return f, err
}

// stamp is the time before a line of the client's own log.
func stamp() string { return time.Now().Format("2006-01-02 15:04:05.000 ") }

// changed reports an event; an assignment names all the partitions held, as the other
// clients do.
func (f *franz) changed(name string) func(context.Context, *kgo.Client, map[string][]int32) {
	held := &heldPartitions
	return func(_ context.Context, cl *kgo.Client, parts map[string][]int32) {
		held.mu.Lock()
		defer held.mu.Unlock()
		var list []string
		for topic, ps := range parts {
			for _, p := range ps {
				tp := fmt.Sprintf("%s-%d", topic, p)
				list = append(list, tp)
				held.set[tp] = name == "assigned"
			}
		}
		if name == "assigned" {
			list = list[:0]
			for tp, is := range held.set {
				if is {
					list = append(list, tp)
				}
			}
		}
		slices.Sort(list)
		member, generation := cl.GroupMetadata()
		say(name, map[string]any{"partitions": list, "member": member, "generation": generation})
	}
}

var heldPartitions = struct {
	mu  sync.Mutex
	set map[string]bool
}{set: make(map[string]bool)}

func (f *franz) loop(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case c := <-f.commands:
			if err := f.obey(ctx, c); err != nil {
				say("error", map[string]any{"message": err.Error()})
			}
		default:
		}
		poll, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		fetches := f.cl.PollRecords(poll, 100)
		cancel()
		for _, e := range fetches.Errors() {
			if !errors.Is(e.Err, context.DeadlineExceeded) && !errors.Is(e.Err, context.Canceled) {
				say("error", map[string]any{"message": e.Err.Error()})
			}
		}
		if records := fetches.Records(); len(records) > 0 {
			f.process(ctx, records)
		}
	}
}

func (f *franz) process(ctx context.Context, records []*kgo.Record) {
	for _, r := range records {
		work(ctx, f.perRecord)
		if f.commit == "record" && ctx.Err() == nil {
			f.failed(f.cl.CommitRecords(ctx, r))
		}
	}
	work(ctx, f.perPoll)
	if f.commit == "sync" && ctx.Err() == nil {
		f.failed(f.cl.CommitUncommittedOffsets(ctx))
	}
}

func (f *franz) failed(err error) {
	if err != nil {
		say("commit-failed", map[string]any{"message": err.Error()})
	}
}

func (f *franz) obey(ctx context.Context, line string) error {
	command, argument, _ := strings.Cut(line, " ")
	say("obeys", map[string]any{"command": command, "argument": argument})
	if command == "commit" {
		f.commit = argument
		return nil
	}
	ms, err := strconv.Atoi(argument)
	if err != nil {
		return fmt.Errorf("command %q: %w", line, err)
	}
	d := time.Duration(ms) * time.Millisecond
	switch command {
	case "stall":
		work(ctx, d)
		say("stalled", nil)
	case "per-poll":
		f.perPoll = d
	case "per-record":
		f.perRecord = d
	default:
		return fmt.Errorf("command %q: unknown", line)
	}
	return nil
}

// work keeps the application busy for d, or until it is to close.
func work(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
