//go:build realkafka

package realtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kgdiag/kgdiag/internal/wire"
)

// What each command does while something breaks. Held of every cell of the table: the
// command ends within --timeout and a tenth, without a crash; what it shows is what was
// before the break, or it says what it could not read; exit 0 with less than all, and no
// word of it, is a lie.

const (
	breakTimeout = 5 * time.Second
	breakFor     = 3 * time.Second // of commands that look for a while
	breakGrace   = 2 * time.Second // for the start of nine processes at once on a busy machine
)

// looked is a command of the table, with what a whole answer holds (of a healthy run).
type looked struct {
	words string
	holds []string
	past  bool // it counts all rebalances of the group
}

// rebalanced is where a command counts the rebalances of a group.
var rebalanced = regexp.MustCompile(`\b(\d+) rebalances`)

// broken is a stage of the table: a group with a past on a cluster, and how to reach it.
type broken struct {
	c       *cluster
	group   string
	connect []string // flags; -b of the cluster if empty
	rows    []looked
	known   int // rebalances of the group before the break
	cells   *atomic.Int64
	silent  *atomic.Int64 // cells that told nothing though something was missing
}

// newBroken makes a group with three rebalances in its past and one member that stays.
func newBroken(t *testing.T, c *cluster) *broken {
	t.Helper()
	b := &broken{c: c, group: name("breaks"), known: 3, cells: new(atomic.Int64), silent: new(atomic.Int64)}
	topic := name("breaks")
	c.topic(topic, 4)
	c.produce(topic, 20)
	join := func(id string) *kgo.Client {
		cl := c.client(kgo.ConsumerGroup(b.group), kgo.ConsumeTopics(topic), kgo.ClientID(id), kgo.Balancers(kgo.RangeBalancer()), kgo.HeartbeatInterval(500*time.Millisecond), kgo.SessionTimeout(45*time.Second))
		go func() {
			for !cl.PollFetches(t.Context()).IsClientClosed() && t.Context().Err() == nil {
			}
		}()
		return cl
	}
	members := func(n int) {
		eventually(t, time.Minute, fmt.Sprintf("%s has %d members at rest", b.group, n), func() error {
			r := kgdiag(t, "describe", b.group, "-b", c.bootstrap)
			if !strings.Contains(r.stdout, "Stable") || strings.Count(r.stdout, topic+":") != n {
				return fmt.Errorf("%s", r)
			}
			return nil
		})
	}
	join("stays")
	members(1)
	more := join("goes")
	members(2)
	more.Close()
	members(1)
	b.rows = []looked{
		{words: "locate " + b.group, holds: []string{b.group, "agrees"}},
		{words: "describe " + b.group, holds: []string{"Stable", "stays"}},
		{words: "why " + b.group, past: true},
		{words: "why", holds: []string{" rebalances in "}}, // other tests' groups may be worse, and the list ends after the worst
		{words: "history " + b.group, past: true},
		{words: "watch " + b.group + " --for " + breakFor.String(), holds: []string{"end "}},
		{words: "check", holds: []string{"fully"}},
		{words: "record " + b.group + " --to " + filepath.Join(t.TempDir(), "x.kgcase"), past: true},
		{words: "why " + b.group + " --for " + breakFor.String(), past: true},
		{words: "top " + b.group, holds: []string{b.group}},
	}
	return b
}

// lacks are the words by which a command says that something was not read, or is not as it
// should be.
var lacks = []string{"not read", "could not", "timed out", "time that --timeout", "no answer", "not answer", "LOST", "UNKNOWN", "unknown", "FAIL", "partly", "incomplete", "did not", "not connected",
	"denied", "unverified", "no leader", "not reached", "cannot", "refused", "failed", "does not list", "nothing works", "moved", "no broker", "died", "unavailable", "not available", "expired", "closed"}

// whole reports whether a run shows what was there before the break: of rebalances all that
// were known, and those that the break has made.
func (b *broken) whole(l looked, r result) bool {
	if l.past && counted(r) < b.known {
		return false
	}
	return !slices.ContainsFunc(l.holds, func(w string) bool { return !strings.Contains(r.stdout, w) })
}

// counted is how many rebalances a run tells of the group; -1 where it tells no number.
func counted(r result) int {
	m := rebalanced.FindStringSubmatch(r.stdout)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1]) // digits
	return n
}

// each runs all commands at once, and judges them. The break is under way, or midway is
// called a second after their start.
func (b *broken) each(t *testing.T, midway func()) {
	t.Helper()
	var wg sync.WaitGroup
	results := make([]result, len(b.rows))
	for i, row := range b.rows {
		args := append(strings.Fields(row.words), b.flags()...)
		if strings.HasPrefix(row.words, "record") {
			args[3] += strconv.FormatInt(b.cells.Load(), 10) // a name of its own
		}
		wg.Go(func() {
			if strings.HasPrefix(row.words, "top") {
				results[i] = onScreen(t, args...)
				return
			}
			results[i] = kgdiag(t, args...)
		})
	}
	if midway != nil {
		time.Sleep(time.Second)
		midway()
	}
	wg.Wait()
	outcome := map[string]int{}
	for i, row := range b.rows {
		r := results[i]
		was := b.judge(t, row, r)
		if outcome[was]++; was != "whole" {
			t.Logf("%s: %s: %s", row.words, was, firstLines(r.stderr+r.stdout, 6))
		}
		b.cells.Add(1)
	}
	t.Logf("%d commands: %v", len(b.rows), outcome)
}

