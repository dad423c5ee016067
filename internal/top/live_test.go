//go:build !windows

package top

import (
	"context"
	"errors"
	"io"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/fakecluster"
	"github.com/kgdiag/kgdiag/internal/render"
)

// cluster is a simulated cluster with a topic.
func cluster(t *testing.T) *fakecluster.Cluster {
	t.Helper()
	c, err := fakecluster.New(fakecluster.Topic("work", 4), fakecluster.MinSession(300*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func join(t *testing.T, c *fakecluster.Cluster, group, client string, members int) *fakecluster.Member {
	t.Helper()
	m, err := c.Join(fakecluster.MemberConfig{Group: group, Topics: []string{"work"}, ClientID: client, Session: time.Second, Heartbeat: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := c.WaitStable(ctx, group, members); err != nil {
		t.Fatal(err)
	}
	return m
}

// configFor is a screen of this cluster without a terminal.
func configFor(t *testing.T, c *fakecluster.Cluster, groups ...string) Config {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Addrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	scanner := &offsetlog.Scanner{Client: cl}
	collector := collect.New(cl, collect.Options{Log: scanner, Bootstrap: c.Bootstrap()})
	sel := collect.Selection{Groups: groups, All: len(groups) == 0}
	return Config{Since: time.Hour, Timeout: 10 * time.Second, Now: time.Now, Zone: time.UTC,
		Watch:  watch.Config{Collector: collector, Scanner: scanner, Selection: sel, Now: time.Now},
		Reader: past.Reader{Collector: collector, Scanner: scanner},
		Head:   func(inspect.Cluster) render.Line { return render.L("test") },
		Page:   func(*inspect.Case, *diagnose.Diagnosis) []render.Line { return nil }}
}

// headless is a screen that nobody draws.
type headless struct {
	t  *testing.T
	mu sync.Mutex
	m  Model
}

// watching starts the reading side of a screen; it ends with the test.
func watching(t *testing.T, cfg Config) *headless {
	t.Helper()
	w := watch.New(cfg.Watch)
	info, err := w.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := &headless{t: t, m: newModel(&cfg, info)}
	l := newLive(&cfg, w, h.send)
	h.m.show = l.show
	h.send(tea.WindowSizeMsg{Width: 120, Height: 30})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the watch ended with %v", err)
		}
	})
	return h
}

// send hands a message to the model.
func (h *headless) send(msg tea.Msg) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next, _ := h.m.Update(msg)
	h.m = next.(Model)
}

// await waits until the screen matches.
func (h *headless) await(pattern string) {
	h.t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.After(30 * time.Second)
	for {
		h.send(tickMsg(time.Now()))
		h.mu.Lock()
		frame := text(h.m)
		h.mu.Unlock()
		if re.MatchString(frame) {
			return
		}
		select {
		case <-deadline:
			h.t.Fatalf("the screen never matched %q:\n%s", pattern, frame)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// What happens to the opened group, and groups that come later, are seen as they happen.
func TestTheScreenFollowsTheCluster(t *testing.T) {
	c := cluster(t)
	join(t, c, "orders", "stays", 1)
	goes := join(t, c, "orders", "goes", 2)
	h := watching(t, configFor(t, c))
	h.await(`(?s)1 group .*LIVE.*>orders +Stable +2 +2 +\S+ +2 `)
	h.send(press("enter")[0])
	h.await(`(?s)session 1s.* goes +.*= .* stays +.*= `)
	goes.Kill()
	h.await(`(?s)>orders +Stable +\d+ +1 .* goes +.*(OUT|left \d).*gen \d+ +.*-goes`)
	join(t, c, "late", "new", 1)
	h.await(`late +Stable +\d+ +1`)
}

// Where the log may not be read, the screen says so and claims no number of rebalances.
func TestTheScreenWithoutTheLog(t *testing.T) {
	c := cluster(t)
	c.DenyOffsetsRead()
	join(t, c, "orders", "a", 1)
	h := watching(t, configFor(t, c, "orders"))
	h.await(`>orders +Stable +\S+ +1 +\S+ +-  +-  -`)
	h.send(press("enter")[0])
	h.await(`WHY   the past is not known: .*denied`)
}

// A group that does not exist yet has a row that says so, until it comes.
func TestTheScreenWaitsForAGroup(t *testing.T) {
	c := cluster(t)
	join(t, c, "orders", "a", 1)
	h := watching(t, configFor(t, c, "late"))
	h.await(`late +no such group`)
	join(t, c, "late", "b", 1)
	h.await(`late +Stable`)
}

// ours are the goroutines of the screen and of what reads for it.
func ours() string {
	buf := make([]byte, 1<<20)
	var out []string
	for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		for _, pkg := range []string{"kgdiag/internal/top.(*live)", "kgdiag/inspect/", "charm.land/bubbletea"} {
			if strings.Contains(g, pkg) && !strings.Contains(g, "testing.tRunner") {
				out = append(out, g)
				break
			}
		}
	}
	return strings.Join(out, "\n\n")
}

// Whoever leaves leaves nothing behind: when Run returns, nobody reads or dials any more.
func TestLeavingEndsEveryGoroutine(t *testing.T) {
	c := cluster(t)
	join(t, c, "orders", "a", 1)
	for name, leave := range map[string]func(io.Writer, func()) error{
		"key":     func(keys io.Writer, _ func()) error { _, err := io.WriteString(keys, "\rq"); return err },
		"context": func(_ io.Writer, cancel func()) error { cancel(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := configFor(t, c)
			keys, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer keys.Close()
			defer tty.Close()
			if err := pty.Setsize(tty, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
				t.Fatal(err)
			}
			out := &seen{}
			go func() { _, _ = io.Copy(out, keys) }() // until it is closed
			cfg.In, cfg.Out = tty, tty
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			var r *Result
			go func() {
				var err error
				r, err = Run(ctx, cfg)
				ended <- err
			}()
			out.await(t, "orders")
			if err := leave(keys, cancel); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if len(r.Groups) != 1 || r.Groups[0] != "orders" || r.Case == nil {
				t.Errorf("left with %+v", r)
			}
			deadline := time.After(5 * time.Second)
			for left := ours(); left != ""; left = ours() {
				select {
				case <-deadline:
					t.Fatalf("still there:\n%s", left)
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
	}
}

// A fault in a goroutine ends the screen with an error that names it, instead of the
// process with the terminal as it is.
func TestAFaultEndsTheScreen(t *testing.T) {
	var got tea.Msg
	l := newLive(&Config{}, nil, func(m tea.Msg) { got = m })
	func() {
		defer l.guard()
		var none []int
		_ = none[len(none)]
	}()
	end, ok := got.(endedMsg)
	if !ok || !strings.Contains(end.err.Error(), "internal error") || !strings.Contains(end.err.Error(), "index out of range") {
		t.Fatalf("got %v", got)
	}
	next, cmd := screen(t, 80, 24, false).Update(end)
	if cmd == nil || !errors.Is(next.(Model).err, end.err) {
		t.Error("the screen goes on")
	}
}

// seen is an output that can be waited for.
type seen struct {
	mu  sync.Mutex
	all strings.Builder
}

func (s *seen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(b)
}

func (s *seen) await(t *testing.T, what string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		s.mu.Lock()
		found := strings.Contains(s.all.String(), what)
		s.mu.Unlock()
		if found {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%q is never shown", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
