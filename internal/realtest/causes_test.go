//go:build realkafka

package realtest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/kgdiag/kgdiag/inspect"
)

// The timeouts of every group here, in milliseconds: short, so that the suite is, and
// far enough apart to be told from each other.
const (
	sessionMS   = 6000
	heartbeatMS = 2000
	pollMS      = 15000
)

// party is the clients that take part in a scenario.
type party struct {
	kind     kind
	protocol string // classic if empty, or consumer
	assignor string
	commit   string
	full     bool // only with KGDIAG_TEST_FULL
}

func (p party) String() string { return string(p.kind) + " " + cmp.Or(p.protocol, "classic") }

// inFull leaves the party to the long form.
func (p party) inFull() party { p.full = true; return p }

// scenario is a fault that is done to a group, and what a person who saw it would
// call it.
type scenario struct {
	name    string
	with    []party
	static  bool
	idle    bool // nothing is produced
	refresh bool // clients look for new partitions every 2 s
	members int  // 2 if 0
	session int  // sessionMS if 0
	maxPoll int  // pollMS if 0
	// truth are the causes that are right. Where the records cannot tell (section 5 of docs/accuracy.md),
	// hedge allows unknown, or the truth among the rivals.
	truth []inspect.Cause
	hedge bool
	// calm: the group goes on as before, and the best is to tell nothing.
	calm bool
	do   func(s *scene)
	// about picks the rebalance: by default the first one that the victim left or in
	// which it was replaced.
	about func(s *scene, r *inspect.Rebalance) bool
	// broker is a line of the coordinator's log that proves the fault, with %s for the
	// group; empty where the scenario leaves no doubt.
	broker string
}

// scene is a scenario on its way.
type scene struct {
	*scenario
	party
	t     *testing.T
	c     *cluster
	topic string
	group string
	procs []*process // the last one is the victim
	began time.Time
	reach []string // how kgdiag reaches the cluster, where not by its plain address
}

// sessionMS is the session of the group's members.
func (s *scene) sessionMS() int { return cmp.Or(s.session, sessionMS) }

func (s *scene) victim() *process { return s.procs[len(s.procs)-1] }

// spec is the configuration of one member.
func (s *scene) spec(id string) client {
	c := client{Kind: s.kind, Group: s.group, Topics: s.topic, ClientID: id, Assignor: s.assignor, Protocol: s.protocol,
		Commit: s.commit, MaxPoll: cmp.Or(s.maxPoll, pollMS)}
	if s.refresh {
		c.Extra = refresh(s.kind)
	}
	if s.protocol != "consumer" {
		c.Session, c.Heartbeat = cmp.Or(s.session, sessionMS), heartbeatMS
	}
	if s.static {
		c.InstanceID = id
	}
	return c
}

// hold lets a fault last for d.
func (s *scene) hold(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.t.Context().Done():
	}
}

// begin marks the moment from which on rebalances are the fault's.
func (s *scene) begin() { s.began = time.Now() }

// up starts the members and waits until they are at work.
func (s *scene) up() {
	s.t.Helper()
	s.launch()
	s.ready()
}

// launch starts the members.
func (s *scene) launch() {
	s.t.Helper()
	s.c.topic(s.topic, 4)
	if s.protocol == "consumer" {
		s.c.groupClocks(s.group, cmp.Or(s.session, sessionMS), heartbeatMS)
	}
	if !s.idle {
		s.c.produce(s.topic, 16)
	}
	n := cmp.Or(s.members, 2)
	for i := range n {
		s.procs = append(s.procs, start(s.t, s.c.bootstrap, s.spec(s.id(i, n))))
	}
}

// ready waits until each member has made progress often enough for a silence to mean
// something.
func (s *scene) ready() {
	s.t.Helper()
	n := cmp.Or(s.members, 2)
	for _, p := range s.procs {
		p.assigned(4 / n)
	}
	if s.idle || s.commit == "none" {
		return
	}
	s.commits()
}

