package timeline

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// nearPoll is the longest pause between two polls that still bounds a departure
// better than the log does.
const nearPoll = 5 * time.Second

// liveDeparture narrows a departure to the two polls between which the member
// went, where the group was described at the time.
func (t *track) liveDeparture(d *departure, e *evidence) {
	var with, without time.Time
	for i := range t.in.Observations {
		o := &t.in.Observations[i]
		if o.Error != "" {
			continue
		}
		if slices.ContainsFunc(o.Members, func(m inspect.ObservedMember) bool { return m.MemberID == d.Member.ID }) {
			if o.From.Time.Before(d.step.EndAt) || o.From.Time.Equal(d.step.EndAt) {
				with = o.To.Time
			}
			continue
		}
		if !with.IsZero() && without.IsZero() && !o.From.Before(with) && !membership.Inactive(o.State) {
			without = o.From.Time
		}
	}
	if with.IsZero() || without.IsZero() || without.Sub(with) > nearPoll || with.After(d.step.EndAt) {
		return
	}
	if e.exact && e.hi.Sub(e.lo) < without.Sub(with) {
		return
	}
	e.lo, e.hi, e.live, e.exact = with, without, true, false
	e.how = "seen live, between two polls"
}

// liveMoved reports whether the coordinator was seen to move, or not to answer for a
// while, within the member's timeouts before it was out. Its sessions then began
// anew, and clients that lose their coordinator may join again under a new id. Polls
// that fail are no proof where records are: a busy machine fails them as well.
func (t *track) liveMoved(d *departure) bool {
	within := slack + time.Minute
	for _, limit := range []*inspect.Millis{d.Member.Session, d.Member.Rebalance} {
		within = max(within, slack+inspect.Or(limit, 0))
	}
	coordinator := int32(-1)
	var lost time.Time
	for i := range t.in.Observations {
		o := &t.in.Observations[i]
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
		away := !lost.IsZero() && o.From.Sub(lost) >= lostFor && !t.sameLeader(lost, d.Pos)
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
func (t *track) sameLeader(since time.Time, pos int) bool {
	if pos >= len(t.Records) || t.Records[pos].LeaderEpoch < 0 {
		return false
	}
	for i := pos - 1; i >= 0; i-- {
		if r := t.Records[i]; r.LeaderEpoch >= 0 && r.Time.Before(since) {
			return !t.leaderChanged(i, pos)
		}
	}
	return false
}

// lostFor is how long polls must fail to mean more than a hiccup of one request.
const lostFor = 2 * time.Second

// liveSwap: three members were seen where one was restarted: the new process
// joined while the old one still counted.
func (t *track) liveSwap(d *departure, v *verdict) bool {
	if d.Swap == nil || d.step.ServerSide {
		return false
	}
	for i := range t.in.Observations {
		o := &t.in.Observations[i]
		has := func(id string) bool {
			return slices.ContainsFunc(o.Members, func(m inspect.ObservedMember) bool { return m.MemberID == id })
		}
		if o.Error == "" && has(d.Member.ID) && has(d.Swap.ID) {
			v.cause, v.conf = inspect.RestartedWithinSession, inspect.High
			if d.ret != nil && d.ret.ambiguous {
				v.conf = inspect.Medium
			}
			v.say("seen live: the new process had joined while the old one still was a member")
			v.returned = inspect.ReturnedNewProcess
			return true
		}
	}
	return false
}

// seenApart reports whether the group was seen without both processes of a swap: the
// old one had gone before the new one came.
func (t *track) seenApart(d *departure) bool {
	with := false
	for i := range t.in.Observations {
		o := &t.in.Observations[i]
		if o.Error != "" || membership.Inactive(o.State) {
			continue
		}
		if o.From.After(d.step.EndAt) {
			break
		}
		old, next := false, false
		for _, m := range o.Members {
			old = old || m.MemberID == d.Member.ID
			next = next || m.MemberID == d.Swap.ID
		}
		if with && !old && !next {
			return true
		}
		with = with || old
	}
	return false
}

// preparing is the span in which the group was seen preparing a rebalance that a
// step ended.
func (t *track) preparing(s *step) (from, to time.Time) {
	for i := range t.in.Observations {
		o := &t.in.Observations[i]
		if o.Error != "" || o.From.After(s.EndAt) || s.Polled && o.From.Equal(s.EndAt) {
			continue // a polled step ends with the poll that saw it over
		}
		switch o.State {
		case "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling":
			if from.IsZero() {
				from = o.From.Time
			}
			to = o.To.Time
		default:
			from, to = time.Time{}, time.Time{}
		}
	}
	if !to.IsZero() && s.At.Sub(to) > nearPoll {
		return time.Time{}, time.Time{}
	}
	return from, to
}

// liveStart adds when the rebalance began, and who held its join phase until the
// rebalance timeout.
func (t *track) liveStart(s *step) {
	if s.ServerSide || len(t.in.Observations) == 0 {
		return
	}
	from, _ := t.preparing(s)
	if from.IsZero() || from.After(s.At) {
		return
	}
	s.out.StartedAt = inspect.At(from)
	t.liveHeld(s)
}

// joinPhase is how long the join phase that a step ended was seen to last, at least
// and at most, and when it had ended; ok is false where no poll saw it begin or end.
func (t *track) joinPhase(s *step) (least, most time.Duration, end time.Time, ok bool) {
	var before, first, last time.Time
	for i := range t.in.Observations {
		o := &t.in.Observations[i]
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

// liveHeld finds the members for which the join phase waited in vain. The broker then
// puts them out at the rebalance timeout, which is the longest of all members'. A
// member that a poll interval takes out leaves one such time after its last poll,
// so before the timeout, but by how much nobody knows: only clients without that
// check, and those that stand still with a session that outlasts it, are put out
// for sure.
func (t *track) liveHeld(s *step) {
	limit := t.longestRebalance(s)
	least, most, end, ok := t.joinPhase(s)
	if !ok || limit == 0 || least > limit+slack || most+pollNoise < limit {
		return
	}
	for _, d := range s.left {
		if d.v.basis == inspect.Stated || d.v.cause == inspect.CoordinatorMoved || d.ev.live && d.ev.hi.Before(end.Add(-slack)) {
			continue // it had gone before the join phase ended
		}
		text := "seen live: the join phase lasted " + between(least, most) + ", until the rebalance timeout of " + dur(limit) + "; " + d.Member.Name() + " had not rejoined"
		if d.leavesItself() {
			d.v.add(inspect.RejoinTimedOut, "")
			d.v.conf = lower(d.v.conf, inspect.Medium)
			if s.out.Cause == d.v.cause {
				s.out.Rivals, s.out.Confidence = d.v.rivals, lower(s.out.Confidence, d.v.conf)
			}
			continue
		}
		d.v = d.heldVerdict(limit, most-least <= sharpHeld)
		s.out.Cause, s.out.Confidence, s.out.Rivals = d.v.cause, d.v.conf, d.v.rivals
		s.out.Evidence = append(s.out.Evidence, text)
	}
}

// leavesItself reports a member whose client leaves the group when its poll loop is too
// slow, and whose session would have ended before the rebalance timeout had it stood
// still as a whole.
func (d *departure) leavesItself() bool {
	e := d.ev
	if family := familyOf(d.Member); !family.PollInterval() && family != inspect.AIOKafka {
		return false
	}
	return e.session == nil || e.rebalance == nil || *e.session < *e.rebalance
}

// heldVerdict is the verdict on a member that a join phase waited for until the
// rebalance timeout; sharp says that the polls leave no doubt of that.
func (d *departure) heldVerdict(limit time.Duration, sharp bool) verdict {
	e, family := d.ev, familyOf(d.Member)
	v := verdict{cause: inspect.RejoinTimedOut, conf: inspect.High, basis: inspect.Inferred, returned: d.v.returned, why: d.v.why}
	for _, r := range d.v.rivals {
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
	if !e.live || !sharp {
		v.conf = lower(v.conf, inspect.Medium)
	}
	return v
}

// liveStopped takes the time in which the group was seen rebalancing.
func (t *track) liveStopped(s *step, r *inspect.Rebalance) bool {
	if len(t.in.Observations) == 0 {
		return false
	}
	from, _ := t.preparing(s)
	if from.IsZero() || !from.Before(s.EndAt) {
		return false
	}
	r.Stopped, r.StoppedBasis = inspect.Ms(s.EndAt.Sub(from)), "observed"
	return true
}
