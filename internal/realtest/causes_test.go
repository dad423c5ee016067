//go:build realkafka

package realtest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
)

// The timeouts of every group here, in milliseconds: short, so that the suite is, and
// far enough apart to be told from each other.
const (
	sessionMS   = 6000
	heartbeatMS = 2000
	pollMS      = 15000
)

// scenario is a fault that is done to a group, and what a person who saw it would
// call it.
type scenario struct {
	name     string
	kind     kind
	protocol string // classic or consumer
	assignor string
	commit   string
	static   bool
	idle     bool     // nothing is produced
	extra    []string // settings of the clients
	members  int      // 2 if 0
	// truth are the causes that are right. Where the records cannot tell (section 5 of
	// docs/accuracy.md), hedge allows unknown, or the truth among the rivals.
	truth []inspect.Cause
	hedge bool
	full  bool // only with KGDIAG_TEST_FULL
	do    func(s *scene)
	// about picks the rebalance: by default the first one that the victim left or in
	// which it was replaced.
	about func(s *scene, r *inspect.Rebalance) bool
}

// scene is a scenario on its way.
type scene struct {
	*scenario
	t     *testing.T
	c     *cluster
	topic string
	group string
	procs []*process // the last one is the victim
	began time.Time
}

func (s *scene) victim() *process { return s.procs[len(s.procs)-1] }

