package judge

import (
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

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

func (g *group) joinWaitOf(e *evidence) joinWait {
	s, limit := e.step, e.step.longestRebalance()
	if s.ServerSide || s.Empty || limit == 0 || e.moved || e.live || e.leavesItself() || !begunByAnother(e.departure) || e.gapHi < limit-slack || e.tooSoon(limit) {
		return joinWait{}
	}
	waited, known := g.waited(s)
	outlasts := e.session != nil && *e.session >= limit
	if known && (waited < limit-e.heartbeat-joinNoise || waited > limit+2*slack) || !known && !outlasts {
		return joinWait{}
	}
	return joinWait{mayHaveHeld: true, othersWaited: known && outlasts, waited: waited, limit: limit}
}

// heldSurely: what the member left behind leaves several causes open, and how long the
// others waited says which.
func (e *evidence) heldSurely(v *verdict) bool {
	return e.mayHaveHeld && e.othersWaited && v.conf == inspect.Low && v.cause != inspect.RestartedWithinSession
}

// waitedFor is the verdict on a member that the others waited for.
func (e *evidence) waitedFor(v verdict) verdict {
	old := v.cause
	v.cause, v.drains = inspect.RejoinTimedOut, false
	v.rivals = withoutRival(v.rivals, v.cause)
	for i := range v.why {
		v.why[i] = strings.TrimSuffix(v.why[i], leftByItself)
	}
	if old != inspect.UnknownCause {
		v.add(old, "")
	}
	v.say("the others had committed nothing for " + dur(round(e.waited)) + ", as if the join had waited for it until the rebalance timeout of " + dur(e.limit))
	return v
}

// begunByAnother reports whether somebody else came or went in the same step, which
// may have begun the rebalance that the member then missed.
func begunByAnother(d *departure) bool {
	return len(d.step.left) > 1 || len(d.step.Joined) > 0
}

// waited is for how long at most the survivors of an eager rebalance had waited for
// the end of its join phase: since the last commit that any of them made.
func (g *group) waited(s *step) (time.Duration, bool) {
	if !s.Eager || s.StateTime.IsZero() {
		return 0, false
	}
	var last time.Time
	for _, held := range s.Surviving {
		if ticks := g.commitsOf(held, s.First); len(ticks) >= leastCommits {
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
