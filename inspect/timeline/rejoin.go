package timeline

import (
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// heldJoin names the rebalance timeout as what may have put a classic member out,
// where the records allow it: somebody else began the rebalance, and the join phase
// may have lasted for that long. The survivors of an eager rebalance commit nothing
// while they wait for a member that does not rejoin, so their silence shows how long
// they waited: they hear of the rebalance by their next heartbeat.
func (t *track) heldJoin(d *departure, v *verdict) {
	s, e := d.step, d.ev
	limit := t.longestRebalance(s)
	if s.ServerSide || s.Empty || limit == 0 || e.live || d.leavesItself() || !begunByAnother(d) || e.gapHi < limit-slack || e.tooSoon(limit) {
		return
	}
	waited, known := t.waited(s)
	outlasts := e.session != nil && *e.session >= limit
	switch {
	case known && (waited < limit-e.heartbeat-joinNoise || waited > limit+2*slack):
	case !known && !outlasts:
	case known && outlasts && v.conf == inspect.Low:
		old := v.cause
		v.cause = inspect.RejoinTimedOut
		v.rivals = withoutRival(v.rivals, inspect.RejoinTimedOut)
		for i := range v.why {
			v.why[i] = strings.TrimSuffix(v.why[i], leftByItself)
		}
		if old != inspect.UnknownCause {
			v.add(old, "")
		}
		v.say("the others had committed nothing for " + dur(round(waited)) + ", as if the join had waited for it until the rebalance timeout of " + dur(limit))
	default:
		v.add(inspect.RejoinTimedOut, "")
		v.conf = lower(v.conf, inspect.Medium)
	}
}

// withoutRival is rivals without a cause.
func withoutRival(rivals []inspect.Rival, c inspect.Cause) []inspect.Rival {
	var out []inspect.Rival
	for _, r := range rivals {
		if r.Cause != c {
			out = append(out, r)
		}
	}
	return out
}

// begunByAnother reports whether somebody else came or went in the same step, which
// may have begun the rebalance that the member then missed.
func begunByAnother(d *departure) bool {
	return len(d.step.left) > 1 || len(d.step.Joined) > 0
}

// waited is for how long at most the survivors of an eager rebalance had waited for
// the end of its join phase: since the last commit that any of them made.
func (t *track) waited(s *step) (time.Duration, bool) {
	if !s.Eager || s.StateTime.IsZero() {
		return 0, false
	}
	var last time.Time
	for _, held := range s.Surviving {
		if ticks := t.commitsOf(held, s.First); len(ticks) >= leastCommits {
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
