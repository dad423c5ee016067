package judge

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect/membership"
)

// heldJoin is a join phase that was seen to last until the rebalance timeout, and to
// wait in vain for a member.
type heldJoin struct{ least, most, limit time.Duration }

// began is when a classic rebalance was seen to begin; zero unknown.
func (g *group) began(s *step) time.Time {
	if s.ServerSide || len(g.in.Observations) == 0 {
		return time.Time{}
	}
	_, from, _ := membership.Polls(g.in.Observations).Rebalancing(s.Step)
	if from.After(s.At) {
		return time.Time{}
	}
	return from
}

// joinPhase is how long the join phase that a step ended was seen to last, at least
// and at most, and when it had ended; ok is false where no poll saw it begin or end.
func (g *group) joinPhase(s *step) (least, most time.Duration, end time.Time, ok bool) {
	var before, first, last time.Time
	for i := range g.in.Observations {
		o := &g.in.Observations[i]
		switch {
		case o.Error != "":
		case o.State == "PreparingRebalance" && first.IsZero() && o.From.After(s.EndAt):
			return least, most, end, ok // the next one
		case o.State == "PreparingRebalance":
			if first.IsZero() {
				first, ok = o.From.Time, false
			}
			last = o.To.Time
		default:
			if !first.IsZero() {
				least, most, end = last.Sub(first), o.From.Sub(before), o.From.Time
				ok = !before.IsZero() && end.Sub(s.StateTime).Abs() <= nearPoll
			}
			before, first = o.To.Time, time.Time{}
		}
	}
	return least, most, end, ok
}

// Bounds of a join phase that ended with somebody's rebalance timeout.
const (
	// pollNoise is what the answers to polls may be late.
	pollNoise = 250 * time.Millisecond
	// sharpHeld is how well its length must be bounded to be sure.
	sharpHeld = time.Second
)

// seenHeld finds out whether a join phase waited for the member in vain. The broker then
// puts it out at the rebalance timeout, which is the longest of all members'.
func (g *group) seenHeld(e *evidence) *heldJoin {
	if g.began(e.step).IsZero() {
		return nil
	}
	limit := e.step.longest
	least, most, end, ok := g.joinPhase(e.step)
	if !ok || limit == 0 || least > limit+slack || most+pollNoise < limit {
		return nil
	}
	if e.live && e.hi.Before(end.Add(-slack)) {
		return nil // it had gone before the join phase ended
	}
	return &heldJoin{least, most, limit}
}

// joinWait is what the records tell of a join phase that may have waited for the member
// until the rebalance timeout, which then put it out: somebody else began the rebalance,
// and the join phase may have lasted for that long. The survivors of an eager rebalance
// commit nothing while they wait for a member that does not rejoin, so their silence
// shows how long they waited: they hear of the rebalance by their next heartbeat.
type joinWait struct {
	mayHaveHeld  bool
	othersWaited bool // their silence shows it, and the member's session outlasts it
	waited       time.Duration
	limit        time.Duration
}

func joinWaitOf(e *evidence) joinWait {
	s, limit := e.step, e.step.longest
	if s.ServerSide || s.Empty || limit == 0 || e.moved || e.live || e.leavesItself() || !begunByAnother(e.departure) || e.gapHi < limit-slack || e.tooSoon(limit) {
		return joinWait{}
	}
	waited, known := e.othersSilent()
	outlasts := e.session > 0 && e.session >= limit
	if known && (waited < limit-e.heartbeat-joinNoise || waited > limit+2*slack) || !known && !outlasts {
		return joinWait{}
	}
	return joinWait{mayHaveHeld: true, othersWaited: known && outlasts, waited: waited, limit: limit}
}

// begunByAnother reports whether somebody else came or went in the same step, which
// may have begun the rebalance that the member then missed.
func begunByAnother(d *departure) bool {
	return len(d.step.left) > 1 || len(d.step.Joined) > 0
}

// othersSilent is for how long at most the survivors of an eager rebalance had waited for
// the end of its join phase: since the last commit that any of them made.
func (e *evidence) othersSilent() (time.Duration, bool) {
	s := e.step
	if !s.Eager || s.StateTime.IsZero() {
		return 0, false
	}
	var last time.Time
	for i := range s.survivors {
		if ticks := s.survivors[i].cad.ticks; len(ticks) >= leastCommits {
			if at := ticks[len(ticks)-1].at; at.After(last) {
				last = at
			}
		}
	}
	if last.IsZero() {
		return 0, false
	}
	return s.StateTime.Sub(last), true
}