// commits waits until each partition's offset has been seen to move often enough, now
// that its owner is the one that the scenario wants.
func (s *scene) commits() {
	s.t.Helper()
	adm := kadm.NewClient(s.c.client())
	enough := 10
	if s.commit == "auto" { // every 5 s
		enough = 5
	}
	last, moved := make(map[int32]int64), make(map[int32]int)
	eventually(s.t, patience, "commits of every member", func() error {
		got, err := adm.FetchOffsets(s.t.Context(), s.group)
		if err != nil {
			return err
		}
		for p := range int32(4) {
			o, _ := got.Lookup(s.topic, p)
			if o.At > last[p] {
				last[p], moved[p] = o.At, moved[p]+1
			}
		}
		for p := range int32(4) {
			if moved[p] < enough {
				return fmt.Errorf("the offset of partition %d moved %d times", p, moved[p])
			}
		}
		return nil
	})
}

func (s *scene) id(i, n int) string {
	if i == n-1 {
		return "victim"
	}
	return fmt.Sprintf("peer-%d", i)
}

// verdict is what one command called the fault.
type verdict struct {
	cause      inspect.Cause
	confidence inspect.Confidence
	rivals     []inspect.Cause
}

func (v verdict) String() string {
	if v.cause == "" {
		return "-"
	}
	return fmt.Sprintf("%s (%s)", v.cause, v.confidence)
}

// grade compares a verdict with the truth: right, hedged (the truth is a rival),
// unknown or wrong.
func (sc *scenario) grade(v verdict) string {
	switch {
	case sc.calm && v.cause == "", slices.Contains(sc.truth, v.cause):
		return "right"
	case v.cause == inspect.UnknownCause || v.cause == "":
		return "unknown"
	case v.confidence != inspect.High && slices.ContainsFunc(v.rivals, func(c inspect.Cause) bool { return slices.Contains(sc.truth, c) }):
		return "hedged"
	}
	return "wrong"
}

// past asks history for the rebalance that the scenario is about, until it is there.
func (s *scene) past() verdict {
	s.t.Helper()
	var out verdict
	eventually(s.t, patience, "history tells of the fault", func() error {
		v, last := s.history()
		if v.cause == "" {
			return fmt.Errorf("not there:\n%s", last)
		}
		out = v
		return nil
	})
	return out
}

// history asks once; no cause where the rebalance is not there.
func (s *scene) history() (verdict, result) {
	s.t.Helper()
	last := kgdiag(s.t, "history", "-b", s.c.bootstrap, "-o", "json", "--since", "30m", s.group).wants(s.t, 0)
	return s.told(last), last
}

// told is what a history says of the rebalance that the scenario is about.
func (s *scene) told(r result) verdict {
	s.t.Helper()
	about := s.about
	switch {
	case s.calm: // anything that is told is too much
		about = func(*scene, *inspect.Rebalance) bool { return true }
	case about == nil:
		about = victimGone
	}
	var doc struct {
		Groups []inspect.Timeline `json:"groups"`
	}
	r.decode(s.t, &doc)
	for i := range doc.Groups {
		for _, r := range doc.Groups[i].Rebalances {
			if r.Time.Before(s.began.Add(-time.Second)) || !about(s, &r) {
				continue
			}
			out := verdict{cause: r.Cause, confidence: r.Confidence, rivals: inspect.OpenCauses(r.Rivals)}
			if i := slices.IndexFunc(r.Members.Left, isVictim); i >= 0 && len(r.Members.Left) > 1 && s.members < 4 {
				d := r.Members.Left[i] // another one was put out as well, and the worst names the rebalance
				out = verdict{cause: d.Cause, confidence: d.Confidence, rivals: inspect.OpenCauses(d.Rivals)}
			}
			return out
		}
	}
	return verdict{}
}

