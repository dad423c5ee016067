//go:build realkafka

package realtest

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// hiddenFaults are the faults that are done to groups whose offsets topic nobody may read.
var hiddenFaults = map[string][]party{
	"SIGKILL":                            also([]party{rdRange}, javaRange, franzRange, rdEpochs, javaEpochs),
	"SIGSTOP for two sessions":           also([]party{franzRange}, rdRange, javaRange, rdEpochs, javaEpochs),
	"poll overrun":                       also([]party{javaEpochs}, javaRange, rdRange, rdEpochs),
	"clean close":                        also([]party{javaRange}, rdRange, franzRange, rdEpochs, javaEpochs),
	"rolling restart of 4":               also([]party{franzRange}, rdRange, javaCoop, rdEpochs, javaEpochs),
	"duplicate instance id":              also([]party{franzRange}, rdRange, javaRange, rdEpochs, javaEpochs),
	"SIGKILL, restarted after 3 s":       full(rdRange, javaRange, rdEpochs, javaEpochs),
	"clean close, slow peer":             full(rdRange, javaRange),
	"SIGKILL, slow peer":                 full(rdRange, rdEpochs),
	"SIGKILL, idle topic":                full(rdRange, rdEpochs),
	"clean close, idle topic":            full(rdRange, rdEpochs),
	"commits per record in a slow batch": full(javaRange, javaEpochs),
}

// TestHiddenCauses does the faults to groups on a cluster that hides the offsets topic from
// the principal who asks: watch, record --for and why --for must then judge by polls. A
// cause that is wrong and told with high confidence is the worst fault that they can have.
func TestHiddenCauses(t *testing.T) {
	var tab hiddenScores
	c := own(t, "4.1.1", "1", "--secure", "--offsets-partitions", "5")
	t.Cleanup(func() { tab.report(t) })
	t.Run("faults", func(t *testing.T) {
		for _, sc := range scenarios() {
			for _, p := range hiddenFaults[sc.name] {
				if p.full && !long() || !slices.ContainsFunc(sc.with, func(q party) bool { return q.protocol == p.protocol }) {
					continue
				}
				t.Run(strings.ReplaceAll(sc.name+", "+p.String(), " ", "-"), func(t *testing.T) {
					t.Parallel()
					own := *c
					own.t = t
					s := &scene{scenario: &sc, party: p, t: t, c: &own, topic: name("hidden"), group: name("hidden"),
						reach: []string{"--command-config", filepath.Join(c.home, "secure", "client-viewer.properties")}}
					s.hidden(&tab)
				})
			}
		}
	})
}

// timeouts are what the offsets topic would have told, for the command line.
func (s *scene) timeouts() []string {
	spec := s.spec("victim")
	session, key := spec.Session, "session.timeout.ms"
	if s.protocol == "consumer" {
		session, key = s.sessionMS(), "consumer.session.timeout.ms"
	}
	return []string{"--set", key + "=" + strconv.Itoa(session), "--set", "max.poll.interval.ms=" + strconv.Itoa(spec.MaxPoll)}
}

// hidden does the fault while three commands look, and grades what each says.
func (s *scene) hidden(tab *hiddenScores) {
	s.up()
	file := filepath.Join(s.t.TempDir(), "seen.kgcase")
	w := watch(s.t, slices.Concat(s.reach, s.timeouts(), []string{s.group})...)
	record := s.look("record", "--to", file)
	why := s.look(append([]string{"why", "-o", "json"}, s.timeouts()...)...)
	s.hold(8 * time.Second) // for a cadence to show
	s.do(s)
	if !s.calm {
		s.live(w)
	}
	s.hold(settleHidden)
	live := s.said(w)
	r, y := record.interrupt(), why.interrupt()
	if r.code != 0 || y.code != 0 {
		s.t.Errorf("Ctrl-C is no failure:\n%s\n%s", r, y)
	}
	s.heed()
	kept := func(more ...string) verdict {
		return s.told(kgdiag(s.t, slices.Concat([]string{"history", "--from", file, "-o", "json"}, more, []string{s.group})...).wants(s.t, 0))
	}
	if len(live) == 0 {
		live = []verdict{{}}
	}
	assumed := kept()
	tab.add(s, map[string]verdict{"watch": live[len(live)-1], "record --for": kept(s.timeouts()...), "why --for": s.answered(y), "defaults assumed": assumed})
	for _, v := range append(live, kept(s.timeouts()...), assumed, s.answered(y)) {
		if v.confidence == inspect.High && s.grade(v) == "wrong" {
			s.t.Errorf("%s with high confidence, want one of %v\n%s", v, s.truth, kgdiag(s.t, "history", "-v", "--from", file, s.group))
		}
	}
	s.t.Log(kgdiag(s.t, slices.Concat([]string{"history", "-v", "--from", file}, s.timeouts(), []string{s.group})...).stdout)
}

