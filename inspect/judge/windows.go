package judge

import (
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// window is how long before its departure a member had committed for the last time, if
// that was the cause.
type window struct {
	cause  inspect.Cause
	name   string
	lo, hi time.Duration
	weak   bool
}

// aClose names the window of a clean close.
const aClose = "a close"

// hits reports whether the silence reaches the window.
func (w window) hits(e *evidence) bool { return e.gapHi >= w.lo && e.gapLo <= w.hi }

func (w window) whyNot(e *evidence) string {
	name := w.name + ": "
	if w.name == aClose { // the rival's own name says so
		name = ""
	}
	if e.gapHi < w.lo {
		return name + "would show no sooner than " + dur(w.lo) + " after the last commit; it was at most " + dur(e.gapHi)
	}
	return name + "would show within " + dur(max(0, w.hi)) + " of the last commit; it was at least " + dur(e.gapLo)
}

// fitting is how the silence compares with the windows.
type fitting struct {
	hits, missed []window
	causes       []inspect.Cause // of the hits
	weakDropped  bool            // a true auto-commit timer ruled one of them out
	inBatch      bool            // an overrun inside a batch would look the same
	meaningless  bool            // no records waited, so silence is no sign of anything
}

func fittingOf(e *evidence) fitting {
	if !e.measured() {
		return fitting{}
	}
	var f fitting
	for _, w := range windows(e) {
		if w.hits(e) {
			f.hits = append(f.hits, w)
		} else {
			f.missed = append(f.missed, w)
		}
	}
	f.inBatch = mayBeInBatch(e, f.hits)
	if len(distinct(f.hits)) > 1 && e.cad.exactTimer {
		f.hits, f.weakDropped = withoutWeak(f.hits)
	}
	f.causes = distinct(f.hits)
	f.meaningless = e.waiting < 0 && !e.cad.repeats && e.gapLo > e.cad.most
	return f
}

// windows are the explanations of a silence that the member's protocol, client
// family and timeouts allow.
func windows(e *evidence) []window {
	voluntary := !e.Member.StaticLeft.IsZero()
	noLeave := e.noLeave()
	var out []window
	if !noLeave {
		out = append(out, leaveWindow(e))
	}
	if e.session > 0 && !voluntary {
		lo := e.session - 100*time.Millisecond
		if e.server() {
			lo = e.session - e.heartbeat
		}
		out = append(out, window{cause: inspect.SessionExpired, name: "session.timeout.ms " + dur(e.session), lo: lo, hi: e.session + e.cad.most + slack})
	}
	out = append(out, overrunWindows(e, noLeave)...)
	return slices.DeleteFunc(out, func(w window) bool { return e.ruledOut(w.cause) })
}

// server reports a member whose heartbeats the broker counts by itself (KIP-848).
func (e *evidence) server() bool { return e.step.ServerSide && e.Member.ServerSide }

// ruledOut reports a cause whose timeout cannot have ended since the member last
// took part. A rejoin is a poll for clients that join in poll; librdkafka's thread
// joins by itself.
func (e *evidence) ruledOut(c inspect.Cause) bool {
	switch c {
	case inspect.SessionExpired:
		if e.session == 0 || e.assumed {
			return false
		}
		if e.step.ServerSide {
			return e.tooSoon(e.session - e.heartbeat)
		}
		return e.tooSoon(e.session)
	case inspect.PollIntervalExceeded:
		family := e.family
		return e.rebalance > 0 && !e.guessed && !e.step.ServerSide && family.PollInterval() && family != inspect.Librdkafka && e.tooSoon(e.rebalance)
	}
	return false
}

// leaveWindow: a clean close commits and leaves, or leaves within the cadence of
// a client that commits by itself.
func leaveWindow(e *evidence) window {
	c := e.cad
	if c.timer && !c.beat {
		return window{cause: inspect.MemberLeft, name: "a close, whose commit comes before the timer's beat", hi: closeCommit}
	}
	// On the beat: no closing commit, unless what looks like a timer is a loop.
	return window{cause: inspect.MemberLeft, name: aClose, hi: c.most + 300*time.Millisecond, weak: c.timer}
}

// overrunWindows: the poll interval as seen by who leaves by itself at R, and by
// who only stops its heartbeat at R and is expired a session later.
func overrunWindows(e *evidence, noLeave bool) []window {
	m, family, server := e.Member, e.family, e.server()
	if e.rebalance == 0 || e.equal() && !server && !family.PollInterval() {
		return nil
	}
	if family != inspect.Unknown && !family.PollInterval() {
		return nil
	}
	r, c := e.rebalance, e.cad.most
	if server && e.ret != nil && e.ret.m.ID != m.ID && m.StaticLeft.IsZero() {
		return nil // the process that overran would have kept its member id
	}
	var out []window
	// librdkafka's timer commits once more after the poll loop has stalled. What is
	// committed with the work comes after its poll, by up to the time of a batch.
	late := time.Duration(0)
	if !e.cad.timer || family == inspect.Librdkafka || family == inspect.Unknown {
		late = c
	}
	if direct := !noLeave && !(server && family == inspect.Librdkafka); direct {
		out = append(out, window{cause: inspect.PollIntervalExceeded, name: "max.poll.interval.ms " + dur(r), lo: r - 100*time.Millisecond - late, hi: r + c + slack})
	}
	stops := noLeave || family == inspect.StreamsLib || server && family == inspect.Librdkafka || family == inspect.Unknown
	if stops && e.session > 0 && m.StaticLeft.IsZero() {
		s, beat := e.session, e.heartbeat
		if noLeave { // the interval is on no record: the last heartbeat came up to a third of the session before
			beat = max(beat, s/inspect.HeartbeatsPerSession)
		}
		out = append(out, window{cause: inspect.PollIntervalExceeded,
			name: "max.poll.interval.ms " + dur(r) + " and then session.timeout.ms " + dur(s), lo: r + s - beat - late, hi: r + s + c + slack})
	}
	return out
}

// mayBeInBatch reports that an overrun inside a batch, whose records are committed one
// by one, would look like a close that is followed by a return.
func mayBeInBatch(e *evidence, hits []window) bool {
	if e.cad.timer || e.inTime() || e.polls || e.ret == nil && e.Swap == nil {
		return false
	}
	if !slices.ContainsFunc(hits, func(f window) bool { return f.cause == inspect.MemberLeft }) {
		return false
	}
	if e.step.ServerSide {
		return e.ret != nil && e.ret.m.ID == e.Member.ID
	}
	return !e.isNew() && (e.Swap != nil || !e.ret.newHost)
}

// withoutWeak drops explanations that a true auto-commit timer rules out, and
// reports whether there were any.
func withoutWeak(hits []window) ([]window, bool) {
	kept := slices.DeleteFunc(slices.Clone(hits), func(w window) bool { return w.weak })
	return kept, len(kept) < len(hits)
}

// surely reports whether the cause is the only one that fits even if the survivors
// poll as slowly as their commits allow at most.
func surely(of *evidence, cause inspect.Cause) bool {
	e := *of
	if e.sureLo.IsZero() {
		return false
	}
	e.lo = e.sureLo
	if e.lo.Before(e.lastAt) {
		e.lo = e.lastAt
	}
	if !e.narrow() {
		return false
	}
	e.gapLo = max(0, e.lo.Sub(e.lastAt))
	for _, f := range windows(&e) {
		if f.hits(&e) && f.cause != cause {
			return false
		}
	}
	return true
}

// narrow reports whether the departure is bounded well below the timeouts.
func (e *evidence) narrow() bool {
	width := e.hi.Sub(e.lo)
	limit := e.rebalance
	if s := e.session; limit == 0 || s > 0 && 2*s < limit {
		limit = max(limit, 2*s)
	}
	return limit == 0 || width < limit/4
}

// best is the explanation to print first: strong before weak, then the one whose
// window lies nearest to where in its interval the departure most likely was:
// late, as survivors that poll quickly end the join phase soon after it.
func best(e *evidence) inspect.Cause {
	hits := e.hits
	mid := (e.gapLo + 2*e.gapHi) / 3
	if e.Swap != nil && !e.step.ServerSide {
		mid = e.gapHi // the join phase ended with the departure
	}
	b := hits[0]
	score := func(f window) time.Duration {
		var d time.Duration
		switch {
		case mid < f.lo:
			d = f.lo - mid
		case mid > f.hi:
			d = mid - f.hi
		}
		if f.weak {
			d += 24 * time.Hour
		}
		return d
	}
	for _, f := range hits[1:] {
		if score(f) < score(b) {
			b = f
		}
	}
	return b.cause
}

func distinct(hits []window) []inspect.Cause {
	var out []inspect.Cause
	for _, f := range hits {
		if !slices.Contains(out, f.cause) {
			out = append(out, f.cause)
		}
	}
	return out
}

func names(hits []window) string {
	var out []string
	for _, f := range hits {
		out = append(out, f.name)
	}
	return strings.Join(out, ", or ")
}

// possible are the causes that a departure without usable silence leaves open.
func (e *evidence) possible() []inspect.Cause {
	out := []inspect.Cause{inspect.SessionExpired}
	if !e.Member.Static() || !e.Member.StaticLeft.IsZero() {
		out = append(out, inspect.MemberLeft)
	}
	newProcess := e.step.ServerSide && e.ret != nil && e.ret.m.ID != e.Member.ID
	family := e.family
	if !newProcess && (family.PollInterval() || family == inspect.Unknown || family == inspect.AIOKafka) {
		out = append(out, inspect.PollIntervalExceeded)
	}
	return slices.DeleteFunc(out, e.ruledOut)
}
