package trust

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/internal/fakecluster"
	"github.com/kgdiag/kgdiag/internal/wire"
)

// program is the kgdiag that is tried: KGDIAG_TEST_BINARY, or one built from this tree.
var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if program = os.Getenv("KGDIAG_TEST_BINARY"); program != "" {
			return m.Run()
		}
		dir, err := os.MkdirTemp("", "kgdiag-trust-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "kgdiag")
		if out, err := exec.Command("go", "build", "-o", program, "github.com/kgdiag/kgdiag").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// MiB is a unit of memory.
const MiB = 1 << 20

// ran is what a run of kgdiag did.
type ran struct {
	args     []string
	out, err string
	code     int
	took     time.Duration
	cpu      time.Duration
	peak     int64          // of memory, in bytes
	killed   syscall.Signal // by which it died; 0 for none
}

func (r ran) String() string {
	short := func(s string) string {
		if len(s) > 1500 {
			return s[:1500] + "…"
		}
		return s
	}
	return fmt.Sprintf("kgdiag %s: exit %d after %v, %d MiB\n%s%s", strings.Join(r.args, " "), r.code, r.took.Round(time.Millisecond), r.peak/MiB, short(r.out), short(r.err))
}

// setup is how a run differs from the usual one.
type setup struct {
	dir    string        // working directory and home
	env    []string      // more of the environment
	stdin  io.Reader     // nothing if nil
	stdout io.Writer     // kept if nil
	limit  time.Duration // after which it is killed; a minute if 0
}

// process is a kgdiag that runs.
type process struct {
	t        *testing.T
	cmd      *exec.Cmd
	began    time.Time
	out, err heard
	cancel   context.CancelFunc
	peak     atomic.Int64
	watched  chan struct{} // closed when peak is as it stays
}

// heard is what a process has written so far.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // closed at the next write
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.more != nil {
		close(h.more)
		h.more = nil
	}
	return h.text.Write(b)
}

// now is the text, and a channel that is closed when there is more.
func (h *heard) now() (string, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.more == nil {
		h.more = make(chan struct{})
	}
	return h.text.String(), h.more
}

// start runs kgdiag and goes on.
func start(t *testing.T, s setup, args ...string) *process {
	t.Helper()
	if s.limit == 0 {
		s.limit = time.Minute
	}
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	ctx, cancel := context.WithTimeout(t.Context(), s.limit)
	p := &process{t: t, cmd: exec.CommandContext(ctx, program, args...), began: time.Now(), cancel: cancel}
	p.cmd.Dir, p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = s.dir, s.stdin, s.stdout, &p.err
	if s.stdout == nil {
		p.cmd.Stdout = &p.out
	}
	p.cmd.Env = append([]string{"HOME=" + s.dir, "TZ=UTC", "NO_COLOR=1", "PATH=" + os.Getenv("PATH")}, s.env...)
	if err := p.cmd.Start(); err != nil {
		cancel()
		t.Fatalf("kgdiag %q: %v", args, err)
	}
	p.watched = make(chan struct{})
	go p.measure(ctx)
	return p
}

// measure notes the peak of memory while the process runs. What wait gives begins with the
// memory of whoever started it, and a test that plays a crowd takes much.
func (p *process) measure(ctx context.Context) {
	defer close(p.watched)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
		_, text, found := strings.Cut(string(b), "VmHWM:")
		if !found {
			return // it has ended, or there is no such file here
		}
		var kib int64
		if n, _ := fmt.Sscan(text, &kib); n == 1 {
			p.peak.Store(kib * 1024)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// until waits for a text in one of its streams, and gives what is behind it there.
func (p *process) until(h *heard, text string) string {
	p.t.Helper()
	for end := time.After(30 * time.Second); ; {
		said, more := h.now()
		if _, behind, found := strings.Cut(said, text); found {
			return behind
		}
		select {
		case <-more:
		case <-end:
			p.t.Fatalf("kgdiag %q does not say %q: %s", p.cmd.Args[1:], text, said)
		}
	}
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Errorf("kgdiag %q: %v", p.cmd.Args[1:], err)
	}
}

// wait is the end.
func (p *process) wait() ran {
	p.t.Helper()
	defer p.cancel()
	err := p.cmd.Wait()
	<-p.watched
	out, _ := p.out.now()
	errs, _ := p.err.now()
	r := ran{args: p.cmd.Args[1:], out: out, err: errs, took: time.Since(p.began), code: p.cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("kgdiag %q: %v", r.args, err)
	}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.killed = status.Signal()
	}
	r.cpu = p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
	r.peak = p.peak.Load()
	// One that has ended before it could be measured has had no time to take much, where that
	// is measured at all.
	if _, err := os.Stat("/proc/self/status"); err != nil {
		if usage, ok := p.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			r.peak = usage.Maxrss * 1024 // Linux counts in KiB
		}
	}
	return r
}

// kgdiag runs it once.
func kgdiag(t *testing.T, s setup, args ...string) ran {
	t.Helper()
	return start(t, s, args...).wait()
}

// sane is what holds of every run: no crash, and within limits.
func (r ran) sane(most time.Duration, memory int64) error {
	switch {
	case strings.Contains(r.err, "goroutine ") || strings.Contains(r.err, "panic:"):
		return fmt.Errorf("crashed: %s", r)
	case r.code < 0:
		return fmt.Errorf("did not end: %s", r)
	case r.took > most:
		return fmt.Errorf("took longer than %v: %s", most, r)
	case r.peak > memory:
		return fmt.Errorf("took more than %d MiB: %s", memory/MiB, r)
	}
	return nil
}

// stage is a simulated cluster behind a proxy.
type stage struct {
	*fakecluster.Cluster
	proxy *wire.Proxy
	b     string // for -b
	most  int64  // memory of a command, in bytes; 0: brokerMemory
}

// newStage starts one of so many brokers.
func newStage(t *testing.T, brokers int, opts ...fakecluster.Option) *stage {
	t.Helper()
	p, err := wire.New(brokers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	opts = append([]fakecluster.Option{fakecluster.Brokers(brokers), fakecluster.Advertise(p.Advertise), fakecluster.MinSession(300 * time.Millisecond),
		fakecluster.Topic("orders", 3)}, opts...)
	c, err := fakecluster.New(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	p.Serve(c.Addrs())
	return &stage{Cluster: c, proxy: p, b: p.Addrs()[0]}
}

// join adds a member to a group and waits until it is stable with so many.
func (s *stage) join(t *testing.T, group, client string, n int) *fakecluster.Member {
	t.Helper()
	m, err := s.Join(fakecluster.MemberConfig{Group: group, Topics: []string{"orders"}, ClientID: client, Session: time.Second, Rebalance: 5 * time.Second, Heartbeat: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.WaitStable(ctx, group, n); err != nil {
		t.Fatal(err)
	}
	return m
}

// evict has a group lose a member and go on with the other: two rebalances at least.
func (s *stage) evict(t *testing.T, group string) {
	t.Helper()
	s.join(t, group, "stays", 1)
	m := s.join(t, group, "goes", 2)
	m.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.WaitStable(ctx, group, 1); err != nil {
		t.Fatal(err)
	}
}

// hang never answers requests of these kinds.
func hang(keys ...int16) wire.Rule {
	return func(r wire.Request) wire.Action {
		for _, k := range keys {
			if r.Key == k {
				return wire.Action{Hang: true}
			}
		}
		return wire.Action{}
	}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
