//go:build realkafka

package realtest

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/kgdiag/kgdiag/inspect"
)

// What is done to a group, and which rebalance it is about.

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
func restart(d time.Duration) func(*scene) { return again(crash, d) }

// cleanRestart closes the victim and starts it again after d.
func cleanRestart(d time.Duration) func(*scene) { return again(leave, d) }

// again starts the victim anew, a time after it has ended.
func again(end func(*scene), d time.Duration) func(*scene) {
	return func(s *scene) {
		end(s)
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

// slowJoin lets a new member come while the victim needs that long between two polls.
func slowJoin(ms int) func(*scene) {
	return func(s *scene) {
		at := s.victim().count()
		s.victim().say("per-poll %d", ms)
		s.victim().await(at, "the victim's obedience", func(e event) bool { return e.Event == "obeys" })
		s.begin()
		start(s.t, s.c.bootstrap, s.spec("newcomer"))
	}
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

func isVictim(d inspect.Departure) bool { return d.ClientID == "victim" }

func victimGone(_ *scene, r *inspect.Rebalance) bool {
	return slices.ContainsFunc(r.Members.Left, isVictim) ||
		slices.ContainsFunc(r.Members.Replaced, func(p inspect.Replacement) bool { return p.ClientID == "victim" })
}

// frozenJoin freezes the victim, whose session is longer than its rebalance timeout,
// and lets a new member come: the join waits for the victim until that timeout.
func frozenJoin(s *scene) {
	s.begin()
	s.victim().pause()
	start(s.t, s.c.bootstrap, s.spec("newcomer")).assigned(2)
	s.victim().resume()
}

// stalledJoin lets a new member come while the victim is busy for 30 s.
func stalledJoin(s *scene) {
	at := s.victim().count()
	s.victim().say("stall 30000")
	s.victim().await(at, "the victim's obedience", func(e event) bool { return e.Event == "obeys" })
	s.begin()
	start(s.t, s.c.bootstrap, s.spec("newcomer"))
}

// slowLast is slowPeer where the fault begins with the first member and ends with the last.
func slowLast(fault func(*scene)) func(*scene) {
	return func(s *scene) {
		at := s.victim().count()
		s.victim().say("per-poll 4000")
		s.victim().await(at, "the last one's obedience", func(e event) bool { return e.Event == "obeys" })
		fault(s)
	}
}