func (b *broken) flags() []string {
	connect := b.connect
	if connect == nil {
		connect = []string{"-b", b.c.bootstrap}
	}
	return append(slices.Clone(connect), "--timeout", breakTimeout.String())
}

// judge holds one cell, and gives what it was: whole, said, or wrong.
func (b *broken) judge(t *testing.T, row looked, r result) string {
	t.Helper()
	text := r.stdout + r.stderr
	most := breakTimeout + breakTimeout/10 + breakGrace
	if strings.Contains(row.words, "--for") || strings.HasPrefix(row.words, "top") {
		most += breakFor + breakTimeout
	}
	said := slices.ContainsFunc(lacks, func(w string) bool { return strings.Contains(text, w) })
	switch {
	case strings.Contains(text, "panic:") || strings.Contains(text, "goroutine "):
		t.Errorf("crashed: %s", r)
	case r.took > most:
		t.Errorf("took longer than %s: %s", most, r)
	case r.code != 0 && r.code != 1 && r.code != 3:
		t.Errorf("exit %d: %s", r.code, r)
	case b.whole(row, r):
		return "whole"
	case !said && (r.code != 3 || r.stderr == ""): // exit 3 with its error tells
		b.silent.Add(1)
		t.Errorf("says nothing of what it lacks: %s", r)
	case r.code == 0:
		return "part, said, exit 0"
	default:
		return fmt.Sprintf("said, exit %d", r.code)
	}
	return "wrong"
}

// firstLines is the start of a text.
func firstLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[:min(n, len(lines))], " / ")
}

// onScreen runs kgdiag in a terminal for a while and leaves it with q.
func onScreen(t *testing.T, args ...string) result {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = append(environment(), "TERM=xterm-256color")
	begin := time.Now()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Error(err)
		return result{args: args}
	}
	var text strings.Builder
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1<<16)
		for {
			n, err := f.Read(buf)
			text.Write(buf[:n])
			if err != nil {
				return
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(breakTimeout + breakFor):
		_, _ = f.WriteString("q")
		select {
		case <-done:
		case <-time.After(3 * time.Second):
			_ = cmd.Process.Signal(syscall.SIGKILL)
			<-done
		}
	}
	_ = cmd.Wait()
	f.Close()
	return result{args: args, stdout: text.String(), code: cmd.ProcessState.ExitCode(), took: time.Since(begin)}
}

// rest waits until the cluster is as it was.
func (b *broken) rest(t *testing.T) {
	t.Helper()
	eventually(t, 2*time.Minute, "the cluster is as it was", func() error {
		r := kgdiag(t, "check", "-b", b.c.bootstrap, "--timeout", "10s")
		if r.code != 0 || !strings.Contains(r.stdout, "fully") {
			return fmt.Errorf("%s", r)
		}
		d := kgdiag(t, "describe", b.group, "-b", b.c.bootstrap)
		if d.code != 0 || !strings.Contains(d.stdout, "Stable") {
			return fmt.Errorf("%s", d)
		}
		h := kgdiag(t, "history", b.group, "-b", b.c.bootstrap)
		if h.code != 0 || counted(h) < b.known {
			return fmt.Errorf("%s", h)
		}
		b.known = counted(h)
		return nil
	})
}

// TestBreaksOnTheWay: a proxy before each real broker delays, drops, cuts, and drips.
func TestBreaksOnTheWay(t *testing.T) {
	t.Parallel()
	c := shared(t)
	c.t = t
	b := newBroken(t, c)
	addrs := strings.Split(c.bootstrap, ",")
	p, err := wire.New(len(addrs))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Serve(addrs)
	var maps []string
	for i, a := range p.Addrs() {
		maps = append(maps, addrs[i]+"="+a)
	}
	b.connect = []string{"-b", strings.Join(p.Addrs(), ","), "--broker-map", strings.Join(maps, ",")}
	for _, row := range b.rows { // nothing is broken yet: all is whole
		if strings.HasPrefix(row.words, "top") {
			continue
		}
		if r := kgdiag(t, append(strings.Fields(row.words), b.flags()...)...); !b.whole(row, r) {
			t.Errorf("of a cluster that is well: %s", r)
		}
	}
	var n atomic.Int64
	every := func(k int64, a wire.Action) wire.Rule {
		return func(r wire.Request) wire.Action {
			if r.Key != 18 && n.Add(1)%k == 0 {
				return a
			}
			return wire.Action{}
		}
	}
	for _, f := range []struct {
		name string
		rule wire.Rule
	}{
		{"100 ms more for each answer", func(wire.Request) wire.Action { return wire.Action{Delay: 100 * time.Millisecond} }},
		{"one in five requests is never answered", every(5, wire.Action{Hang: true})},
		{"one in four connections is cut at a request", every(4, wire.Action{Cut: true})},
		{"one broker takes connections and says nothing", func(r wire.Request) wire.Action { return wire.Action{Hang: r.Broker == 0} }},
		{"answers end midway", every(6, wire.Action{Frame: func(f []byte) ([]byte, bool) { return f[:len(f)/2], true }})},
		{"a byte every 2 ms", func(r wire.Request) wire.Action { return wire.Action{Pace: 2 * time.Millisecond} }},
	} {
		t.Run(f.name, func(t *testing.T) {
			p.Rule(f.rule)
			b.each(t, nil)
		})
	}
	t.Logf("%d cells, %d of them silent", b.cells.Load(), b.silent.Load())
}

