package timeline

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
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
		if slices.ContainsFunc(o.Members, func(m inspect.ObservedMember) bool { return m.MemberID == d.m.id }) {
			if o.From.Time.Before(d.step.endAt) || o.From.Time.Equal(d.step.endAt) {
				with = o.To.Time
			}
			continue
		}
		if !with.IsZero() && without.IsZero() && !o.From.Before(with) && !inactive(o.State) {
			without = o.From.Time
		}
	}
	if with.IsZero() || without.IsZero() || without.Sub(with) > nearPoll || with.After(d.step.endAt) {
		return
	}
	if e.exact && e.hi.Sub(e.lo) < without.Sub(with) {
		return
	}
	e.lo, e.hi, e.live, e.exact = with, without, true, false
	e.how = "seen live, between two polls"
}

// inactive are states whose answer lists no members although the group has some.
func inactive(state string) bool { return state == "Dead" || state == "" }

// liveMoved reports whether the coordinator was seen to move, or not to answer for a
// while, within the member's timeouts before it was out. Its sessions then began
// anew, and clients that lose their coordinator may join again under a new id.
func (t *track) liveMoved(d *departure) bool {
	within := slack + time.Minute
	for _, limit := range []*inspect.Millis{d.m.session, d.m.rebalance} {
		within = max(within, slack+inspect.Or(limit, 0))
	}
	coordinator := int32(-1)
	var lost time.Time
	for i := range t.in.Observations {
		o := &t.in.Observations[i]
		if o.From.After(d.step.endAt) {
			break
		}
		if o.Error != "" {
			if lost.IsZero() {
				lost = o.From.Time
			}
			continue
		}
		moved := coordinator >= 0 && o.Coordinator >= 0 && o.Coordinator != coordinator
		away := !lost.IsZero() && o.From.Sub(lost) >= lostFor
		if (moved || away) && d.step.endAt.Sub(o.From.Time) <= within {
			return true
		}
		coordinator, lost = o.Coordinator, time.Time{}
	}
	return false
}

// lostFor is how long polls must fail to mean more than a hiccup of one request.
const lostFor = 2 * time.Second

// liveSwap: three members were seen where one was restarted: the new process
// joined while the old one still counted.
func (t *track) liveSwap(d *departure, v *verdict) bool {
	if d.swap == nil || d.step.server {
		return false
	}
	for i := range t.in.Observations {
		o := &t.in.Observations[i]
		has := func(id string) bool {
			return slices.ContainsFunc(o.Members, func(m inspect.ObservedMember) bool { return m.MemberID == id })
		}
		if o.Error == "" && has(d.m.id) && has(d.swap.id) {
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
		if o.Error != "" || inactive(o.State) {
			continue
		}
		if o.From.After(d.step.endAt) {
			break
		}
		old, next := false, false
		for _, m := range o.Members {
			old = old || m.MemberID == d.m.id
			next = next || m.MemberID == d.swap.id
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
		if o.Error != "" || o.From.After(s.endAt) || s.polled && o.From.Equal(s.endAt) {
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
	if !to.IsZero() && s.at.Sub(to) > nearPoll {
		return time.Time{}, time.Time{}
	}
	return from, to
}

// liveStart adds when the rebalance began, and whether the join phase lasted until
// somebody's rebalance timeout.
func (t *track) liveStart(s *step) {
	if s.server || len(t.in.Observations) == 0 {
		return
	}
	from, _ := t.preparing(s)
	if from.IsZero() || from.After(s.at) {
		return
	}
	s.out.StartedAt = inspect.At(from)
	end := s.stateTime
	if end.IsZero() || end.After(s.at) {
		end = s.at
	}
	held := end.Sub(from)
	limit := t.longestRebalance(s)
	if limit == 0 || len(s.left) == 0 || held < limit-nearPoll/5 || held > limit+slack {
		return
	}
	for _, d := range s.left {
		if d.ev.live && d.ev.hi.Before(end.Add(-slack)) {
			continue // it had gone before the join phase ended
		}
		if d.v.basis == inspect.Stated {
			continue
		}
		old := d.v.cause
		d.v = verdict{cause: inspect.RejoinTimedOut, conf: inspect.Medium, basis: inspect.Inferred, returned: d.v.returned, rivals: d.v.rivals, why: d.v.why}
		if d.ev.live {
			d.v.conf = inspect.High
		}
		d.v.add(old, "")
		d.v.rivals = slices.DeleteFunc(d.v.rivals, func(r inspect.Rival) bool { return r.Cause == inspect.RejoinTimedOut })
		s.out.Cause, s.out.Confidence, s.out.Rivals = d.v.cause, d.v.conf, d.v.rivals
		s.out.Evidence = append(s.out.Evidence, "seen live: the join phase lasted "+dur(round(held))+", until the rebalance timeout of "+dur(limit)+"; "+d.m.lane()+" had not rejoined")
	}
}

// liveStopped takes the time in which the group was seen rebalancing.
func (t *track) liveStopped(s *step, r *inspect.Rebalance) bool {
	if len(t.in.Observations) == 0 {
		return false
	}
	from, _ := t.preparing(s)
	if from.IsZero() || !from.Before(s.endAt) {
		return false
	}
	r.Stopped, r.StoppedBasis = inspect.Ms(s.endAt.Sub(from)), "observed"
	return true
}
