//go:build linux

package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/internal/wire"
)

// runs are commands of every kind, the ones that ask a cluster and the others.
func runs() [][]string {
	return append(slices.Clone(live), []string{"describe", "--all-groups"}, []string{"watch", "orders", "--for", "20s"}, []string{"why", "orders", "--for", "3s"},
		[]string{"demo"}, []string{"version"}, []string{"explain"}, []string{"explain", "KGD105"}, []string{"help"}, []string{"help", "flags"}, []string{"completion", "bash"}, []string{"locate", "--offline", "--partitions", "50", "orders"}, nil)
}

// TestOutputThatIsFull: where the result cannot be written, that is said, and the exit code
// is that of a run that was not completed, in every form.
func TestOutputThatIsFull(t *testing.T) {
	s := newStage(t, 1)
	s.evict(t, "orders")
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	n := 0
	for _, words := range runs() {
		for _, form := range []string{"table", "json"} {
			r := kgdiag(t, setup{stdout: full, env: []string{"KGDIAG_BOOTSTRAP_SERVER=" + s.b, "KGDIAG_OUTPUT=" + form}}, words...)
			if r.code == 2 {
				continue // a form that the command has not
			}
			n++
			if err := r.sane(15*time.Second, brokerMemory); err != nil {
				t.Error(err)
			}
			if r.code != 3 || !strings.Contains(r.err, "no space left on device") || strings.Count(r.err, "no space left") != 1 {
				t.Errorf("-o %s: want exit 3 and one error: %s", form, r)
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d runs", n)
	}
	t.Logf("%d runs", n)
}

// TestRecordReplacesFilesOnly: whatever --force says, a device, a pipe or a folder stays
// what it is.
func TestRecordReplacesFilesOnly(t *testing.T) {
	s := newStage(t, 1)
	s.evict(t, "orders")
	dir := t.TempDir()
	pipe, folder := filepath.Join(dir, "pipe"), filepath.Join(dir, "folder")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Mkdir(folder, 0o700), os.Symlink(pipe, filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, folder, filepath.Join(dir, "link")} {
		before, err := os.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range [][]string{{"record", "orders", "--force"}, {"watch", "orders", "--for", "1s"}} {
			r := kgdiag(t, setup{}, append(words, "--to", name, "-b", s.b)...)
			after, err := os.Lstat(name)
			if err != nil || after.Mode() != before.Mode() || r.code != 2 || !strings.Contains(r.err, name) {
				t.Errorf("%v, then %v, %v: %s", before.Mode(), after.Mode(), err, r)
			}
		}
	}
	if r := kgdiag(t, setup{}, "record", "orders", "--to", filepath.Join(dir, "missing", "x.kgcase"), "-b", s.b); r.code != 2 || !strings.Contains(r.err, "missing") {
		t.Errorf("a folder that is not there: %s", r)
	}
}

// TestStreamsThatAreClosed: without a standard input, output or error a command does what
// it can; it does not crash, hang, or write into a file that took the place of a stream.
func TestStreamsThatAreClosed(t *testing.T) {
	t.Parallel()
	s := newStage(t, 1)
	s.evict(t, "orders")
	for _, words := range runs() {
		if len(words) > 1 && slices.Contains(words, "20s") {
			words = []string{"watch", "orders", "--for", "1s"}
		}
		for _, closed := range []string{"<&-", "<&- >&- 2>&-"} {
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `exec "$0" "$@" ` + closed, program}, words...)...)
			cmd.Dir, cmd.WaitDelay = dir, 20*time.Second
			cmd.Env = []string{"HOME=" + dir, "TZ=UTC", "PATH=" + os.Getenv("PATH"), "KGDIAG_BOOTSTRAP_SERVER=" + s.b}
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			// What a process of Go is started without, it opens as /dev/null.
			if code := cmd.ProcessState.ExitCode(); code != 0 || strings.Contains(errs.String(), "goroutine ") {
				t.Errorf("kgdiag %q %s: exit %d\n%s", words, closed, code, errs.String())
			}
			if len(words) > 0 && words[0] == "record" {
				if k := kgdiag(t, setup{dir: dir}, "history", "orders", "--from", "x.kgcase"); k.code != 0 || !strings.Contains(k.out, "orders") {
					t.Errorf("%s: what was kept: %s", closed, k)
				}
			}
		}
	}
	// Group ids on a standard input that is closed: an error, not a wait.
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `exec "$0" locate --offline --partitions 50 - <&-`, program)
	cmd.Env = []string{"HOME=" + t.TempDir()}
	if b, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("no input, and no error: %s", b)
	}
}

// long are the commands that run until they are told to end, or for a while, and what
// shows that they have begun.
var long = []struct {
	words []string
	begun string // "" where nothing is said before the end
	keeps string // file in which what was seen is kept
	sum   string // what the end says
}{
	{[]string{"watch", "orders", "--for", "1m"}, "states every", "", "orders 0 rebalances"},
	{[]string{"watch", "--all-groups"}, "states every", "", "orders 0 rebalances"},
	{[]string{"watch", "orders", "--to", "seen.kgcase", "--for", "1m", "--since", "10m"}, "gen 3", "seen.kgcase", "orders 0 rebalances"},
	{[]string{"watch", "orders", "-o", "json"}, `"start"`, "", `"type":"end"`},
	{[]string{"record", "orders", "--for", "1m", "--to", "recorded.kgcase"}, "", "recorded.kgcase", "holds"},
	{[]string{"why", "orders", "--for", "1m"}, "", "", "orders"},
}