// live is what watch called the incident that the fault began, in the order in which
// it said so. A cause refines events that were told before, when enough is known: it
// may come a while after history could be asked.
func (s *scene) live(w *watcher) []verdict {
	end := time.Now().Add(40 * time.Second)
	for {
		v := s.said(w)
		if len(v) > 0 || time.Now().After(end) {
			return v
		}
		s.hold(500 * time.Millisecond)
	}
}

// said are the causes that watch has told of so far for the incident in which the
// victim went, or else for the first one since the fault.
func (s *scene) said(w *watcher) []verdict {
	var incident any
	for _, e := range w.seen() {
		gone := slices.Contains(clientIDs(e, "left"), "victim") || slices.Contains(clientIDs(e, "replaced"), "victim")
		if gone && !s.before(e) {
			incident = e["incident"]
			break
		}
	}
	var out []verdict
	var record string
	for _, e := range w.of("cause") {
		if s.before(e) || incident != nil && e["incident"] != incident || record != "" && e.text("record") != record {
			continue
		}
		v := verdict{cause: inspect.Cause(e.text("cause")), confidence: inspect.Confidence(e.text("confidence"))}
		if v.cause == inspect.MemberJoined && !slices.Contains(s.truth, v.cause) {
			continue // the return belongs to the same incident
		}
		if who := e.text("member"); incident != nil && who != "" && who != "victim" && s.members < 4 {
			continue // another one was put out as well
		}
		rivals, _ := e["rivals"].([]any)
		for _, r := range rivals {
			if m, _ := r.(map[string]any); m != nil && (m["why_not"] == nil || m["why_not"] == "") {
				v.rivals = append(v.rivals, inspect.Cause(fmt.Sprint(m["cause"])))
			}
		}
		record = e.text("record")
		out = append(out, v)
	}
	return out
}

// before reports whether an event is older than the fault.
func (s *scene) before(e lineEvent) bool {
	at, err := time.Parse(time.RFC3339Nano, e.text("time"))
	return err != nil || at.Before(s.began.Add(-time.Second))
}

// scores are what kgdiag said of every fault, and how much of it was right.
type scores struct {
	mu              sync.Mutex
	rows            []string
	tellable, right int // of the scenarios that the records can tell
	grades          map[string]int
}

// report prints the rows when all subtests have ended.
func (tab *scores) report(t *testing.T) {
	t.Cleanup(func() {
		// A busy machine makes a timeout late: now and then the honest answer is unknown.
		if tab.right*5 < tab.tellable*4 {
			t.Errorf("%d of %d causes that can be told are told", tab.right, tab.tellable)
		}
		slices.Sort(tab.rows)
		t.Logf("what was done | with | history | watch | grades\n%s", strings.Join(tab.rows, "\n"))
	})
}

// long reports whether the long form of the suite runs.
func long() bool { return os.Getenv("KGDIAG_TEST_FULL") != "" }

// settle is how long after the first verdict the long form asks again: returns are
// then in, and watch has looked at the rebalance for the last time.
const settle = 25 * time.Second

