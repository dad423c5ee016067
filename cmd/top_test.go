//go:build !windows

package cmd_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	xterm "golang.org/x/term"

	"github.com/kgdiag/kgdiag/internal/fakecluster"
)

// terminal is a terminal with kgdiag running on it.
type terminal struct {
	t           *testing.T
	cmd         *exec.Cmd
	master, tty *os.File
	before      *xterm.State
	ended       chan error
	drained     chan struct{}
	answered    chan struct{}

	mu     sync.Mutex // the emulator
	emu    *vt.Emulator
	hidden bool
	copied string
}

// onTerminal starts kgdiag on a terminal of 80x24.
func onTerminal(t *testing.T, args ...string) *terminal {
	t.Helper()
	x := &terminal{t: t, emu: vt.NewEmulator(80, 24), ended: make(chan error, 1), drained: make(chan struct{}), answered: make(chan struct{})}
	var err error
	if x.master, x.tty, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	check(x.t, pty.Setsize(x.tty, &pty.Winsize{Cols: 80, Rows: 24}))
	if x.before, err = xterm.GetState(int(x.tty.Fd())); err != nil {
		t.Fatal(err)
	}
	x.emu.SetCallbacks(vt.Callbacks{CursorVisibility: func(visible bool) { x.hidden = !visible }})
	x.emu.RegisterOscHandler(52, func(data []byte) bool {
		_, text, _ := strings.Cut(strings.TrimPrefix(string(data), "52;"), ";")
		b, err := base64.StdEncoding.DecodeString(text)
		x.copied = string(b)
		return err == nil
	})
	go x.show()
	go x.answer()
	x.cmd = exec.Command("kgdiag", args...)
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = x.tty, x.tty, x.tty
	x.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=", "TZ=UTC", "HOME="+t.TempDir())
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	check(x.t, x.cmd.Start())
	go func() { x.ended <- x.cmd.Wait() }()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill() // it may have ended
		x.tty.Close()
		x.master.Close()
		<-x.drained
		_ = x.emu.InputPipe().(io.Closer).Close() // Close itself is no end for who reads at the time
		<-x.answered
		x.emu.Close()
	})
	return x
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// show draws what the program writes.
func (x *terminal) show() {
	defer close(x.drained)
	buf := make([]byte, 4096)
	for {
		n, err := x.master.Read(buf)
		x.mu.Lock()
		_, _ = x.emu.Write(buf[:n]) // an emulator takes everything
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// answer sends what a terminal answers to the program's questions.
func (x *terminal) answer() {
	defer close(x.answered)
	buf := make([]byte, 256)
	for {
		n, err := x.emu.Read(buf)
		if err != nil {
			return
		}
		if _, err := x.master.Write(buf[:n]); err != nil {
			return
		}
	}
}

// press types.
func (x *terminal) press(keys string) {
	x.t.Helper()
	_, err := x.master.Write([]byte(keys))
	check(x.t, err)
}

// screen is what the terminal shows.
func (x *terminal) screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.emu.String()
}

// await waits until the screen matches.
func (x *terminal) await(pattern string) string {
	x.t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.After(scriptTime)
	for {
		s := x.screen()
		if re.MatchString(s) {
			return s
		}
		select {
		case <-deadline:
			x.t.Fatalf("the screen never matched %q:\n%s", pattern, s)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// end waits for the end and holds the terminal to what it was before: the screen that a
// shell has, the cursor shown, keys echoed again. It gives the exit code.
func (x *terminal) end() int {
	x.t.Helper()
	var err error
	select {
	case err = <-x.ended:
	case <-time.After(scriptTime):
		x.t.Fatalf("it does not end:\n%s", x.screen())
	}
	check(x.t, func() error { _, err := x.tty.WriteString("\r\nthe shell again"); return err }())
	x.await("the shell again")
	after, stateErr := xterm.GetState(int(x.tty.Fd()))
	check(x.t, stateErr)
	if !reflect.DeepEqual(after, x.before) {
		x.t.Errorf("the terminal's mode was %+v and is %+v", x.before, after)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.emu.IsAltScreen() || x.hidden {
		x.t.Errorf("alternate screen %v, cursor hidden %v", x.emu.IsAltScreen(), x.hidden)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	check(x.t, err)
	return 0
}

// scrolled is all that the terminal has shown on its usual screen.
func (x *terminal) scrolled() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var b strings.Builder
	for i := range x.emu.ScrollbackLen() {
		for c := range x.emu.Width() {
			if cell := x.emu.ScrollbackCellAt(c, i); cell != nil {
				b.WriteString(cell.Content)
			}
		}
		b.WriteByte('\n')
	}
	return b.String() + x.emu.String()
}

// overrun is a cluster on which a member of orders has once taken longer between two
// polls than it may; billing is healthy.
func overrun(t *testing.T) *fakecluster.Cluster {
	t.Helper()
	c, err := fakecluster.New(fakecluster.ClusterID("scripted"), fakecluster.Topic("orders", 4))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	join := func(group, client, host string) *fakecluster.Member {
		m, err := c.Join(fakecluster.MemberConfig{Group: group, Topics: []string{"orders"}, ClientID: client, Host: host, Rebalance: 3 * time.Second, MaxPoll: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	wait := func(err error) { t.Helper(); check(t, err) }
	join("billing", "consumer-billing-1", "10.42.7.10")
	join("orders", "consumer-orders-1", "10.42.7.20")
	slow := join("orders", "consumer-orders-2", "10.42.7.21")
	wait(c.WaitStable(t.Context(), "orders", 2))
	wait(c.WaitStable(t.Context(), "billing", 1))
	wait(c.Feed("orders", 4, 100*time.Millisecond))
	for p := range int32(4) {
		wait(c.WaitCommitted(t.Context(), "orders", "orders", p, 10))
	}
	slow.Stall(6 * time.Second)
	wait(c.WaitStable(t.Context(), "orders", 1))
	wait(c.WaitStable(t.Context(), "orders", 2))
	return c
}

// The way of somebody on call: the worst group is on top, it is opened, the cause is
// there, the fix is copied, and on leaving the page of why stays on the terminal.
func TestTopOnATerminal(t *testing.T) {
	c := overrun(t)
	x := onTerminal(t, "top", "-b", c.Addrs()[0])
	first := x.await(`(?s)2 groups .*LIVE.*>orders +\w+ .*exceeded poll interval`)
	if !regexp.MustCompile(`billing +Stable`).MatchString(first) {
		t.Errorf("the healthy group is missing:\n%s", first)
	}
	x.press("\r")
	x.await(`(?s)-- orders: coordinator \d, session 45s, max poll 3s.*consumer-orders-2 .*WHY   client consumer-orders-2 \(10\.42\.7\.21\) probably needs longer.*FIX   if its host and what it calls are fast: max\.poll\.interval\.ms=300000`)
	x.press("y")
	x.await(`sent to the clipboard, of orders: max\.poll\.interval\.ms=300000`)
	x.mu.Lock()
	if x.copied != "# if its host and what it calls are fast\nmax.poll.interval.ms=300000" {
		t.Errorf("copied %q", x.copied)
	}
	x.emu.Resize(120, 40)
	x.mu.Unlock()
	check(x.t, pty.Setsize(x.tty, &pty.Winsize{Cols: 120, Rows: 40}))
	x.await(`(?m)^-- orders: .*-{20}$`)
	x.press("?")
	x.await(`copy the setting to change`)
	x.press("q")
	x.press("w")
	x.await(`(?s)orders  UNSTABLE: .*trade-off`)
	x.press("q")
	x.await(`-- orders: `)
	x.press("q")
	if code := x.end(); code != 0 {
		t.Errorf("exit %d", code)
	}
	page := x.scrolled()
	if !regexp.MustCompile(`(?s)orders  UNSTABLE: .*WHY   client consumer-orders-2 .*FIX   if its host and what it calls are fast: max\.poll\.interval\.ms=300000.*next  kgdiag watch orders`).MatchString(page) {
		t.Errorf("the page of why does not stay:\n%s", page)
	}
}

// What a consumer's files say is on the screen: its settings at once, and its log as it
// grows, which makes of a likely cause a stated one.
func TestTopReadsFilesBeside(t *testing.T) {
	c, dir := overrun(t), t.TempDir()
	settings, log := filepath.Join(dir, "orders.properties"), filepath.Join(dir, "app.log")
	write := func(name, text string) { t.Helper(); check(t, os.WriteFile(name, []byte(text), 0o600)) }
	write(settings, "bootstrap.servers=kafka:9092\ngroup.id=orders\nkey.deserializer=a.B\nvalue.deserializer=a.B\nheartbeat.interval.ms=50000\n")
	const line = "[%s %s,000] %s [Consumer clientId=consumer-orders-2, groupId=orders] %s (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
	started := fmt.Sprintf(line, time.Now().UTC().Format(time.DateOnly), "00:00:01", "INFO", "Revoke previously assigned partitions ")
	write(log, started)
	x := onTerminal(t, "top", "orders", "-b", c.Addrs()[0], "--log", log, "-f", settings)
	x.await(`>orders +\w+ .*exceeded poll interval`)
	x.press("\r")
	pane := x.await(`(?s)WHY   client consumer-orders-2 .*likely, inferred.*ALSO  KGD\d+ .*heartbeat\.interval\.ms`)
	left := regexp.MustCompile(`(\d\d:\d\d:\d\d)  gen \d+ +exceeded poll interval`).FindStringSubmatch(pane)
	if left == nil {
		t.Fatalf("no rebalance in the feed:\n%s", pane)
	}
	write(log, started+fmt.Sprintf(line, time.Now().UTC().Format(time.DateOnly), left[1], "WARN", "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages."))
	x.await(`exceeded poll interval, stated`)
	x.press("q")
	if code := x.end(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if page := x.scrolled(); !regexp.MustCompile(`(?s)stated( 1 of \d times)?: by a log line.*app\.log:2: .*next  kgdiag watch orders -b \S+ --log /`).MatchString(page) {
		t.Errorf("the page of why does not go by the files:\n%s", page)
	}
	out, err := exec.Command("kgdiag", "top", "-b", c.Addrs()[0], "--log", filepath.Join(dir, "none.log")).CombinedOutput()
	if err == nil {
		t.Errorf("a log that is not there:\n%s", out)
	}
}

// A signal ends it like a key, with the terminal restored; a cluster that goes away is
// said, and takes neither the screen nor what was known with it.
func TestTopWithoutItsClusterAndTerminated(t *testing.T) {
	c := overrun(t)
	x := onTerminal(t, "top", "orders", "billing", "-b", c.Bootstrap())
	x.await(`(?s)LIVE.*>orders +\w+ .*exceeded poll interval`)
	for id := range int32(3) {
		check(x.t, c.StopBroker(id))
	}
	x.await(`(?s)NO ANSWER.*orders +no answer \d+s`)
	check(x.t, x.cmd.Process.Signal(syscall.SIGTERM))
	if code := x.end(); code != 3 {
		t.Errorf("exit %d, want 3\n%s", code, x.scrolled())
	}
	if page := x.scrolled(); !regexp.MustCompile(`(?s)WORST CAUSE.*orders .*exceeded poll interval.*next  kgdiag why orders.*kgdiag: terminated`).MatchString(page) {
		t.Errorf("what was known is lost:\n%s", page)
	}
}

// Without a terminal there is no screen: watch says the same as lines.
func TestTopNeedsATerminal(t *testing.T) {
	for _, args := range [][]string{{"top", "-b", "127.0.0.1:1"}, {"top", "-b", "127.0.0.1:1", "-o", "json"}} {
		out, err := exec.Command("kgdiag", args...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "kgdiag watch") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

// A password is asked for on the terminal, and not shown while it is typed.
func TestAPasswordIsAskedForOnATerminal(t *testing.T) {
	x := onTerminal(t, "locate", "orders", "-b", "127.0.0.1:1", "--timeout", "1s", "-X", "security.protocol=SASL_PLAINTEXT", "-X", "sasl.mechanism=PLAIN", "-X", "sasl.username=sre")
	x.await(`(?i)password.*:`)
	x.press("verysecret\r")
	if code := x.end(); code != 3 {
		t.Errorf("exit %d, want 3: nobody listens there", code)
	}
	if s := x.scrolled(); strings.Contains(s, "verysecret") {
		t.Errorf("shown:\n%s", s)
	}
}
