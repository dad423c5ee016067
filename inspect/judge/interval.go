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
	if v.lo.Before(e.lastFrom) && !v.exact {
		v.lo = e.lastFrom
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
	gap, sure := s.pollGap()
	v.bounded = sure == gap
	v.lo = v.hi.Add(-(gap + e.heartbeat + joinNoise))
	v.sureLo = v.hi.Add(-(sure + e.heartbeat + joinNoise))
	return v
}

// pollGap is the longest time that a survivor needed between two polls of late:
// as far as its commits show or else assumed, and surely.
func (s *step) pollGap() (most, sure time.Duration) {
	for i := range s.survivors {
		v := &s.survivors[i]
		c := &v.cad
		gap := c.longest
		if n := len(c.ticks); n > 0 {
			gap = max(gap, s.StateTime.Sub(c.ticks[n-1].at))
		}
		switch {
		case len(c.ticks) < leastCommits || c.timer && c.repeats:
			most, sure = max(most, assumedPoll), max(sure, v.limit())
		case c.timer && v.timersPoll():
			most, sure = max(most, 4*c.jitter), max(sure, 4*c.jitter)
		case c.timer:
			// An offset that moves from one timer commit to the next was polled for.
			most, sure = max(most, assumedPoll), max(sure, 2*gap)
		case c.perRecord && !v.waits:
			most, sure = max(most, gap), max(sure, v.limit())
		default:
			most, sure = max(most, gap), max(sure, gap)
		}
	}
	return most, sure
}

// assumedPoll is how quickly a survivor is taken to poll where nothing shows it.
const assumedPoll = time.Second

// limit is the longest that a member may take to rejoin: its rebalance timeout.
func (v *survivor) limit() time.Duration {
	if v.rebalance == 0 {
		return 24 * time.Hour
	}
	return v.rebalance
}

// timersPoll reports a client whose auto-commit timer is looked at in poll, so
// that the timer's jitter bounds the time between polls (the classic Java consumer).
func (v *survivor) timersPoll() bool {
	return v.family == inspect.Java && !v.serverSide && !v.cad.repeats
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
