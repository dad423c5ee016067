package cmd_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/kgdiag/kgdiag/cmd"
	"github.com/kgdiag/kgdiag/internal/fakecluster"
)

var updateScripts = flag.Bool("update", false, "rewrite the expected screens of the scripts")

// TestMain makes the test binary double as kgdiag, so that scripts run a process of
// its own: signals, full disks and closed pipes are real. Neither the tests nor any
// command may leave a goroutine behind.
func TestMain(m *testing.M) {
	testscript.Main(leakless{m}, map[string]func(){
		"kgdiag": func() { os.Exit(leaks(cmd.Main(os.Args[1:], cmd.SystemStreams()))) },
	})
}

type leakless struct{ m *testing.M }

func (l leakless) Run() int { return leaks(l.m.Run()) }

// leaks is an exit code, or another one where goroutines are left. Two may be: the reading
// of a standard input that does not end, and the last tick of the screen's clock, which
// its library lets run out.
func leaks(code int) int {
	if err := goleak.Find(goleak.IgnoreAnyFunction("os.(*File).Read"), goleak.IgnoreTopFunction("charm.land/bubbletea/v2.Tick.func1")); err != nil {
		fmt.Fprintf(os.Stderr, "after exit code %d: %v\n", code, err)
		return 70
	}
	return code
}

// scriptTime bounds everything that a script waits for.
const scriptTime = 30 * time.Second

// TestScripts runs the transcripts of testdata/script. Beside testscript's own
// commands they have:
//
//	cluster [-brokers N] [-partitions N] [-virgin] [-topic NAME:N]… [-session D] [-tls] [-advertise kafka-%d.example] [-user NAME:PASSWORD]…
//	                                  start a simulated cluster; $B is its first broker, $BROKERS all, ca.pem signs its certificate
//	join NAME group=G topics=T,… [client=C] [host=H] [session=D] [rebalance=D] [heartbeat=D] [maxpoll=D] [instance=I] [assignor=A] [server] [regex]
//	member kill|leave|freeze|thaw NAME, member stall NAME D
//	await stable GROUP N, await empty GROUP, await committed GROUP TOPIC PARTITION OFFSET
//	hook FILE                         $HOOK is a web hook that appends what it is sent to FILE
//	scrape FILE TO                    save the metrics whose address a program wrote to FILE
//	await output FILE PATTERN         until a background program has written so
//	produce TOPIC PARTITION N, feed TOPIC PARTITIONS D
//	align GROUP, misplace GROUP       leader and coordinator agree for a group without members, or do not
//	deny offsets|GROUP, broker stop|start|silence ID, move GROUP, delete GROUP
//	topic absent|present NAME
//	exits CODE PROGRAM ARGS…          run a program and hold it to its exit code
//	interrupted INT|TERM CODE PATTERN PROGRAM ARGS…
//	                                  signal it as soon as its output matches
//	screen stdout|stderr              the last output with addresses, times and the number of rules blanked, for cmp
func TestScripts(t *testing.T) {
	testscript.Run(t, scriptParams("testdata/script"))
}

// scriptParams are those of all scripts.
func scriptParams(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *updateScripts,
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("TZ", "UTC")
			e.Setenv("HOME", e.WorkDir)
			e.Values[clusterKey{}] = &scriptCluster{members: map[string]*fakecluster.Member{}}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"cluster": cmdCluster, "join": cmdJoin, "member": cmdMember, "await": cmdAwait,
			"produce": cmdProduce, "feed": cmdFeed, "align": cmdAlign, "misplace": cmdMisplace, "deny": cmdDeny, "broker": cmdBroker, "move": cmdMove, "delete": cmdDelete, "topic": cmdTopic,
			"hook": cmdHook, "scrape": cmdScrape, "exits": cmdExits, "interrupted": cmdInterrupted, "screen": cmdScreen,
		},
	}
}

type clusterKey struct{}

// scriptCluster is the cluster of one script.
type scriptCluster struct {
	*fakecluster.Cluster
	members map[string]*fakecluster.Member
}

func clusterOf(ts *testscript.TestScript) *scriptCluster {
	c := ts.Value(clusterKey{}).(*scriptCluster)
	if c.Cluster == nil {
		ts.Fatalf("no cluster: begin with the cluster command")
	}
	return c
}

