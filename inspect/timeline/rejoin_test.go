package timeline

import (
	"slices"
	"testing"

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
