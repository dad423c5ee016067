//go:build realkafka

package realtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// result is what one run of kgdiag gave.
type result struct {
	args           []string
	stdout, stderr string
	code           int
	took           time.Duration
}

func (r result) String() string {
	return fmt.Sprintf("kgdiag %s (exit %d, %s)\n%s%s", strings.Join(r.args, " "), r.code, r.took.Round(time.Millisecond), r.stdout, r.stderr)
}

// environment is what kgdiag gets: nothing of this machine may name a cluster.
func environment() []string {
	return append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "KGDIAG_") || strings.HasPrefix(kv, "KAFKA_")
	}), "TZ=UTC", "HOME="+os.TempDir())
}

// kgdiag runs the binary to its end.
func kgdiag(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = environment()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("kgdiag %s: %v", strings.Join(args, " "), err)
	}
	return result{args, stdout.String(), stderr.String(), cmd.ProcessState.ExitCode(), time.Since(begin)}
}

// wants fails the test unless kgdiag ended with the code.
func (r result) wants(t *testing.T, code int) result {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit %d, want %d:\n%s", r.code, code, r)
	}
	return r
}

// decode reads the JSON document on standard output.
func (r result) decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.stdout), into); err != nil {
		t.Fatalf("standard output is no JSON document: %v\n%s", err, r)
	}
}

// lineEvent is one line of `kgdiag watch -o json`, with all of its fields.
type lineEvent map[string]any

func (e lineEvent) text(key string) string { s, _ := e[key].(string); return s }

// watcher is a running `kgdiag watch -o json`.
type watcher struct {
	t      *testing.T
	cmd    *exec.Cmd
	done   chan struct{}
	stderr tail

	mu     sync.Mutex
	events []lineEvent
	news   chan struct{}
}

// watch starts `kgdiag watch` and waits for its first line.
func watch(t *testing.T, args ...string) *watcher {
	t.Helper()
	w := &watcher{t: t, cmd: exec.Command(binary, append([]string{"watch", "-o", "json"}, args...)...), done: make(chan struct{}), news: make(chan struct{})}
	w.cmd.Env = environment()
	w.cmd.Stderr = &w.stderr
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e lineEvent
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				e = lineEvent{"type": "broken", "line": lines.Text()}
			}
			w.mu.Lock()
			w.events = append(w.events, e)
			close(w.news)
			w.news = make(chan struct{})
			w.mu.Unlock()
		}
		_ = w.cmd.Wait()
		close(w.done)
	}()
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		<-w.done
		if t.Failed() {
			t.Logf("kgdiag %s:\n%s\n%s", strings.Join(w.cmd.Args[1:], " "), w.lines(), w.stderr.String())
		}
	})
	w.await("the line that starts", func(e lineEvent) bool { return e.text("type") == "start" })
	return w
}

func (w *watcher) seen() []lineEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

func (w *watcher) lines() string {
	var b strings.Builder
	for _, e := range w.seen() {
		line, _ := json.Marshal(e)
		fmt.Fprintf(&b, "%s\n", line)
	}
	return b.String()
}

// await waits for an event for which ok holds.
func (w *watcher) await(what string, ok func(lineEvent) bool) lineEvent {
	w.t.Helper()
	limit := time.After(patience)
	for {
		w.mu.Lock()
		news, events := w.news, slices.Clone(w.events)
		w.mu.Unlock()
		if i := slices.IndexFunc(events, ok); i >= 0 {
			return events[i]
		}
		select {
		case <-news:
		case <-w.done:
			w.t.Fatalf("kgdiag watch ended before %s", what)
		case <-limit:
			w.t.Fatalf("kgdiag watch: no %s within %s", what, patience)
		}
	}
}

// interrupt is Ctrl-C; it gives the exit code.
func (w *watcher) interrupt() int {
	w.t.Helper()
	_ = w.cmd.Process.Signal(syscall.SIGINT)
	select {
	case <-w.done:
	case <-time.After(10 * time.Second):
		w.t.Fatal("kgdiag watch: still runs 10 s after Ctrl-C")
	}
	return w.cmd.ProcessState.ExitCode()
}
