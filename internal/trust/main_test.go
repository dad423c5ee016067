package trust

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	peak     int64 // of memory, in bytes
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
	dir   string        // working directory and home
	env   []string      // more of the environment
	stdin string        //
	limit time.Duration // after which it is killed; a minute if 0
}

// kgdiag runs it once.
func kgdiag(t *testing.T, s setup, args ...string) ran {
	t.Helper()
	if s.limit == 0 {
		s.limit = time.Minute
	}
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	ctx, cancel := context.WithTimeout(t.Context(), s.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdin = s.dir, strings.NewReader(s.stdin)
	cmd.Env = append([]string{"HOME=" + s.dir, "TZ=UTC", "NO_COLOR=1", "PATH=" + os.Getenv("PATH")}, s.env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	err := cmd.Run()
	r := ran{args: args, out: out.String(), err: errs.String(), took: time.Since(began)}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("kgdiag %q: %v", args, err)
	}
	r.code = cmd.ProcessState.ExitCode()
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.peak = usage.Maxrss * 1024 // Linux counts in KiB
	}
	return r
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
	return &stage{c, p, p.Addrs()[0]}
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