func within(ts *testscript.TestScript) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), scriptTime)
	ts.Defer(cancel)
	return ctx
}

// need stops a script that gives a command the wrong arguments.
func need(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
}

func cmdCluster(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 0, "cluster [-brokers N] …")
	opts := []fakecluster.Option{fakecluster.ClusterID("scripted"), fakecluster.MinSession(300 * time.Millisecond),
		fakecluster.BrokerConfig("group.consumer.heartbeat.interval.ms", "200"), fakecluster.BrokerConfig("group.consumer.session.timeout.ms", "2000")}
	for i := 0; i < len(args); i++ {
		value := func() string {
			if i++; i >= len(args) {
				ts.Fatalf("cluster: %s needs a value", args[i-1])
			}
			return args[i]
		}
		switch args[i] {
		case "-brokers":
			opts = append(opts, fakecluster.Brokers(number(ts, value())))
		case "-partitions":
			opts = append(opts, fakecluster.OffsetsPartitions(int32(number(ts, value()))))
		case "-virgin":
			opts = append(opts, fakecluster.Virgin())
		case "-topic":
			name, n, _ := strings.Cut(value(), ":")
			opts = append(opts, fakecluster.Topic(name, int32(number(ts, n))))
		case "-advertise":
			host := value()
			opts = append(opts, fakecluster.Advertise(func(id int32) (string, int32) { return fmt.Sprintf(host, id), 9092 }))
		case "-tls":
			opts = append(opts, fakecluster.TLS(serverTLS(ts)))
		case "-user":
			name, password, _ := strings.Cut(value(), ":")
			opts = append(opts, fakecluster.Superuser("SCRAM-SHA-256", name, password))
		case "-session":
			opts = append(opts, fakecluster.MinSession(duration(ts, value())))
		default:
			ts.Fatalf("cluster: unknown option %s", args[i])
		}
	}
	c, err := fakecluster.New(opts...)
	ts.Check(err)
	sc := ts.Value(clusterKey{}).(*scriptCluster)
	sc.Cluster = c
	ts.Defer(func() {
		if err := c.Err(); err != nil {
			ts.Logf("mirror: %v", err)
		}
		c.Close()
	})
	ts.Setenv("B", c.Addrs()[0])
	for i, a := range c.Addrs() {
		ts.Setenv(fmt.Sprintf("B%d", i), a)
	}
	ts.Setenv("BROKERS", c.Bootstrap())
}

// serverTLS makes a certificate for 127.0.0.1 and writes it to ca.pem.
func serverTLS(ts *testscript.TestScript) *tls.Config {
	srv := httptest.NewUnstartedServer(nil)
	srv.StartTLS()
	defer srv.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs("ca.pem"), ca, 0o600))
	return &tls.Config{Certificates: srv.TLS.Certificates}
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

func duration(ts *testscript.TestScript, s string) time.Duration {
	d, err := time.ParseDuration(s)
	ts.Check(err)
	return d
}