// TestSignals: the first signal of each kind ends a long run with what it saw. Exit 0 from
// the keyboard and where no end was asked for, 3 where --for was cut short.
func TestSignals(t *testing.T) {
	s := newStage(t, 1)
	s.evict(t, "orders")
	n := 0
	for _, l := range long {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			dir := t.TempDir()
			s.proxy.Reset()
			p := start(t, setup{dir: dir}, append(slices.Clone(l.words), "-b", s.b)...)
			if l.begun != "" {
				p.until(&p.out, l.begun)
			} else {
				s.polled(t, 4)
			}
			sent := time.Now()
			p.signal(sig)
			r := p.wait()
			n++
			want := 3
			if sig == syscall.SIGINT || !slices.Contains(l.words, "1m") { // nothing was cut short
				want = 0
			}
			if r.code != want || r.killed != 0 || !strings.Contains(r.out, l.sum) {
				t.Errorf("%v: want exit %d and %q: killed by %v: %s", sig, want, l.sum, r.killed, r)
			}
			if took := time.Since(sent); took > 5*time.Second {
				t.Errorf("%v: ended %v later: %s", sig, took, r)
			}
			if l.keeps != "" {
				k := kgdiag(t, setup{dir: dir}, "history", "orders", "--from", l.keeps, "-o", "json")
				var doc struct {
					Groups []struct{ Rebalances []any }
				}
				if err := json.Unmarshal([]byte(k.out), &doc); err != nil || k.code != 0 || len(doc.Groups) != 1 || len(doc.Groups[0].Rebalances) < 2 {
					t.Errorf("%v: what was kept: %v: %s", sig, err, k)
				}
			}
		}
	}
	t.Logf("%d signals", n)
}

// polled waits until the group has been described so often, as while a command looks.
func (s *stage) polled(t *testing.T, times int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		n := 0
		for _, r := range s.proxy.Requests() {
			if r.Key == 15 || r.Key == 69 {
				n++
			}
		}
		if n >= times {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("described %d times", n)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// TestASecondSignalEndsAtOnce: whatever a run waits for, the second signal is not asked.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	s := newStage(t, 1)
	s.evict(t, "orders")
	p := start(t, setup{}, "watch", "orders", "-b", s.b)
	p.until(&p.out, "states every")
	s.proxy.Rule(hang())
	p.signal(syscall.SIGTERM)
	for range 50 {
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			break // it has ended
		}
	}
	if r := p.wait(); r.took > 10*time.Second || r.killed == 0 && r.code != 0 {
		t.Errorf("killed by %v: %s", r.killed, r)
	}
}

// TestReadersThatGoAway: a pipe that nobody reads ends every run with 0 and without a
// word; the signal itself, from wherever it comes, ends none.
func TestReadersThatGoAway(t *testing.T) {
	s := newStage(t, 1)
	s.evict(t, "orders")
	for _, l := range long {
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		s.proxy.Reset()
		words := slices.Clone(l.words)
		for i := range words {
			if words[i] == "1m" {
				words[i] = "4s"
			}
		}
		p := start(t, setup{dir: dir, stdout: out}, append(words, "-b", s.b)...)
		out.Close()
		if l.begun != "" {
			if err := readUntil(in, l.begun); err != nil {
				t.Error(err)
			}
		} else {
			s.polled(t, 4)
		}
		p.signal(syscall.SIGPIPE)
		in.Close()
		m := s.join(t, "orders", "late", 2) // a watch has something to write
		r := p.wait()
		m.Leave()
		if r.code != 0 || r.killed != 0 || strings.Contains(r.err, "output") {
			t.Errorf("killed by %v: %s", r.killed, r)
		}
		if l.keeps != "" {
			if k := kgdiag(t, setup{dir: dir}, "history", "orders", "--from", l.keeps); k.code != 0 || !strings.Contains(k.out, "orders") {
				t.Errorf("what was kept: %s", k)
			}
		}
	}
}

// readUntil reads until a text has come.
func readUntil(in io.Reader, text string) error {
	var b strings.Builder
	buf := make([]byte, 1024)
	for !strings.Contains(b.String(), text) {
		n, err := in.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return fmt.Errorf("%q has not come: %w: %s", text, err, b.String())
		}
	}
	return nil
}

// TestAWatchThatEndsBeforeItHasReadSaysSo: what was kept does not call an unread past calm.
func TestAWatchThatEndsBeforeItHasReadSaysSo(t *testing.T) {
	s := newStage(t, 1)
	s.evict(t, "orders")
	s.proxy.Rule(only(wire.Action{Delay: time.Second}, 1))
	dir := t.TempDir()
	p := start(t, setup{dir: dir}, "watch", "orders", "--to", "seen.kgcase", "-b", s.b)
	p.until(&p.out, "states every")
	sent := time.Now()
	p.signal(syscall.SIGINT)
	if r := p.wait(); r.code != 0 || time.Since(sent) > 5*time.Second {
		t.Errorf("exit %d, %v after the signal: %s", r.code, time.Since(sent), r)
	}
	for words, want := range map[string]string{"history orders": "its past was not read", "why orders": "UNKNOWN", "history orders -o json": `"rebalances": null`} {
		r := kgdiag(t, setup{dir: dir}, append(strings.Fields(words), "--from", "seen.kgcase")...)
		if strings.Contains(r.out, "0 rebalances") || strings.Contains(r.out, "no rebalance in") || !strings.Contains(r.out, want) {
			t.Errorf("want %q: %s", want, r)
		}
	}
}
