//go:build realkafka

package realtest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// load is a way in which a member works that gets it put out again and again.
type load struct {
	name  string
	with  []party
	begin func(s *scene) // once
	again func(s *scene) // in each round; nil where it goes on by itself
	// hopeless: no setting keeps the member in the group.
	hopeless bool
}

// A round of every load, and how many are looked at before and after.
const (
	roundOf = 24 * time.Second
	rounds  = 4
)

// loads are those with a setting that helps, and at the end one without.
func loads() []load {
	pyEvent := []party{aioPy, {kind: kafkaJS, commit: "auto"}}
	return []load{
		{name: "a poll's work takes 20 s", begin: slowBatches, with: []party{rdRange, rdAuto, rdEpochs, javaRange, javaCoop, javaAuto, javaEpochs, kafkaPy,
			{kind: spring, commit: "sync"}, {kind: spring, protocol: "consumer", commit: "sync"}}},
		{name: "pauses of 10 s", again: pauses, with: []party{rdRange, rdEpochs, franzRange, javaRange, javaEpochs, kafkaPy, aioPy,
			{kind: kafkaJS, commit: "auto"}, {kind: sarama, commit: "auto"}, {kind: spring, commit: "sync"}}},
		{name: "an event loop that blocks for 10 s", again: blocks, with: pyEvent},
		{name: "a crash, and started again after 4 s", again: crashes, with: []party{rdRange, franzRange, javaRange, {kind: sarama, commit: "auto"}, aioPy}},
		{name: "an overrun now and then", again: stalls, with: []party{rdRange, javaRange, javaEpochs, kafkaPy}},
		{name: "a crash for good", hopeless: true, begin: crash, with: []party{rdRange, javaEpochs}},
	}
}

func slowBatches(s *scene) { s.begin(); s.victim().say("per-poll 20000") }
func stalls(s *scene)      { s.victim().say("stall 19000") }
func blocks(s *scene)      { s.victim().say("block 10000") }

func pauses(s *scene) {
	s.victim().pause()
	s.hold(10 * time.Second)
	s.victim().resume()
}

func crashes(s *scene) {
	s.victim().kill()
	s.hold(4 * time.Second)
	s.procs = append(s.procs, start(s.t, s.c.bootstrap, s.spec("victim")))
}

// put is what the coordinator's log says of members of a group that went.
const put = `Member \S+ in group %[1]s has failed, removing it|Group %[1]s removed dynamic members|\[Group %[1]s\] Member \S+ has left group|\[GroupId %[1]s\] Member \S+ (fenced|left|with)`

// gone counts them since a moment.
func (s *scene) gone(since time.Time) int {
	times, err := s.c.grep(fmt.Sprintf(put, s.group))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(slices.DeleteFunc(times, func(at time.Time) bool { return at.Before(since) }))
}

// bear lets the group bear the load, and counts who went.
func (l *load) bear(s *scene) int {
	s.begin()
	if l.begin != nil {
		l.begin(s)
	}
	for range rounds {
		next := time.Now().Add(roundOf)
		if l.again != nil {
			l.again(s)
		}
		s.hold(time.Until(next))
	}
	return s.gone(s.began)
}

// diagnosed is what the loop reads of kgdiag.why/v1.
type diagnosed struct {
	Groups []struct {
		Cause      inspect.Cause      `json:"cause"`
		Confidence inspect.Confidence `json:"confidence"`
		Findings   []struct {
			ID  string `json:"id"`
			Fix *struct {
				Summary string            `json:"summary"`
				Set     map[string]string `json:"set"`
			} `json:"fix"`
		} `json:"findings"`
	} `json:"groups"`
}

// ofGroup is a KIP-848 group's own session, as why names it.
var ofGroup = regexp.MustCompile(`consumer\.session\.timeout\.ms=(\d+)`)

// follow does as why says, and reports what that was; false if it names no setting.
func (s *scene) follow() (scenario, string, bool) {
	s.t.Helper()
	var doc diagnosed
	kgdiag(s.t, "why", "-b", s.c.bootstrap, "-o", "json", "--since", "30m", s.group).wants(s.t, 0).decode(s.t, &doc)
	g := doc.Groups[0]
	next, said, any := *s.scenario, []string{fmt.Sprintf("%s (%s)", g.Cause, g.Confidence)}, false
	next.session, next.maxPoll = cmp.Or(next.session, sessionMS), cmp.Or(next.maxPoll, pollMS)
	for _, f := range g.Findings {
		if f.Fix == nil {
			continue
		}
		if m := ofGroup.FindStringSubmatch(f.Fix.Summary); m != nil { // no client's setting, so it stands in the text
			f.Fix.Set = map[string]string{"consumer.session.timeout.ms": m[1]}
		}
		for key, value := range f.Fix.Set {
			ms, err := strconv.Atoi(value)
			switch low := strings.ToLower(key); {
			case strings.Contains(low, "instance"):
				next.static = true
			case err != nil:
				s.t.Errorf("%s: %s=%s is no number of milliseconds", f.ID, key, value)
			case strings.Contains(low, "poll.interval"), strings.Contains(low, "rebalance"):
				next.maxPoll = max(next.maxPoll, ms)
			case strings.Contains(low, "session"):
				next.session = max(next.session, ms)
			case strings.Contains(low, "heartbeat"):
			default:
				s.t.Logf("%s: %s=%s is not followed", f.ID, key, value)
				continue
			}
			any = true
			said = append(said, fmt.Sprintf("%s %s=%s", f.ID, key, value))
		}
	}
	slices.Sort(said[1:])
	return next, strings.Join(said, ", "), any
}

// TestClosedLoop lets members be put out, sets what why then says, and lets the same load
// come again: the evictions are gone, or why had said no setting.
func TestClosedLoop(t *testing.T) {
	if !long() {
		t.Skip("in the long form alone: it takes five minutes a group")
	}
	var mu sync.Mutex
	var rows []string
	t.Cleanup(func() {
		slices.Sort(rows)
		t.Logf("load | with | went before | why says | went after\n%s", strings.Join(rows, "\n"))
	})
	for _, l := range loads() {
		for _, p := range l.with {
			t.Run(strings.ReplaceAll(l.name+", "+p.String()+" "+p.commit, " ", "-"), func(t *testing.T) {
				t.Parallel()
				c := shared(t)
				before := &scene{scenario: &scenario{}, party: p, t: t, c: c, topic: name("loop"), group: name("loop")}
				before.up()
				n := l.bear(before)
				next, said, any := before.follow()
				for _, p := range before.procs {
					p.kill()
				}
				row := fmt.Sprintf("%s | %s, commits %s | %d | %s", l.name, p, cmp.Or(p.commit, "auto"), n, said)
				if !any {
					row += ": no setting | -"
				} else {
					after := &scene{scenario: &next, party: p, t: t, c: c, topic: name("loop"), group: name("loop")}
					after.up()
					still := l.bear(after)
					row += fmt.Sprintf(" | %d", still)
					if still > 0 && n > 0 && !l.hopeless {
						t.Errorf("%s", row)
					}
				}
				mu.Lock()
				rows = append(rows, row)
				mu.Unlock()
				t.Log(row)
			})
		}
	}
}