// settleHidden is how long the commands look on after a verdict: for returns.
const settleHidden = 12 * time.Second

// answered is the cause that why gives.
func (s *scene) answered(r result) verdict {
	s.t.Helper()
	var doc struct {
		Groups []struct {
			Cause      inspect.Cause      `json:"cause"`
			Confidence inspect.Confidence `json:"confidence"`
			Rivals     []inspect.Rival    `json:"rivals"`
		} `json:"groups"`
	}
	r.decode(s.t, &doc)
	if len(doc.Groups) != 1 {
		s.t.Fatalf("why answers about %d groups:\n%s", len(doc.Groups), r)
	}
	g := doc.Groups[0]
	if g.Cause == inspect.MemberJoined && !slices.Contains(s.truth, g.Cause) {
		g.Cause = ""
	}
	return verdict{g.Cause, g.Confidence, inspect.OpenCauses(g.Rivals)}
}

// looker is a command that looks for a while.
type looker struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    bytes.Buffer
	stderr bytes.Buffer
	ended  chan struct{}
}

// look starts a command with --for, and waits until it looks.
func (s *scene) look(args ...string) *looker {
	s.t.Helper()
	args = slices.Concat(args, s.reach, []string{"--for", "10m", s.group})
	l := &looker{t: s.t, cmd: exec.Command(binary, args...), ended: make(chan struct{})}
	l.cmd.Env = environment()
	l.cmd.Stdout = &l.out
	pipe, err := l.cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	looks := make(chan struct{})
	go func() {
		lines, told := bufio.NewScanner(pipe), false
		for lines.Scan() {
			l.stderr.WriteString(lines.Text() + "\n")
			if !told && strings.Contains(lines.Text(), "looking for") {
				told = true
				close(looks)
			}
		}
		_ = l.cmd.Wait()
		close(l.ended)
	}()
	s.t.Cleanup(func() { _ = l.cmd.Process.Kill(); <-l.ended })
	select {
	case <-looks:
	case <-l.ended:
		s.t.Fatalf("kgdiag %s ended:\n%s%s", strings.Join(args, " "), l.out.String(), l.stderr.String())
	case <-time.After(patience):
		s.t.Fatalf("kgdiag %s does not look", strings.Join(args, " "))
	}
	return l
}

// interrupt is Ctrl-C: the command then answers with what it has seen.
func (l *looker) interrupt() result {
	l.t.Helper()
	_ = l.cmd.Process.Signal(syscall.SIGINT)
	select {
	case <-l.ended:
	case <-time.After(time.Minute):
		l.t.Fatal("it still looks a minute after Ctrl-C")
	}
	return result{l.cmd.Args[1:], l.out.String(), l.stderr.String(), l.cmd.ProcessState.ExitCode(), 0}
}

// hiddenScores are the grades of each command.
type hiddenScores struct {
	scores
	grades map[string]map[string]int
}

var hiddenWays = []string{"watch", "record --for", "why --for", "defaults assumed"}

func (h *hiddenScores) add(s *scene, said map[string]verdict) {
	h.mu.Lock()
	defer h.mu.Unlock()
	row := fmt.Sprintf("%s | %s", s.name, s.party)
	for _, way := range hiddenWays {
		g := s.grade(said[way])
		row += fmt.Sprintf(" | %s: %s", g, said[way])
		if h.grades == nil {
			h.grades = map[string]map[string]int{}
		}
		if h.grades[way] == nil {
			h.grades[way] = map[string]int{}
		}
		h.grades[way][g]++
	}
	s.t.Log(row)
	h.rows = append(h.rows, row)
}

func (h *hiddenScores) report(t *testing.T) {
	slices.Sort(h.rows)
	t.Logf("what was done | with | %s\n%s", strings.Join(hiddenWays, " | "), strings.Join(h.rows, "\n"))
	for _, way := range hiddenWays {
		t.Logf("%s: %v", way, h.grades[way])
	}
}
