package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// runner stands for the kgdiag commands: it keeps what it was asked to run.
type runner struct {
	mu   sync.Mutex
	runs [][]string
	code map[string]int
	on   func(args []string)
}

func (r *runner) run(_ context.Context, args []string) int {
	r.mu.Lock()
	r.runs = append(r.runs, args)
	r.mu.Unlock()
	if r.on != nil {
		r.on(args)
	}
	return r.code[args[0]]
}

func (r *runner) commands() string {
	var out []string
	for _, a := range r.runs {
		out = append(out, a[0])
	}
	return strings.Join(out, " ")
}

func TestTourTellsTheStoryInOrder(t *testing.T) {
	r := &runner{code: map[string]int{"advise": 1}}
	var out bytes.Buffer
	err := Tour(t.Context(), Options{warmUp: time.Millisecond, Out: &out, Run: r.run, Program: "kgdiag"})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.commands(); got != "locate describe watch history why why advise" {
		t.Errorf("commands %q", got)
	}
	text := out.String()
	if !strings.HasPrefix(text, FirstLine+"\n") || !strings.Contains(FirstLine, "simulated") {
		t.Errorf("the first line does not say that the cluster is simulated: %q", text)
	}
	for _, want := range []string{"imitates Java", "1/7", "7/7", "$ kgdiag watch orders payments --for 10s -b 127.0.0.1:", "exit code 1: a finding of severity error", "kgdiag demo --serve"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
}

func TestTourLeavesOutWhatTheBuildLacks(t *testing.T) {
	r := &runner{}
	var out bytes.Buffer
	if err := Tour(t.Context(), Options{warmUp: time.Millisecond, Out: &out, Run: r.run, Has: func(c string) bool { return c != "why" && c != "history" }}); err != nil {
		t.Fatal(err)
	}
	if got := r.commands(); got != "locate describe watch advise" || !strings.Contains(out.String(), "4/4") || strings.Contains(out.String(), "why -b") {
		t.Errorf("commands %q in\n%s", got, out.String())
	}
}

func TestTourReportsCommandsThatFail(t *testing.T) {
	r := &runner{code: map[string]int{"describe": 3, "advise": 1}}
	var out bytes.Buffer
	err := Tour(t.Context(), Options{warmUp: time.Millisecond, Out: &out, Run: r.run})
	if err == nil || !strings.Contains(err.Error(), "describe ended with exit code 3") || strings.Contains(err.Error(), "advise") {
		t.Errorf("error %v", err)
	}
	if r.commands() != "locate describe watch history why why advise" {
		t.Errorf("the tour stopped: %s", r.commands())
	}
}

// TestClusterMisbehavesAsTold asks the cluster while a step runs.
func TestClusterMisbehavesAsTold(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	seen := map[string]map[int]bool{stalls: {}, flaps: {}, healthy: {}}
	r := &runner{on: func(args []string) {
		if args[0] != "watch" {
			return
		}
		cl, err := kgo.NewClient(kgo.SeedBrokers(args[len(args)-1]))
		if err != nil {
			t.Error(err)
			return
		}
		defer cl.Close()
		for !seen[stalls][2] || !seen[flaps][1] {
			gs, err := kadm.NewClient(cl).DescribeGroups(ctx, stalls, flaps, healthy)
			if err != nil {
				t.Error(err)
				return
			}
			for _, g := range gs.Sorted() {
				if g.State == "Stable" {
					seen[g.Group][len(g.Members)] = true
				}
				for _, m := range g.Members {
					if !strings.HasPrefix(m.ClientHost, "/10.42.7.") || !strings.HasPrefix(m.ClientID, "consumer-"+g.Group+"-") {
						t.Errorf("member %s at %s", m.ClientID, m.ClientHost)
					}
				}
			}
			select {
			case <-ctx.Done():
				t.Errorf("nobody left: %v", seen)
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}}
	if err := Tour(ctx, Options{warmUp: time.Millisecond, Out: io.Discard, Run: r.run}); err != nil {
		t.Fatal(err)
	}
	if len(seen[healthy]) != 1 || !seen[healthy][2] {
		t.Errorf("the healthy group had %v members", seen[healthy])
	}
}

func TestTourEndsWhereverItIsCancelled(t *testing.T) {
	for _, at := range []string{"", "locate", "watch", "advise"} {
		t.Run("in "+at, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			if at == "" {
				cancel()
			}
			r := &runner{on: func(args []string) {
				if args[0] == at {
					cancel()
				}
			}}
			var out bytes.Buffer
			if err := Tour(ctx, Options{warmUp: time.Millisecond, Out: &out, Run: r.run}); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			if at != "" && !strings.HasSuffix(r.commands(), at) {
				t.Errorf("commands went on: %s", r.commands())
			}
			if !strings.HasPrefix(out.String(), FirstLine) {
				t.Errorf("no first line: %q", out.String())
			}
		})
	}
}

// failing is a stream that takes n writes.
type failing struct{ n int }

var errFull = errors.New("no space left on device")

func (f *failing) Write(b []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestTourEndsWhenItsOutputFails(t *testing.T) {
	for _, n := range []int{0, 3, 4, 7} {
		r := &runner{}
		if err := Tour(t.Context(), Options{warmUp: time.Millisecond, Out: &failing{n}, Run: r.run}); !errors.Is(err, errFull) {
			t.Errorf("after %d writes: error %v", n, err)
		}
		if len(r.runs) > 2 {
			t.Errorf("after %d writes it ran %s", n, r.commands())
		}
	}
}

func TestServeKeepsTheClusterUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rd, wr := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := Serve(ctx, Options{warmUp: time.Millisecond, Out: wr, Program: "kgdiag"})
		wr.Close()
		done <- err
	}()
	var text strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(text.String(), "Ctrl-C ends it") {
		n, err := rd.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(buf[:n])
	}
	_, rest, _ := strings.Cut(text.String(), "brokers: ")
	addrs, _, _ := strings.Cut(rest, "\n")
	cl, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(addrs, ",")...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if ls, err := kadm.NewClient(cl).ListGroups(ctx); err != nil || len(ls) != 3 {
		t.Errorf("groups %v, %v", ls.Groups(), err)
	}
	cancel()
	go func() { _, _ = io.Copy(io.Discard, rd) }()
	if err := <-done; err != nil {
		t.Errorf("Serve ended with %v", err)
	}
	if cl.Ping(context.Background()) == nil {
		t.Error("the cluster outlived Serve")
	}
}
