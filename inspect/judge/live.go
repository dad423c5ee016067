package judge

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// seen is what polls saw of a departure besides its time.
type seen struct {
	bothSeen bool // the new process had joined while the old one still was a member
	apart    bool // the group was seen without both: the old one had gone before
	held     *heldJoin
}

// heldJoin is a join phase that was seen to last until the rebalance timeout, and to
// wait in vain for a member.
type heldJoin struct{ least, most, limit time.Duration }

func (g *group) seenOf(e *evidence) seen {
	s := seen{held: g.seenHeld(e)}
	if e.swapped() {
		s.bothSeen, s.apart = g.seenBoth(e.departure), g.seenApart(e.departure)
	}
	return s
}

// liveMoved reports whether the coordinator was seen to move, or not to answer for a
// while, within the member's timeouts before it was out. Its sessions then began
// anew, and clients that lose their coordinator may join again under a new id. Polls
// that fail are no proof where records are: a busy machine fails them as well.
func (g *group) liveMoved(d *departure) bool {
	within := slack + time.Minute
	for _, limit := range []*inspect.Millis{d.Member.Session, d.Member.Rebalance} {
		within = max(within, slack+inspect.Or(limit, 0))
	}
	coordinator := int32(-1)
	var lost time.Time
	for i := range g.in.Observations {
		o := &g.in.Observations[i]
		if o.From.After(d.step.EndAt) {
			break
		}
		if o.Error != "" {
			if lost.IsZero() {
				lost = o.From.Time
			}
			continue
		}
		moved := coordinator >= 0 && o.Coordinator >= 0 && o.Coordinator != coordinator
		away := !lost.IsZero() && o.From.Sub(lost) >= lostFor && !g.sameLeader(lost, d.Pos)
		if (moved || away) && d.step.EndAt.Sub(o.From.Time) <= within {
			return true
		}
		coordinator, lost = o.Coordinator, time.Time{}
	}
	return false
}

// sameLeader reports whether the records prove that the offsets partition had one
// leader from a moment on up to a record: a coordinator that comes up again, be it
// the same broker, writes under a higher leader epoch.
func (g *group) sameLeader(since time.Time, pos int) bool {
	if pos >= len(g.Records) || g.Records[pos].LeaderEpoch < 0 {
		return false
	}
	for i := pos - 1; i >= 0; i-- {
		if r := g.Records[i]; r.LeaderEpoch >= 0 && r.Time.Before(since) {
			return !g.leaderChanged(i, pos)
		}
	}
	return false
}

// lostFor is how long polls must fail to mean more than a hiccup of one request.
const lostFor = 2 * time.Second

// seenBoth: three members were seen where one was restarted: the new process
// joined while the old one still counted.
func (g *group) seenBoth(d *departure) bool {
	for i := range g.in.Observations {
		if o := &g.in.Observations[i]; o.Error == "" && has(o, d.Member.ID) && has(o, d.Swap.ID) {
			return true
		}
	}
	return false
}

// seenApart reports whether the group was seen without both processes of a swap: the
// old one had gone before the new one came.
func (g *group) seenApart(d *departure) bool {
	with := false
	for i := range g.in.Observations {
		o := &g.in.Observations[i]
		if o.Error != "" || membership.Inactive(o.State) {
			continue
		}
		if o.From.After(d.step.EndAt) {
			break
		}
		old, next := has(o, d.Member.ID), has(o, d.Swap.ID)
		if with && !old && !next {
			return true
		}
		with = with || old
	}
	return false
}

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
	limit := e.step.longestRebalance()
	least, most, end, ok := g.joinPhase(e.step)
	if !ok || limit == 0 || least > limit+slack || most+pollNoise < limit {
		return nil
	}
	if e.live && e.hi.Before(end.Add(-slack)) {
		return nil // it had gone before the join phase ended
	}
	return &heldJoin{least, most, limit}
}

// seeHeld takes into account that polls saw the join phase wait for the member. One that
// a poll interval takes out leaves that long after its last poll, so before the timeout,
// but by how much nobody knows: only clients without that check, and those that stand
// still with a session that outlasts it, are put out for sure.
func (v *verdict) seeHeld(e *evidence) {
	switch {
	case e.held == nil || v.cause == inspect.CoordinatorMoved:
	case e.leavesItself():
		v.add(inspect.RejoinTimedOut, "")
		v.conf = inspect.LessSure(v.conf, inspect.Medium)
	default:
		*v = e.heldVerdict(v)
	}
}

// leavesItself reports a member whose client leaves the group when its poll loop is too
// slow, and whose session would have ended before the rebalance timeout had it stood
// still as a whole.
func (e *evidence) leavesItself() bool {
	if family := familyOf(e.Member); !family.PollInterval() && family != inspect.AIOKafka {
		return false
	}
	return e.session == nil || e.rebalance == nil || *e.session < *e.rebalance
}

// heldVerdict is the verdict on a member that a join phase waited for until the
// rebalance timeout.
func (e *evidence) heldVerdict(old *verdict) verdict {
	limit, family := e.held.limit, familyOf(e.Member)
	v := verdict{cause: inspect.RejoinTimedOut, conf: inspect.High, basis: inspect.Inferred, returned: old.returned, why: old.why,
		seenHeld: "seen live: the join phase lasted " + between(e.held.least, e.held.most) + ", until the rebalance timeout of " + dur(limit) + "; " + e.Member.Name() + " had not rejoined"}
	for _, r := range old.rivals {
		if r.Cause != inspect.RejoinTimedOut && r.WhyNot != "" {
			v.add(r.Cause, r.WhyNot)
		}
	}
	if family == inspect.Unknown || family.PollInterval() || family == inspect.AIOKafka {
		v.add(inspect.PollIntervalExceeded, "")
		v.conf = inspect.Medium
	}
	// A session that ended in the same moment: one as long as the timeout, or one that
	// the silence from before the join phase filled.
	if e.session != nil && (*e.session-limit).Abs() <= e.heartbeat+slack || e.session != nil && *e.session > limit && (!e.silent || e.gapHi >= *e.session-slack) {
		v.add(inspect.SessionExpired, "")
		v.conf = inspect.Medium
	}
	if !e.live || e.held.most-e.held.least > sharpHeld {
		v.conf = inspect.LessSure(v.conf, inspect.Medium)
	}
	return v
}