// TestBreaksOfTheCluster: the brokers themselves go away, and come back.
func TestBreaksOfTheCluster(t *testing.T) {
	if !long() {
		t.Skip("scripts/test --full: each fault takes half a minute until the cluster is as it was")
	}
	t.Parallel()
	c := own(t, "4.1.1", "3", "--offsets-partitions", "8")
	b := newBroken(t, c)
	var hurt []int32
	kill := func(id int32) { c.script("kill", nodeID(id)); hurt = append(hurt, id) }
	t.Run("coordinator killed", func(t *testing.T) {
		kill(c.coordinator(b.group))
		b.each(t, nil)
	})
	b.heal(t, &hurt)
	t.Run("coordinator killed midway", func(t *testing.T) {
		id := c.coordinator(b.group)
		b.each(t, func() { kill(id) })
	})
	b.heal(t, &hurt)
	t.Run("coordinator paused", func(t *testing.T) {
		id := nodeID(c.coordinator(b.group))
		c.script("pause", id)
		defer c.script("resume", id)
		b.each(t, nil)
	})
	b.rest(t)
	t.Run("two of three brokers killed", func(t *testing.T) {
		first := c.coordinator(b.group)
		kill(first)
		kill(first%3 + 1)
		b.each(t, nil)
	})
	b.heal(t, &hurt)
	t.Run("controller killed", func(t *testing.T) {
		kill(100)
		b.each(t, nil)
	})
	t.Run("controller and coordinator killed", func(t *testing.T) {
		kill(c.coordinator(b.group))
		b.each(t, nil)
	})
	b.heal(t, &hurt)
	t.Run("leaders move during a scan", func(t *testing.T) {
		id := c.coordinator(b.group)
		b.each(t, func() { c.script("stop", nodeID(id)) })
		hurt = append(hurt, id)
	})
	b.heal(t, &hurt)
	t.Logf("%d cells, %d of them silent", b.cells.Load(), b.silent.Load())
}

// heal starts again what was hurt, the controller first.
func (b *broken) heal(t *testing.T, hurt *[]int32) {
	t.Helper()
	slices.SortFunc(*hurt, func(x, y int32) int { return int(y - x) })
	for _, id := range *hurt {
		b.c.script("start", nodeID(id))
	}
	*hurt = nil
	b.rest(t)
}

// TestBreaksOfTheOffsetsTopic: without replicas the partition of the group is offline when
// its leader is.
func TestBreaksOfTheOffsetsTopic(t *testing.T) {
	if !long() {
		t.Skip("scripts/test --full: each fault takes half a minute until the topic is as it was")
	}
	t.Parallel()
	c := own(t, "4.1.1", "3", "--offsets-partitions", "8", "--set", "offsets.topic.replication.factor=1", "--secure")
	b := newBroken(t, c)
	id := nodeID(c.coordinator(b.group))
	c.script("kill", id)
	t.Run("partition offline", func(t *testing.T) { b.each(t, nil) })
	c.script("start", id)
	b.rest(t)
	t.Run("partition goes offline midway", func(t *testing.T) { b.each(t, func() { c.script("kill", id) }) })
	c.script("start", id)
	b.rest(t)
	b.connect = []string{"--command-config", c.clientFile("reader")}
	t.Run("READ revoked midway", func(t *testing.T) {
		b.each(t, func() {
			c.script("tool", "org.apache.kafka.tools.AclCommand", "--bootstrap-server", "@BOOTSTRAP@", "--remove", "--force", "--operation", "Read", "--allow-principal", "User:reader", "--topic", "__consumer_offsets")
		})
	})
	t.Run("READ revoked", func(t *testing.T) { b.each(t, nil) })
	t.Run("all revoked midway", func(t *testing.T) {
		b.each(t, func() {
			c.script("tool", "org.apache.kafka.tools.AclCommand", "--bootstrap-server", "@BOOTSTRAP@", "--remove", "--force", "--operation", "Describe", "--allow-principal", "User:reader", "--topic", "*", "--group", "*", "--cluster")
		})
	})
	t.Run("user deleted", func(t *testing.T) {
		c.script("configs", "--alter", "--delete-config", "SCRAM-SHA-512", "--entity-type", "users", "--entity-name", "reader")
		b.each(t, nil)
	})
	t.Logf("%d cells, %d of them silent", b.cells.Load(), b.silent.Load())
}

// nodeID is a broker as scripts/kafka names it.
func nodeID(id int32) string { return strconv.Itoa(int(id)) }
