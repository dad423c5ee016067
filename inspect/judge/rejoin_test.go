package judge

import (
	"slices"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// frozenJoin is a member with a session longer than its rebalance timeout that stands
// still when somebody joins; the others commit until they hear of the rebalance, or on
// and on.
func frozenJoin(othersUntil float64) inspect.Timeline {
	b := newBook()
	frozen := who{id: "a-1", client: "a", parts: []int32{0}, session: 40, rebalance: 10}
	peer := who{id: "b-1", client: "b", host: "10.0.0.2", parts: []int32{1}, session: 40, rebalance: 10}
	newcomer := who{id: "c-1", client: "c", host: "10.0.0.3", parts: []int32{0}, session: 40, rebalance: 10}
	b.generation(0, 1, frozen, peer)
	b.commits(1, 29.8, 0.3, 0, 0, 1)
	b.commits(1, othersUntil, 0.3, 1, 0, 1)
	b.generation(40.2, 2, peer, newcomer) // the join began at 30
	b.commits(40.5, 60, 0.3, 1, 500, 1)
	b.commits(40.5, 41, 0.1, 0, 100, 10)
	return b.build()
}

func TestJoinHeldToTheRebalanceTimeout(t *testing.T) {
	r := at(t, frozenJoin(31.5), 2)
	want(t, r, inspect.RejoinTimedOut, inspect.Low)
	if !slices.ContainsFunc(r.Rivals, func(v inspect.Rival) bool { return v.Cause == inspect.PollIntervalExceeded && v.WhyNot == "" }) {
		t.Errorf("a poll interval of the same length is no rival: %+v", r.Rivals)
	}
	r = at(t, frozenJoin(40), 2)
	if r.Cause == inspect.RejoinTimedOut || slices.ContainsFunc(r.Rivals, func(v inspect.Rival) bool { return v.Cause == inspect.RejoinTimedOut }) {
		t.Errorf("the others went on until the record, so they waited for nobody: %s, %+v", r.Cause, r.Rivals)
	}
}

// A busy machine puts a member out late: longer than its poll interval, but as the same
// process, and when its session would have ended long before.
func TestLateOverrunOfTheSameProcess(t *testing.T) {
	for out, want := range map[float64]inspect.Cause{92.8: inspect.PollIntervalExceeded, 99: inspect.UnknownCause} {
		b := newBook()
		b.c.Groups = []inspect.Group{{ID: "g", Type: inspect.Consumer, Limits: inspect.Limits{Session: inspect.Ms(6 * time.Second), Heartbeat: inspect.Ms(2 * time.Second)}}}
		b.join(0, "ida", "a", 1, 0)
		b.commits(1, 30, 0.25, 0, 0, 1)
		b.join(5, "idb", "b", 2)
		b.current(5.1, "ida", 2, inspect.MemberStable, 0)
		b.fence(out, "ida", 3) // its rebalance timeout is 60 s
		b.current(out+0.1, "idb", 3, inspect.MemberStable, 0)
		b.commits(out+0.2, out+2, 0.1, 0, 116, 20)
		b.join(out+10, "ida", "a", 4)
		b.c.Window.To = clock(300)
		if r := at(t, b.build(), 3); r.Cause != want || r.Confidence != inspect.Low {
			t.Errorf("out after %.1f s: %s, %s; want %s, low (%q)", out-29.75, r.Cause, r.Confidence, want, r.Evidence)
		}
	}
}