// spec is the configuration of one member.
func (s *scene) spec(id string) client {
	c := client{Kind: s.kind, Group: s.group, Topics: s.topic, ClientID: id, Assignor: s.assignor, Protocol: s.protocol,
		Commit: s.commit, MaxPoll: pollMS, Extra: s.extra}
	if s.protocol != "consumer" {
		c.Session, c.Heartbeat = sessionMS, heartbeatMS
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

// up starts the members and waits until each has made progress often enough for a
// silence to mean something.
func (s *scene) up() {
	s.t.Helper()
	s.c.topic(s.topic, 4)
	if s.protocol == "consumer" {
		s.c.groupTimeouts(s.group)
	}
	if !s.idle {
		s.c.produce(s.topic, 16)
	}
	n := cmp.Or(s.members, 2)
	for i := range n {
		s.procs = append(s.procs, start(s.t, s.c.bootstrap, s.spec(s.id(i, n))))
	}
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

// groupTimeouts gives a KIP-848 group the short timeouts, which its members cannot ask for.
func (c *cluster) groupTimeouts(group string) {
	c.t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	for key, ms := range map[string]int{"consumer.session.timeout.ms": sessionMS, "consumer.heartbeat.interval.ms": heartbeatMS} {
		k := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		k.Name, k.Value = key, kmsg.StringPtr(fmt.Sprint(ms))
		r.Configs = append(r.Configs, k)
	}
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(c.t.Context(), c.client())
	if err != nil || resp.Resources[0].ErrorCode != 0 {
		c.t.Fatalf("group configuration: %v %v", err, resp)
	}
}

// The faults.

func overrun(s *scene) { s.begin(); s.victim().say("stall 30000") }
func crash(s *scene)   { s.begin(); s.victim().kill() }
func leave(s *scene)   { s.begin(); s.victim().term() }

// frozen is SIGSTOP for longer than the session, and SIGCONT.
func frozen(s *scene) {
	s.begin()
	s.victim().pause()
	s.hold(2 * sessionMS * time.Millisecond)
	s.victim().resume()
}

// restart is a crash with a supervisor that starts the process again after d.
func restart(d time.Duration) func(*scene) {
	return func(s *scene) {
		s.begin()
		s.victim().kill()
		s.hold(d)
		s.procs = append(s.procs, start(s.t, s.c.bootstrap, s.spec("victim")))
		s.victim().assigned(2)
	}
}

// cleanRestart closes the victim and starts it again after d.
func cleanRestart(d time.Duration) func(*scene) {
	return func(s *scene) {
		s.begin()
		s.victim().term()
		s.hold(d)
		s.procs = append(s.procs, start(s.t, s.c.bootstrap, s.spec("victim")))
		s.victim().assigned(2)
	}
}

// rolling restarts all members one after another, as a deploy does.
func rolling(s *scene) {
	s.begin()
	n := len(s.procs)
	for i := range n {
		s.procs[i].term()
		p := start(s.t, s.c.bootstrap, s.spec(s.id(i, n)))
		p.assigned(1)
		s.procs[i] = p
	}
}

// inBatch makes one batch take longer than the poll interval while every record of it
// is committed: progress up to the eviction.
func inBatch(s *scene) {
	s.victim().say("commit record")
	s.victim().say("per-record 1200")
	s.begin()
	s.victim().say("stall 4000") // in which records enough for one long batch arrive
}

// slowPeer gives the survivors a long poll loop, then does the fault.
func slowPeer(fault func(*scene)) func(*scene) {
	return func(s *scene) {
		at := s.procs[0].count()
		s.procs[0].say("per-poll 9000")
		s.procs[0].await(at, "the peer's obedience", func(e event) bool { return e.Event == "obeys" })
		fault(s)
	}
}

// slowJoin lets a new member come while the victim needs 9 s between two polls.
func slowJoin(s *scene) {
	at := s.victim().count()
	s.victim().say("per-poll 9000")
	s.victim().await(at, "the victim's obedience", func(e event) bool { return e.Event == "obeys" })
	s.begin()
	start(s.t, s.c.bootstrap, s.spec("newcomer"))
}

// heldJoin lets a new member come while the victim is busy for 10 s.
func heldJoin(s *scene) {
	at := s.victim().count()
	s.victim().say("stall 10000")
	s.victim().await(at, "the victim's obedience", func(e event) bool { return e.Event == "obeys" })
	s.begin()
	start(s.t, s.c.bootstrap, s.spec("newcomer"))
}

func duplicate(s *scene) {
	s.begin()
	start(s.t, s.c.bootstrap, s.spec("victim")) // the same instance id, and the first one still runs
}

func resubscribe(s *scene) {
	other := s.topic + "-too"
	s.c.topic(other, 2)
	s.begin()
	s.victim().say("subscribe %s,%s", s.topic, other)
}

func morePartitions(s *scene) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	s.begin()
	if _, err := kadm.NewClient(s.c.client()).UpdatePartitions(ctx, 6, s.topic); err != nil {
		s.t.Fatal(err)
	}
}

// Which rebalance a scenario is about.

// firstOf picks the first rebalance with one of the causes, or simply the first one
// that changes no member.
func causedOrSame(s *scene, r *inspect.Rebalance) bool {
	return slices.Contains(s.truth, r.Cause) || len(r.Members.Joined)+len(r.Members.Left)+len(r.Members.Replaced) == 0
}

func newcomer(_ *scene, r *inspect.Rebalance) bool {
	return slices.ContainsFunc(r.Members.Joined, func(j inspect.Join) bool { return j.ClientID == "newcomer" })
}

// anyRestart picks a rebalance of a rolling restart, whose story may be told in one or
// in several.
func anyRestart(s *scene, r *inspect.Rebalance) bool {
	return slices.Contains(s.truth, r.Cause) || len(r.Members.Left) > 0 || len(r.Members.Replaced) > 0
}

func victimGone(_ *scene, r *inspect.Rebalance) bool {
	return slices.ContainsFunc(r.Members.Left, func(d inspect.Departure) bool { return d.ClientID == "victim" }) ||
		slices.ContainsFunc(r.Members.Replaced, func(p inspect.Replacement) bool { return p.ClientID == "victim" })
}

func scenarios() []scenario {
	const (
		overrunCause = inspect.PollIntervalExceeded
		expired      = inspect.SessionExpired
		left         = inspect.MemberLeft
	)
	refresh := []string{"metadata.max.age.ms=2000"}
	return []scenario{
		{name: "poll overrun", kind: javaClient, assignor: "range", commit: "sync", truth: []inspect.Cause{overrunCause}, do: overrun},
		{name: "poll overrun", kind: librdkafka, assignor: "range", commit: "sync", truth: []inspect.Cause{overrunCause}, do: overrun},
		{name: "poll overrun", kind: kafkaPython, commit: "sync", truth: []inspect.Cause{overrunCause}, do: overrun, full: true},
		{name: "poll overrun, auto-commit", kind: javaClient, assignor: "cooperative-sticky", commit: "auto", truth: []inspect.Cause{overrunCause}, do: overrun, full: true},
		{name: "poll overrun, slow peer", kind: librdkafka, assignor: "range", commit: "sync", truth: []inspect.Cause{overrunCause}, hedge: true, do: slowPeer(overrun)},
		{name: "poll overrun", kind: javaClient, protocol: "consumer", commit: "sync", truth: []inspect.Cause{overrunCause}, do: overrun},
		{name: "commits per record in a slow batch", kind: javaClient, assignor: "range", commit: "sync", truth: []inspect.Cause{overrunCause}, hedge: true, do: inBatch},
		{name: "commits per record in a slow batch", kind: javaClient, protocol: "consumer", commit: "sync", truth: []inspect.Cause{overrunCause}, hedge: true, do: inBatch, full: true},

		{name: "SIGKILL", kind: librdkafka, assignor: "range", commit: "sync", truth: []inspect.Cause{expired}, do: crash},
		{name: "SIGKILL", kind: franzGo, assignor: "range", commit: "sync", truth: []inspect.Cause{expired}, do: crash},
		{name: "SIGKILL, slow peer", kind: librdkafka, assignor: "range", commit: "sync", truth: []inspect.Cause{expired}, hedge: true, do: slowPeer(crash)},
		{name: "SIGKILL", kind: librdkafka, protocol: "consumer", commit: "sync", truth: []inspect.Cause{expired}, do: crash},
		{name: "SIGKILL, idle topic", kind: librdkafka, assignor: "range", commit: "sync", idle: true, truth: []inspect.Cause{expired}, hedge: true, do: crash},
		{name: "SIGKILL, restarted after 3 s", kind: librdkafka, assignor: "range", commit: "sync", truth: []inspect.Cause{inspect.RestartedWithinSession, expired}, do: restart(3 * time.Second)},
		{name: "SIGSTOP for two sessions", kind: librdkafka, assignor: "range", commit: "sync", truth: []inspect.Cause{expired}, do: frozen},
		{name: "SIGSTOP for two sessions", kind: javaClient, protocol: "consumer", commit: "sync", truth: []inspect.Cause{expired}, do: frozen, full: true},

		{name: "clean close", kind: librdkafka, assignor: "range", commit: "sync", truth: []inspect.Cause{left}, do: leave},
		{name: "clean close, slow peer", kind: librdkafka, assignor: "range", commit: "sync", truth: []inspect.Cause{left}, hedge: true, do: slowPeer(leave)},
		{name: "clean close", kind: librdkafka, protocol: "consumer", commit: "sync", truth: []inspect.Cause{left}, do: leave},
		{name: "rolling restart of 4", kind: franzGo, assignor: "range", commit: "sync", members: 4, do: rolling, about: anyRestart,
			truth: []inspect.Cause{inspect.RollingRestart, inspect.RestartedWithinSession, left, inspect.MemberJoined}},

		{name: "static restart inside the session", kind: franzGo, assignor: "range", commit: "sync", static: true, truth: []inspect.Cause{inspect.StaticMemberRestarted, inspect.StaticMemberFenced}, do: cleanRestart(time.Second)},
		{name: "static restart beyond the session", kind: librdkafka, assignor: "range", commit: "sync", static: true, truth: []inspect.Cause{expired}, hedge: true, do: cleanRestart(9 * time.Second)},
		{name: "static restart", kind: librdkafka, protocol: "consumer", commit: "sync", static: true, do: cleanRestart(time.Second), full: true,
			truth: []inspect.Cause{inspect.StaticMemberRestarted, left}, hedge: true}, // left: it says that it goes for a while, and comes back too late
		{name: "duplicate instance id", kind: franzGo, assignor: "range", commit: "sync", static: true, truth: []inspect.Cause{inspect.StaticMemberFenced}, hedge: true, do: duplicate},

		{name: "subscription changed", kind: javaClient, assignor: "range", commit: "sync", truth: []inspect.Cause{inspect.SubscriptionChanged}, do: resubscribe, about: causedOrSame},
		{name: "subscription changed", kind: librdkafka, protocol: "consumer", commit: "sync", truth: []inspect.Cause{inspect.SubscriptionChanged}, do: resubscribe, about: causedOrSame},
		{name: "partitions added", kind: javaClient, assignor: "range", commit: "sync", extra: refresh, truth: []inspect.Cause{inspect.TopicMetadataChanged}, do: morePartitions, about: causedOrSame},
		{name: "partitions added", kind: librdkafka, protocol: "consumer", commit: "sync", truth: []inspect.Cause{inspect.TopicMetadataChanged}, do: morePartitions, about: causedOrSame, full: true},

		{name: "a late re-joiner holds a join", kind: librdkafka, assignor: "range", commit: "sync", truth: []inspect.Cause{inspect.MemberJoined}, do: heldJoin, about: newcomer},
		{name: "cooperative slow poller during a join", kind: javaClient, assignor: "cooperative-sticky", commit: "sync", truth: []inspect.Cause{inspect.SyncPhaseExpired, expired}, hedge: true, do: slowJoin, full: true},
	}
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
	case slices.Contains(sc.truth, v.cause):
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
	about := s.about
	if about == nil {
		about = victimGone
	}
	var out verdict
	var last result
	eventually(s.t, patience, "history tells of the fault", func() error {
		var doc struct {
			Groups []inspect.Timeline `json:"groups"`
		}
		last = kgdiag(s.t, "history", "-b", s.c.bootstrap, "-o", "json", "--since", "30m", s.group).wants(s.t, 0)
		last.decode(s.t, &doc)
		for i := range doc.Groups {
			for _, r := range doc.Groups[i].Rebalances {
				if r.Time.Before(s.began.Add(-time.Second)) || !about(s, &r) {
					continue
				}
				out = verdict{cause: r.Cause, confidence: r.Confidence}
				for _, rival := range r.Rivals {
					out.rivals = append(out.rivals, rival.Cause)
				}
				return nil
			}
		}
		return fmt.Errorf("not there:\n%s", last)
	})
	return out
}

// live is what watch called the incident that the fault began. A cause refines events
// that were told before, when enough is known: it may come a while after history
// could be asked.
func (s *scene) live(w *watcher) verdict {
	end := time.Now().Add(40 * time.Second)
	for {
		v := s.said(w)
		if v.cause != "" || time.Now().After(end) {
			return v
		}
		s.hold(500 * time.Millisecond)
	}
}

// said is the cause that watch has told of so far for the incident in which the victim
// went, or else for the first one since the fault.
func (s *scene) said(w *watcher) verdict {
	var incident any
	for _, e := range w.seen() {
		gone := slices.Contains(clientIDs(e, "left"), "victim") || slices.Contains(clientIDs(e, "replaced"), "victim")
		if gone && !s.before(e) {
			incident = e["incident"]
			break
		}
	}
	for _, e := range w.of("cause") {
		if s.before(e) || incident != nil && e["incident"] != incident {
			continue
		}
		v := verdict{cause: inspect.Cause(e.text("cause")), confidence: inspect.Confidence(e.text("confidence"))}
		if v.cause == inspect.MemberJoined && !slices.Contains(s.truth, v.cause) {
			continue // the return belongs to the same incident
		}
		return v
	}
	return verdict{}
}

// before reports whether an event is older than the fault.
func (s *scene) before(e lineEvent) bool {
	at, err := time.Parse(time.RFC3339Nano, e.text("time"))
	return err != nil || at.Before(s.began.Add(-time.Second))
}

// TestCauses does every fault to a group of its own, side by side on one cluster, and
// asks history and watch what it was. A wrong cause told with high confidence is the
// worst fault that kgdiag can have; a wrong one without the truth among its rivals is
// a fault as well; and four in five of those that can be told must be.
func TestCauses(t *testing.T) {
	var mu sync.Mutex
	var rows []string
	var tellable, right int // of the scenarios that the records can tell
	t.Cleanup(func() {
		// A busy machine makes a timeout late: now and then the honest answer is unknown.
		if right*5 < tellable*4 {
			t.Errorf("%d of %d causes that can be told are told", right, tellable)
		}
		slices.Sort(rows)
		t.Logf("what was done | with | history | watch | grade\n%s", strings.Join(rows, "\n"))
	})
	for _, sc := range scenarios() {
		if sc.full && os.Getenv("KGDIAG_TEST_FULL") == "" {
			continue
		}
		if sc.protocol == "" {
			sc.protocol = "classic"
		}
		with := string(sc.kind) + " " + sc.protocol
		t.Run(strings.ReplaceAll(sc.name+", "+with, " ", "-"), func(t *testing.T) {
			t.Parallel()
			c := shared(t)
			s := &scene{scenario: &sc, t: t, c: c, topic: name("causes"), group: name("causes")}
			s.up()
			w := watch(t, "-b", c.bootstrap, s.group)
			sc.do(s)
			got := s.past()
			live := s.live(w)
			grade := sc.grade(got)
			mu.Lock()
			rows = append(rows, fmt.Sprintf("%s | %s | %s | %s | %s", sc.name, with, got, live, grade))
			if !sc.hedge {
				tellable++
				if grade == "right" {
					right++
				}
			}
			mu.Unlock()
			if grade == "wrong" {
				t.Errorf("history says %s with rivals %v, want one of %v\n%s", got, got.rivals, sc.truth,
					kgdiag(t, "history", "-v", "-b", c.bootstrap, "--since", "30m", s.group))
			}
			if live.confidence == inspect.High && sc.grade(live) == "wrong" {
				t.Errorf("watch says %s, want one of %v", live, sc.truth)
			}
		})
	}
}