// verdicts asks history and watch what the fault was, enters the answers in the
// table and fails the test where one of them is wrong.
func (s *scene) verdicts(tab *scores, w *watcher) {
	s.t.Helper()
	var past, live []verdict
	switch {
	case s.calm:
		s.hold(20 * time.Second)
		v, _ := s.history()
		past, live = []verdict{v}, s.said(w)
	default:
		past, live = []verdict{s.past()}, s.live(w)
	}
	if long() {
		s.hold(settle)
		if v, _ := s.history(); v.String() != past[0].String() {
			past = append(past, v)
		}
		live = s.said(w)
	}
	if s.broker != "" {
		s.c.logged(fmt.Sprintf(s.broker, s.group))
	}
	s.heed()
	if len(live) == 0 {
		live = []verdict{{}}
	}
	last, seen := past[len(past)-1], live[len(live)-1]
	row := fmt.Sprintf("%s | %s | %s | %s | %s, %s", s.name, s.party, inOrder(past), inOrder(live), s.grade(last), s.grade(seen))
	s.t.Log(row)
	if s.grade(seen) != "right" {
		for _, e := range w.of("cause") {
			s.t.Logf("watch, generation %v: %s, %s, %v, rivals %v", e["generation"], e.text("cause"), e.text("confidence"), e["evidence"], e["rivals"])
		}
	}
	tab.mu.Lock()
	tab.rows = append(tab.rows, row)
	if tab.grades == nil {
		tab.grades = map[string]int{}
	}
	tab.grades[s.grade(last)]++
	if !s.hedge {
		tab.tellable++
		if s.grade(last) == "right" {
			tab.right++
		}
	}
	tab.mu.Unlock()
	for _, v := range past {
		if s.grade(v) == "wrong" {
			s.t.Errorf("history says %s with rivals %v, want one of %v\n%s", v, v.rivals, s.truth,
				kgdiag(s.t, "history", "-v", "-b", s.c.bootstrap, "--since", "30m", s.group))
		}
	}
	for _, v := range live {
		if v.confidence == inspect.High && s.grade(v) == "wrong" {
			s.t.Errorf("watch says %s, want one of %v", v, s.truth)
		}
	}
	s.keep()
}

// heed takes the coordinator's word where it is another than the script's: on a machine
// that is too busy a client is starved for longer than its session, and then the session
// did end, whatever was meant to happen. Such a row counts as one that cannot be told.
func (s *scene) heed() {
	if slices.Contains(s.truth, expired) || s.calm {
		return
	}
	says := `Member victim-\S+ in group ` + s.group + ` has failed, removing it`
	if s.protocol == "consumer" {
		if !s.static {
			return // a poll interval that ended is called a session as well
		}
		says = `GroupId ` + s.group + `\] .*session expired`
	}
	if s.c.hasLogged(s.began, says) {
		s.t.Log("the coordinator says that the victim's session ended: the machine was too busy for the script")
		own := *s.scenario
		own.truth, own.hedge = append(slices.Clone(s.truth), expired, within, left), true
		s.scenario = &own
	}
}

// keep records a case file of the group where KGDIAG_TEST_KEEP names a directory: what
// a verdict was made from, to look at it again.
func (s *scene) keep() {
	dir := os.Getenv("KGDIAG_TEST_KEEP")
	if dir == "" {
		return
	}
	file := strings.Map(func(r rune) rune {
		if r == ' ' || r == ',' || r == '/' {
			return '-'
		}
		return r
	}, s.name+" "+s.party.String())
	kgdiag(s.t, "record", "-b", s.c.bootstrap, "--since", "30m", "--to", filepath.Join(dir, file+"-"+s.group+".kgcase"), s.group)
}

// inOrder are verdicts one after another, where one refined another.
func inOrder(vs []verdict) string {
	var out []string
	for _, v := range vs {
		if text := v.String(); len(out) == 0 || out[len(out)-1] != text {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", then ")
}

// TestCauses does every fault to a group of its own, side by side on one cluster, and
// asks history and watch what it was. A wrong cause told with high confidence is the
// worst fault that kgdiag can have; a wrong one without the truth among its rivals is
// a fault as well; and four in five of those that can be told must be.
func TestCauses(t *testing.T) {
	var tab scores
	tab.report(t)
	t.Cleanup(func() { keepCompat(t, func(k *Kafka) { k.Causes = tab.grades }) })
	for _, sc := range scenarios() {
		for _, p := range sc.with {
			if p.full && !long() || !shared(t).serves(p.protocol) {
				continue
			}
			t.Run(strings.ReplaceAll(sc.name+", "+p.String(), " ", "-"), func(t *testing.T) {
				t.Parallel()
				c := shared(t)
				s := &scene{scenario: &sc, party: p, t: t, c: c, topic: name("causes"), group: name("causes")}
				s.up()
				w := watch(t, "-b", c.bootstrap, s.group)
				sc.do(s)
				s.verdicts(&tab, w)
			})
		}
	}
}