// unescaped lets scripts write what belongs into no group id.
var unescaped = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\e`, "\x1b", `\a`, "\a", `\u202e`, "\u202e")

func cmdJoin(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "join NAME group=G topics=T,… …")
	cfg := fakecluster.MemberConfig{ClientID: args[0], Session: time.Second, Rebalance: 5 * time.Second, Heartbeat: 100 * time.Millisecond}
	for _, a := range args[1:] {
		k, v, _ := strings.Cut(unescaped.Replace(a), "=")
		switch k {
		case "group":
			cfg.Group = v
		case "topics":
			cfg.Topics = strings.Split(v, ",")
		case "client":
			cfg.ClientID = v
		case "host":
			cfg.Host = v
		case "session":
			cfg.Session = duration(ts, v)
		case "rebalance":
			cfg.Rebalance = duration(ts, v)
		case "heartbeat":
			cfg.Heartbeat = duration(ts, v)
		case "maxpoll":
			cfg.MaxPoll = duration(ts, v)
		case "instance":
			cfg.InstanceID = v
		case "assignor":
			cfg.Assignor = v
		case "server":
			cfg.Server = true
		case "regex":
			cfg.Pattern = true
		default:
			ts.Fatalf("join: unknown setting %s", k)
		}
	}
	c := clusterOf(ts)
	m, err := c.Join(cfg)
	ts.Check(err)
	c.members[args[0]] = m
}

func cmdMember(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "member kill|leave|freeze|thaw|stall NAME [D]")
	m := clusterOf(ts).members[args[1]]
	if m == nil {
		ts.Fatalf("member %s: did not join", args[1])
	}
	switch args[0] {
	case "kill":
		m.Kill()
	case "leave":
		m.Leave()
	case "freeze":
		m.Freeze()
	case "thaw":
		m.Thaw()
	case "stall":
		need(ts, neg, args, 3, "member stall NAME D")
		m.Stall(duration(ts, args[2]))
	default:
		ts.Fatalf("member: unknown verb %s", args[0])
	}
}

func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "await stable GROUP N, await empty GROUP, await output FILE PATTERN")
	ctx := within(ts)
	if args[0] == "output" {
		need(ts, neg, args, 3, "await output FILE PATTERN")
		awaitOutput(ctx, ts, args[1], args[2])
		return
	}
	c := clusterOf(ts)
	switch args[0] {
	case "stable":
		need(ts, neg, args, 3, "await stable GROUP N")
		ts.Check(c.WaitStable(ctx, unescaped.Replace(args[1]), number(ts, args[2])))
	case "empty":
		ts.Check(c.WaitEmpty(ctx, args[1]))
	case "committed":
		need(ts, neg, args, 5, "await committed GROUP TOPIC PARTITION OFFSET")
		ts.Check(c.WaitCommitted(ctx, args[1], args[2], int32(number(ts, args[3])), int64(number(ts, args[4]))))
	default:
		ts.Fatalf("await: unknown state %s", args[0])
	}
}

func awaitOutput(ctx context.Context, ts *testscript.TestScript, file, pattern string) {
	re, err := regexp.Compile("(?m)" + pattern)
	ts.Check(err)
	for {
		b, _ := os.ReadFile(ts.MkAbs(file)) // it may not be there yet
		if re.Match(b) {
			return
		}
		select {
		case <-ctx.Done():
			ts.Fatalf("%s never matched %q:\n%s", file, pattern, b)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func cmdProduce(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "produce TOPIC PARTITION N")
	ts.Check(clusterOf(ts).Produce(within(ts), args[0], int32(number(ts, args[1])), number(ts, args[2])))
}

func cmdFeed(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "feed TOPIC PARTITIONS D")
	ts.Check(clusterOf(ts).Feed(args[0], int32(number(ts, args[1])), duration(ts, args[2])))
}

func cmdAlign(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "align GROUP…")
	ts.Check(clusterOf(ts).Align(args...))
}

func cmdMisplace(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "misplace GROUP")
	ts.Check(clusterOf(ts).Misplace(args[0]))
}

func cmdDeny(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "deny offsets|GROUP")
	c := clusterOf(ts)
	if args[0] == "offsets" {
		c.DenyOffsetsRead()
		return
	}
	c.DenyGroup(args[0])
}

func cmdBroker(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "broker stop|start|silence ID")
	c, id := clusterOf(ts), int32(number(ts, args[1]))
	switch args[0] {
	case "stop":
		ts.Check(c.StopBroker(id))
	case "start":
		ts.Check(c.StartBroker(id))
	case "silence":
		_, err := c.Silence(id)
		ts.Check(err)
	default:
		ts.Fatalf("broker: unknown verb %s", args[0])
	}
}

func cmdMove(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "move GROUP")
	ts.Check(clusterOf(ts).MoveCoordinator(args[0]))
}

func cmdDelete(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "delete GROUP")
	ts.Check(clusterOf(ts).DeleteGroup(within(ts), args[0]))
}

func cmdTopic(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "topic absent|present NAME")
	names, err := clusterOf(ts).Topics(within(ts))
	ts.Check(err)
	there := false
	for _, n := range names {
		there = there || n == args[1]
	}
	if there != (args[0] == "present") {
		ts.Fatalf("topic %s is not %s: %v", args[1], args[0], names)
	}
}

func cmdHook(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "hook FILE")
	file := ts.MkAbs(args[0])
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = io.Copy(f, r.Body)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv("HOOK", server.URL)
}

var metricsAt = regexp.MustCompile(`metrics at (http://\S+)`)

func cmdScrape(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "scrape FILE TO")
	m := metricsAt.FindStringSubmatch(ts.ReadFile(args[0]))
	if m == nil {
		ts.Fatalf("no address of metrics in %s", args[0])
	}
	r, err := http.Get(m[1])
	ts.Check(err)
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o600))
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "exits CODE PROGRAM ARGS…")
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ee *exec.ExitError
		if !errors.As(err, &ee) {
			ts.Fatalf("%v", err)
		}
		code = ee.ExitCode()
	}
	if code != number(ts, args[0]) {
		ts.Fatalf("exit code %d, want %s\nstdout:\n%s\nstderr:\n%s", code, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// watchedOutput collects both streams and says when they match.
type watchedOutput struct {
	mu    sync.Mutex
	re    *regexp.Regexp
	all   bytes.Buffer
	match chan struct{}
	once  sync.Once
}

func (w *watchedOutput) also(dst io.Writer) io.Writer {
	return writerFunc(func(b []byte) (int, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all.Write(b)
		if w.re.Match(w.all.Bytes()) {
			w.once.Do(func() { close(w.match) })
		}
		return dst.Write(b)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func cmdInterrupted(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 4, "interrupted INT|TERM CODE PATTERN PROGRAM ARGS…")
	sig := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}[args[0]]
	if sig == nil {
		ts.Fatalf("interrupted: unknown signal %s", args[0])
	}
	re, err := regexp.Compile(args[2])
	ts.Check(err)
	w := &watchedOutput{re: re, match: make(chan struct{})}
	if re.MatchString("") {
		close(w.match)
		w.once.Do(func() {})
	}
	var stdout, stderr bytes.Buffer
	path := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if p := filepath.Join(dir, args[3]); path == "" && isFile(p) {
			path = p
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), scriptTime)
	defer cancel()
	p := exec.CommandContext(ctx, path, args[4:]...)
	p.Dir = ts.Getenv("WORK")
	p.Env = []string{"NO_COLOR=1", "TZ=UTC", "HOME=" + ts.Getenv("WORK"), "PATH=" + ts.Getenv("PATH")}
	p.Stdout, p.Stderr = w.also(&stdout), w.also(&stderr)
	ts.Check(p.Start())
	done := make(chan error, 1)
	go func() { done <- p.Wait() }()
	select {
	case <-w.match:
		ts.Check(p.Process.Signal(sig))
		<-done // how it ended is its exit code, below
	case err = <-done:
		ts.Fatalf("%s ended before its output matched %q: %v\nstdout:\n%s\nstderr:\n%s", args[3], args[2], err, &stdout, &stderr)
	}
	fmt.Fprint(ts.Stdout(), stdout.String())
	fmt.Fprint(ts.Stderr(), stderr.String())
	if code := p.ProcessState.ExitCode(); code != number(ts, args[1]) {
		ts.Fatalf("exit code %d (%v), want %s\nstdout:\n%s\nstderr:\n%s", code, p.ProcessState, args[1], &stdout, &stderr)
	}
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// blanks are what differs between two runs of the same script.
var blanks = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`\d\d\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIMESTAMP"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "hh:mm:ss"},
	{regexp.MustCompile(`\d+ of kgdiag.s \d+ rules checked`), "N of M rules checked"}, // it grows with the rules
	{regexp.MustCompile(`NOT CHECKED .*(\n      .*)*`), "NOT CHECKED  (rules)"},
	{regexp.MustCompile(`(kafka-\d)\.eu:9092`), "$1:9092"}, // of the runbooks
	{regexp.MustCompile(`"port": \d+`), `"port": 9092`},
	{regexp.MustCompile(`127\.0\.0\.1\t\d+`), "127.0.0.1\tPORT"},
}

func cmdScreen(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "screen stdout|stderr")
	fmt.Fprint(ts.Stdout(), blank(ts, ts.ReadFile(args[0])))
}

// named is a text with the names that real brokers have.
func named(ts *testscript.TestScript, text, name string) string {
	if c := ts.Value(clusterKey{}).(*scriptCluster); c.Cluster != nil {
		for i, a := range c.Addrs() {
			text = strings.ReplaceAll(text, a, fmt.Sprintf(name, i))
		}
	}
	return text
}

// blank is a text without what differs from run to run.
func blank(ts *testscript.TestScript, text string) string {
	text = named(ts, text, "kafka-%d:9092")
	for _, b := range blanks {
		text = b.re.ReplaceAllString(text, b.with)
	}
	return text
}
