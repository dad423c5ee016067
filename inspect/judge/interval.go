package judge

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// interval is when the member went.
type interval struct {
	lo, hi  time.Time
	exact   bool
	bounded bool      // not exact, but bounded by what was seen and not by an assumption
	live    bool      // bounded by two polls
	sureLo  time.Time // earliest departure without any assumption; zero unknown
}

func (g *group) intervalOf(e *evidence) interval {
	d, s := e.departure, e.step
	var v interval
	switch {
	case s.Polled:
		v = interval{lo: s.LastRest, hi: s.At, bounded: true}
	case s.ServerSide && !d.Member.StaticLeft.IsZero():
		v = interval{lo: d.Member.StaticLeft, hi: d.Member.StaticLeft, exact: true}
	case s.ServerSide:
		at := g.Records[d.Pos].Time.Time
		v = interval{lo: at, hi: at, exact: true}
	case s.Empty && s.Skipped > 0:
		v = interval{lo: e.lastAt, hi: s.At}
	case s.Empty:
		v = interval{lo: s.At, hi: s.At, exact: true}
	default:
		v = g.boundClassic(e)
	}
	if from, to, ok := g.seenToGo(d); ok && !(v.exact && v.hi.Sub(v.lo) < to.Sub(from)) {
		v.lo, v.hi, v.live, v.exact = from, to, true, false
	}
	if v.lo.Before(e.lastAt) && !v.exact {
		v.lo = e.lastAt
	}
	if v.hi.Before(v.lo) {
		v.hi = v.lo
	}
	return v
}

// boundClassic bounds a departure that a GroupMetadata record shows: it came
// before the end of the join phase, by at most what the slowest survivor needs
// to poll again and rejoin.
func (g *group) boundClassic(e *evidence) interval {
	s := e.step
	v := interval{hi: s.StateTime}
	if v.hi.IsZero() || v.hi.After(s.At) {
		v.hi = s.At
	}
	if s.Skipped > 0 { // generations are missing: some time before the record
		v.lo = e.lastAt
		return v
	}
	gap, sure := g.pollGap(s)
	v.bounded = sure == gap
	v.lo = v.hi.Add(-(gap + e.heartbeat + joinNoise))
	v.sureLo = v.hi.Add(-(sure + e.heartbeat + joinNoise))
	return v
}

// pollGap is the longest time that a survivor needed between two polls of late:
// as far as its commits show or else assumed, and surely.
func (g *group) pollGap(s *step) (most, sure time.Duration) {
	for _, m := range membership.ByID(s.After) {
		if s.Before[m.ID] == nil {
			continue
		}
		held := s.Surviving[m.ID]
		ticks := g.commitsOf(held, s.First)
		c := pace(ticks)
		gap := c.longest
		if len(ticks) > 0 {
			gap = max(gap, s.StateTime.Sub(ticks[len(ticks)-1].at))
		}
		switch {
		case len(ticks) < leastCommits || c.timer && c.repeats:
			most, sure = max(most, assumedPoll), max(sure, limitOf(m))
		case c.timer && timersPoll(m, c):
			most, sure = max(most, 4*c.jitter), max(sure, 4*c.jitter)
		case c.timer:
			// An offset that moves from one timer commit to the next was polled for.
			most, sure = max(most, assumedPoll), max(sure, 2*gap)
		case c.perRecord && !c.polls(m) && !g.catchesUp(held, m.ID, s, c):
			most, sure = max(most, gap), max(sure, limitOf(m))
		default:
			most, sure = max(most, gap), max(sure, gap)
		}
	}
	return most, sure
}

// assumedPoll is how quickly a survivor is taken to poll where nothing shows it.
const assumedPoll = time.Second

// limitOf is the longest that a member may take to rejoin: its rebalance timeout.
func limitOf(m *membership.Member) time.Duration {
	if m.Rebalance == nil {
		return 24 * time.Hour
	}
	return m.Rebalance.Duration()
}

// timersPoll reports a client whose auto-commit timer is looked at in poll, so
// that the timer's jitter bounds the time between polls (the classic Java consumer).
func timersPoll(m *membership.Member, c cadence) bool {
	return familyOf(m) == inspect.Java && !m.ServerSide && !c.repeats
}

// catchesUp reports whether a survivor, when records waited for it after the
// rebalance, worked them at twice its former pace or more: then it had been
// waiting in poll between its commits before.
func (g *group) catchesUp(held map[membership.TopicPartition]int, id string, s *step, c cadence) bool {
	mine := map[membership.TopicPartition]int{}
	for _, m := range s.After {
		if m.ID != id {
			continue
		}
		for _, k := range m.Assigned {
			mine[k] = s.Pos
		}
	}
	next := len(g.Records)
	if s.index+1 < len(g.steps) {
		next = g.steps[s.index+1].First
	}
	iv := slices.Sorted(slices.Values(intervals(g.commitsOf(mine, next))))
	return len(iv) >= recent && iv[len(iv)/10]*2 <= c.median
}

// nearPoll is the longest pause between two polls that still bounds a departure
// better than the log does.
const nearPoll = 5 * time.Second

// seenToGo are the two polls between which the member went, where the group was
// described at the time.
func (g *group) seenToGo(d *departure) (with, without time.Time, ok bool) {
	return membership.Polls(g.in.Observations).Left(d.Member.ID, d.step.EndAt)
}

// has reports whether an observation shows a member.
func has(o *inspect.Observation, id string) bool {
	return slices.ContainsFunc(o.Members, func(m inspect.ObservedMember) bool { return m.MemberID == id })
}
