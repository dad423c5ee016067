package timeline

import (
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// verdict is the cause of one departure.
type verdict struct {
	cause    inspect.Cause
	conf     inspect.Confidence
	basis    inspect.Basis
	rivals   []inspect.Rival
	why      []string
	returned inspect.Returned
	drainCap bool // high but for the chance that it drained for just as long
	inBatch  bool // the overrun happened inside a batch whose records were committed one by one
}

// fit is an explanation whose window the silence reaches.
type fit struct {
	cause  inspect.Cause
	name   string
	lo, hi time.Duration
	weak   bool
}

// hits reports whether the silence reaches the window.
func (f fit) hits(e *evidence) bool { return e.gapHi >= f.lo && e.gapLo <= f.hi }

// judge finds the cause of a departure.
func (t *track) judge(d *departure) verdict {
	e := d.ev
	v := verdict{basis: inspect.Inferred, returned: returnedAs(d, e)}
	switch {
	case t.heldRevocation(d, &v):
	case e.moved:
		v.cause, v.conf = inspect.CoordinatorMoved, inspect.Low
		v.name(possible(d), "")
		v.say("the coordinator moved in between, which restarts every session: silence proves nothing")
	case t.liveSwap(d, &v):
	case e.tookPart(d, &v):
	case !e.silent:
		t.withoutCommits(d, &v)
	case e.isFrozen(d):
		v.cause, v.conf = inspect.PollIntervalExceeded, inspect.Medium
		v.add(inspect.MemberLeft, "")
		v.say("commits went on, but the offset had stood still for " + dur(e.hi.Sub(e.advanceAt)) + " while records waited: a background committer outlived the poll loop")
		if d.ret == nil {
			v.conf = inspect.Low
		}
		if e.session != nil && e.gapHi >= *e.session-slack {
			v.conf = inspect.Low
			v.add(inspect.SessionExpired, "")
		}
	default:
		t.bySilence(d, &v)
	}
	if !e.moved && v.cause != inspect.RestartedWithinSession {
		t.heldJoin(d, &v)
	}
	return v
}

// tookPart: the coordinator expired a cooperative member that polls more slowly
// than its session while it rejoined. The trace is a skipped generation.
func (e *evidence) tookPart(d *departure, v *verdict) bool {
	s := d.step
	if s.Skipped == 0 || s.Eager && s.ProtocolTo != "" || e.session == nil {
		return false
	}
	slow := e.n >= leastCommits && !e.cad.timer && e.cad.longest > *e.session
	if !slow || d.ret == nil {
		return false
	}
	v.cause, v.conf = inspect.SyncPhaseExpired, inspect.Medium
	v.name([]inspect.Cause{inspect.SessionExpired, inspect.PollIntervalExceeded}, "")
	v.say(itoa(s.Skipped) + " generation(s) never reached the log, and this member lets " + dur(e.cad.longest) +
		" pass between commits, more than its session of " + dur(*e.session) + ": a cooperative client does not heartbeat while it rejoins")
	return true
}

// heldRevocation: a KIP-848 member that had to give partitions up did not within
// its rebalance timeout.
func (t *track) heldRevocation(d *departure, v *verdict) bool {
	e, m := d.ev, d.Member
	if !d.step.ServerSide || m.State != inspect.MemberUnrevoked || m.StateAt.IsZero() || e.rebalance == nil || !m.StaticLeft.IsZero() {
		return false
	}
	held := e.hi.Sub(m.StateAt)
	if (held - *e.rebalance).Abs() > max(200*time.Millisecond, *e.rebalance/500) {
		return false
	}
	v.cause, v.conf = inspect.RejoinTimedOut, inspect.High
	v.say("it was told to give partitions up and was put out " + dur(held) + " later without having done so; its rebalance timeout is " + dur(*e.rebalance))
	return true
}

// isFrozen: at least two commits repeated the same offsets while records waited.
func (e *evidence) isFrozen(d *departure) bool {
	return e.frozen >= 2 && e.waiting == 1 && e.cad.timer && e.gapHi <= e.cad.most+slack+max(0, e.hi.Sub(e.lo))
}

// windows are the explanations of a silence that the member's protocol, client
// family and timeouts allow.
func (t *track) windows(d *departure) []fit {
	e, m := d.ev, d.Member
	c := e.cad.most
	family := familyOf(m)
	server := d.step.ServerSide && m.ServerSide
	voluntary := !m.StaticLeft.IsZero()
	noLeave := m.Static() && !voluntary || family == inspect.StreamsLib && !server
	var out []fit
	if !noLeave {
		out = append(out, leaveWindows(e)...)
	}
	if e.session != nil && !voluntary {
		lo := *e.session - 100*time.Millisecond
		if server {
			lo = *e.session - e.heartbeat
		}
		out = append(out, fit{cause: inspect.SessionExpired, name: "session.timeout.ms " + dur(*e.session), lo: lo, hi: *e.session + c + slack})
	}
	out = append(out, t.overrunWindows(d, family, noLeave)...)
	return slices.DeleteFunc(out, func(f fit) bool { return d.ruledOut(f.cause) })
}

// ruledOut reports a cause whose timeout cannot have ended since the member last
// took part. A rejoin is a poll for clients that join in poll; librdkafka's thread
// joins by itself.
func (d *departure) ruledOut(c inspect.Cause) bool {
	e := d.ev
	switch c {
	case inspect.SessionExpired:
		if e.session == nil || e.assumed {
			return false
		}
		if d.step.ServerSide {
			return e.tooSoon(*e.session - e.heartbeat)
		}
		return e.tooSoon(*e.session)
	case inspect.PollIntervalExceeded:
		family := familyOf(d.Member)
		return e.rebalance != nil && !d.step.ServerSide && family.PollInterval() && family != inspect.Librdkafka && e.tooSoon(*e.rebalance)
	}
	return false
}

// familyOf is the client library, where it is sure enough to rule windows out.
func familyOf(m *membership.Member) inspect.Family {
	if m.Client.Confidence != inspect.High || m.Client.Family == "" {
		return inspect.Unknown
	}
	return m.Client.Family
}

// leaveWindows: a clean close commits and leaves, or leaves within the cadence of
// a client that commits by itself.
func leaveWindows(e *evidence) []fit {
	c := e.cad
	if !c.timer {
		return []fit{{cause: inspect.MemberLeft, name: "a close", lo: 0, hi: c.most + 300*time.Millisecond}}
	}
	if !c.beat {
		return []fit{{cause: inspect.MemberLeft, name: "a close, whose commit comes before the timer's beat", lo: 0, hi: closeCommit}}
	}
	// On the beat: no closing commit, unless what looks like a timer is a loop.
	return []fit{{cause: inspect.MemberLeft, name: "a close", lo: 0, hi: c.most + 300*time.Millisecond, weak: true}}
}

// overrunWindows: the poll interval as seen by who leaves by itself at R, and by
// who only stops its heartbeat at R and is expired a session later.
func (t *track) overrunWindows(d *departure, family inspect.Family, noLeave bool) []fit {
	e, m := d.ev, d.Member
	server := d.step.ServerSide && m.ServerSide
	if e.rebalance == nil || e.equalTimeouts() && !server && !family.PollInterval() {
		return nil
	}
	if family != inspect.Unknown && !family.PollInterval() {
		return nil
	}
	r, c := *e.rebalance, e.cad.most
	if server && d.ret != nil && d.ret.m.ID != m.ID && d.Member.StaticLeft.IsZero() {
		return nil // the process that overran would have kept its member id
	}
	var out []fit
	// librdkafka's timer commits once more after the poll loop has stalled.
	late := time.Duration(0)
	if e.cad.timer && (family == inspect.Librdkafka || family == inspect.Unknown) {
		late = c
	}
	if direct := !noLeave && !(server && family == inspect.Librdkafka); direct {
		out = append(out, fit{cause: inspect.PollIntervalExceeded, name: "max.poll.interval.ms " + dur(r), lo: r - 100*time.Millisecond - late, hi: r + c + slack})
	}
	stops := noLeave || family == inspect.StreamsLib || server && family == inspect.Librdkafka || family == inspect.Unknown
	if stops && e.session != nil && d.Member.StaticLeft.IsZero() {
		s := *e.session
		out = append(out, fit{cause: inspect.PollIntervalExceeded,
			name: "max.poll.interval.ms " + dur(r) + " and then session.timeout.ms " + dur(s), lo: r + s - e.heartbeat - late, hi: r + s + c + slack})
	}
	return out
}

// equalTimeouts: the rebalance timeout is the session timeout. Some libraries send it
// so, and then it is no poll interval; in others both run out together.
func (e *evidence) equalTimeouts() bool {
	return e.rebalance != nil && e.session != nil && *e.rebalance == *e.session
}

// bySilence compares the silence with the windows.
func (t *track) bySilence(d *departure, v *verdict) {
	e := d.ev
	v.say("last commit " + between(max(0, e.lo.Sub(e.lastAt)), e.gapHi) + " before it was out")
	if e.common > 0 {
		v.say("for " + dur(round(e.common)) + " of that nobody else committed either: an idle topic, or a broker that stood still")
	}
	var hits []fit
	var missed []fit
	for _, f := range t.windows(d) {
		if f.hits(e) {
			hits = append(hits, f)
		} else {
			missed = append(missed, f)
		}
	}
	inBatch := t.inBatch(d, hits)
	weak := len(distinct(hits)) > 1 && e.cad.exactTimer
	if weak {
		hits, weak = withoutWeak(hits)
	}
	causes := distinct(hits)
	defer d.doubtSession(v)
	for _, f := range missed {
		if !slices.Contains(causes, f.cause) && !(e.assumed && f.cause == inspect.SessionExpired) {
			v.add(f.cause, whyNot(f, e))
		}
	}
	meaningless := e.waiting < 0 && !e.cad.repeats && e.gapLo > e.cad.most
	switch {
	case (meaningless || len(causes) == 0) && d.ruledOut(inspect.SessionExpired) && !d.Member.Static():
		t.leftSoon(d, v)
	case meaningless && onlyLeft(possible(d), missed, e):
		v.cause, v.conf = inspect.MemberLeft, inspect.Low
		v.say("too soon after its last commit for any timeout to have ended" + leftByItself)
	case meaningless:
		v.cause, v.conf = inspect.UnknownCause, inspect.Low
		v.name(possible(d), "")
		v.say("no records waited on its partitions, so its silence says nothing")
	case len(causes) == 0:
		t.nothingFits(d, v)
	case len(causes) == 1 && hits[0].weak:
		t.onBeat(d, v)
	case len(causes) == 1:
		t.oneFits(d, v, hits, inBatch)
		if weak {
			v.conf = lower(v.conf, inspect.Medium)
			v.add(inspect.MemberLeft, "")
		}
		t.drained(d, v, hits)
	default:
		v.cause, v.conf = best(hits, d), inspect.Low
		for _, c := range causes {
			if c != v.cause {
				v.add(c, "")
			}
		}
		v.say("the silence fits " + names(hits))
		if d.mayHaveDrained() {
			v.add(inspect.MemberLeft, "")
		}
	}
	t.soonAfter(d, v)
	if inBatch && v.cause != inspect.PollIntervalExceeded {
		v.add(inspect.PollIntervalExceeded, "")
	}
}

// onlyLeft reports whether a close alone is left of what is possible, since the member's
// last commit is too near for every timeout.
func onlyLeft(open []inspect.Cause, missed []fit, e *evidence) bool {
	open = slices.DeleteFunc(slices.Clone(open), func(c inspect.Cause) bool {
		return slices.ContainsFunc(missed, func(f fit) bool { return f.cause == c && e.gapHi < f.lo }) &&
			!slices.ContainsFunc(missed, func(f fit) bool { return f.cause == c && e.gapHi >= f.lo })
	})
	return slices.Equal(open, []inspect.Cause{inspect.MemberLeft})
}

// doubtSession: where the session timeout is a default that nobody read, it rules
// nothing out, and only a close right after a commit can be told.
func (d *departure) doubtSession(v *verdict) {
	if !d.ev.assumed || v.cause == inspect.MemberLeft && v.conf != inspect.Low {
		return
	}
	if v.cause != inspect.SessionExpired {
		v.conf = inspect.Low
	}
	v.add(inspect.SessionExpired, "")
	v.say("the session timeout was not read, " + dur(*d.ev.session) + " is the default")
}

// drained: a member that stops working, closes after a while and is started again
// looks as if it had been put out, where it happens to drain for as long as a
// timeout, and the return is as quick as a restart; a timer's beat and a KIP-848
// member id rule it out. A drain of the length of a poll interval is likely only where
// the windows cover a good part of that; one of a session, which is short, always.
func (t *track) drained(d *departure, v *verdict, hits []fit) {
	e := d.ev
	if d.ret == nil || !d.mayHaveDrained() {
		return
	}
	away, likely := d.ret.step.At.Sub(e.hi), false
	switch v.cause {
	case inspect.SessionExpired:
		// Who gives a process long to come back sets its session so.
		likely = away <= max(quickRestart, orZero(e.session))
	case inspect.PollIntervalExceeded:
		width := e.hi.Sub(e.lo)
		for _, f := range hits {
			width += f.hi - f.lo
		}
		likely = away <= quickRestart && 10*width > max(orZero(e.rebalance), orZero(e.session))
	}
	if !likely {
		return
	}
	v.drainCap = v.conf == inspect.High
	v.conf = lower(v.conf, inspect.Medium)
	v.add(inspect.MemberLeft, "")
	v.say("a close after draining for as long, and a restart, would look the same")
}

// mayHaveDrained reports whether it may have closed after it had worked no more for a
// while: its commits would then have ended as well, and it would not be back as itself.
func (d *departure) mayHaveDrained() bool {
	return !(d.ev.cad.timer && d.ev.cad.repeats) && !d.Member.Static() && !(d.step.ServerSide && d.ret != nil && d.ret.m.ID == d.Member.ID)
}

// withoutWeak drops explanations that a true auto-commit timer rules out, and
// reports whether there were any.
func withoutWeak(hits []fit) ([]fit, bool) {
	kept := slices.DeleteFunc(slices.Clone(hits), func(f fit) bool { return f.weak })
	return kept, len(kept) < len(hits)
}

// onBeat: the last commit came on the beat of what looks like a timer, and the
// member went before the next. A closing client commits out of turn, so either
// the commits come from a loop of the application and it closed, or a background
// committer went on while the poll loop did not.
func (t *track) onBeat(d *departure, v *verdict) {
	v.conf = inspect.Low
	v.say("its last commit came on the beat of " + dur(round(d.ev.cad.median)) + ", so no closing commit was made")
	if d.ret != nil {
		v.cause = inspect.PollIntervalExceeded
		v.add(inspect.MemberLeft, "")
		return
	}
	v.cause = inspect.MemberLeft
	v.add(inspect.PollIntervalExceeded, "")
}

// soonAfter looks at a return in the record that shows the departure, or right
// after it: the new process may have come while the old one still counted.
func (t *track) soonAfter(d *departure, v *verdict) {
	if d.step.ServerSide {
		return
	}
	if d.Swap != nil {
		switch {
		case t.seenApart(d):
			v.say("seen live: it was out before the new process joined")
		case v.cause == inspect.SessionExpired:
			v.cause = inspect.RestartedWithinSession
			v.add(inspect.SessionExpired, "")
			v.say("the same client joined in the record that shows the old member gone: the join waited until the old session had ended")
		case slices.ContainsFunc(v.rivals, func(r inspect.Rival) bool { return r.Cause == inspect.SessionExpired && r.WhyNot == "" }):
			v.add(inspect.RestartedWithinSession, "")
		}
		return
	}
	if v.cause != inspect.SessionExpired || d.ret == nil {
		return
	}
	away := d.ret.step.At.Sub(d.ev.hi)
	if away <= d.ev.heartbeat+slack {
		v.conf = lower(v.conf, inspect.Medium)
	}
	if away <= d.ev.heartbeat+slack || 2*away <= *d.ev.session {
		v.add(inspect.RestartedWithinSession, "")
		v.say("it was back " + dur(away) + " after it was out: a new process may have been on its way already")
	}
}

// inBatch reports that an overrun inside a batch, whose records are committed one
// by one, would look like a close that is followed by a return.
func (t *track) inBatch(d *departure, hits []fit) bool {
	e := d.ev
	if e.cad.timer || e.polled || e.cad.polls(d.Member) || d.ret == nil && d.Swap == nil {
		return false
	}
	if !slices.ContainsFunc(hits, func(f fit) bool { return f.cause == inspect.MemberLeft }) {
		return false
	}
	if d.step.ServerSide {
		return d.ret != nil && d.ret.m.ID == d.Member.ID
	}
	return d.Swap != nil || !d.ret.newHost
}

// oneFits judges a departure that exactly one cause explains.
func (t *track) oneFits(d *departure, v *verdict, hits []fit, inBatch bool) {
	e := d.ev
	v.cause, v.conf = hits[0].cause, inspect.High
	v.say("that is " + names(hits))
	cap := func(c inspect.Confidence, ok bool) {
		if !ok {
			v.conf = lower(v.conf, c)
		}
	}
	cap(inspect.Medium, e.n >= sureCommits)
	cap(inspect.Medium, e.exact || e.live || e.bounded || t.surely(d, v.cause))
	cap(inspect.Medium, !e.assumed || v.cause == inspect.MemberLeft)
	cap(inspect.Medium, d.step.Skipped == 0)
	cap(inspect.Medium, e.narrow())
	switch v.cause {
	case inspect.MemberLeft:
		t.capLeft(d, v, inBatch)
	case inspect.SessionExpired:
		if e.equalTimeouts() && !d.step.ServerSide && familyOf(d.Member) == inspect.Unknown {
			v.conf = lower(v.conf, inspect.Medium)
			v.add(inspect.PollIntervalExceeded, "")
			v.say("its rebalance timeout is as long: where that is its poll interval, an overrun looks the same")
		}
		cap(inspect.Medium, e.waiting == 1 || e.cad.repeats)
		cap(inspect.Medium, d.ret != nil && !d.ret.ambiguous || d.Swap != nil)
		if d.ret == nil && d.Swap == nil {
			v.add(inspect.MemberLeft, "")
			v.say("a crash, and a close by a client that sends no LeaveGroup, look the same")
		}
	case inspect.PollIntervalExceeded:
		cap(inspect.Medium, e.waiting == 1 || e.cad.repeats)
		cap(inspect.Medium, d.ret != nil && !d.ret.ambiguous || d.Swap != nil)
		if d.ret == nil && d.Swap == nil {
			v.add(inspect.MemberLeft, "")
			v.say("it did not come back; a close after draining for as long would look the same")
		}
	}
}

// surely reports whether the cause is the only one that fits even if the survivors
// poll as slowly as their commits allow at most.
func (t *track) surely(d *departure, cause inspect.Cause) bool {
	e := *d.ev
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
	for _, f := range t.windows(d) {
		if f.hits(&e) && f.cause != cause {
			return false
		}
	}
	return true
}

// narrow reports whether the departure is bounded well below the timeouts.
func (e *evidence) narrow() bool {
	width := e.hi.Sub(e.lo)
	limit := orZero(e.rebalance)
	if s := orZero(e.session); limit == 0 || s > 0 && 2*s < limit {
		limit = max(limit, 2*s)
	}
	return limit == 0 || width < limit/4
}

// capLeft: what looks like a clean close may be an overrun inside a batch.
func (t *track) capLeft(d *departure, v *verdict, inBatch bool) {
	e := d.ev
	same := d.step.ServerSide && d.ret != nil && d.ret.m.ID == d.Member.ID
	switch {
	case same && d.Member.StaticLeft.IsZero():
		// The process lives on: it was no close.
		v.cause, v.conf, v.inBatch = inspect.PollIntervalExceeded, inspect.Low, true
		v.add(inspect.MemberLeft, "")
		v.say("the same process came back, so it did not close: an overrun inside a batch whose records are committed one by one, or an unsubscribe")
	case inBatch:
		v.conf = inspect.Low
		v.say("an overrun inside a batch whose records are committed one by one would look the same")
	case !e.cad.timer && !e.polled:
		v.conf = lower(v.conf, inspect.Medium)
		v.add(inspect.PollIntervalExceeded, "")
		v.say("it commits by itself, so an overrun inside a batch, after which it did not come back, is possible")
	case d.ret == nil && d.Swap == nil && !e.tailed:
		v.conf = lower(v.conf, inspect.Medium)
		v.say("the log ends too soon to show a return")
	}
	if e.cad.timer {
		v.say("its last commit came before the timer's beat of " + dur(e.cad.median) + ", as a closing commit does")
	}
}

// nothingFits: the silence lies between the windows.
func (t *track) nothingFits(d *departure, v *verdict) {
	e := d.ev
	v.cause, v.conf = inspect.UnknownCause, inspect.Low
	if e.session == nil {
		v.name(possible(d), "")
		return
	}
	early := *e.session - slack
	if d.step.ServerSide {
		early -= e.heartbeat
	}
	switch {
	case e.gapHi < early && !d.Member.Static() && !e.assumed:
		// Too soon for any timeout: it left by itself.
		v.cause, v.conf = inspect.MemberLeft, inspect.Low
		v.say("too soon for its session of " + dur(*e.session) + " to have ended: it left by itself, " + between(e.gapLo, e.gapHi) + " after its last commit")
		v.add(inspect.PollIntervalExceeded, "")
	case e.gapLo > *e.session+e.cad.most+slack && (e.rebalance == nil || *e.rebalance == *e.session) && d.ret != nil:
		v.cause, v.conf = inspect.PollIntervalExceeded, inspect.Low
		v.say("silent for longer than its session allows, so it went on heartbeating, then left and came back: its poll interval, which is not on the wire, ended")
		v.add(inspect.MemberLeft, "")
		v.add(inspect.SessionExpired, "")
	case t.lateOverrun(d):
		v.cause, v.conf = inspect.PollIntervalExceeded, inspect.Low
		v.rivals = withoutRival(v.rivals, v.cause)
		v.say("records waited, the same process came back, and its session of " + dur(*e.session) + " would have ended long before: longer than its max.poll.interval.ms of " +
			dur(*e.rebalance) + ", which a busy machine notices late")
		v.name(possible(d), "")
	default:
		v.name(possible(d), "")
		v.say("the silence fits no timeout")
	}
}

// lateOverrun reports a KIP-848 member that was put out somewhat later than its poll
// interval allows, when its session would have ended long before, and that came back
// as the same process: it neither closed nor crashed.
func (t *track) lateOverrun(d *departure) bool {
	e := d.ev
	if !d.step.ServerSide || d.ret == nil || d.ret.m.ID != d.Member.ID || d.Member.Static() || e.waiting != 1 || e.rebalance == nil || e.assumed {
		return false
	}
	family := familyOf(d.Member)
	if family != inspect.Unknown && !family.PollInterval() {
		return false
	}
	over := e.gapLo - *e.rebalance
	return over > 0 && over <= *e.session && e.gapLo > *e.session+e.cad.most+slack
}

// withoutCommits: nothing was committed, so only ids and structure speak.
func (t *track) withoutCommits(d *departure, v *verdict) {
	e := d.ev
	v.cause, v.conf = inspect.UnknownCause, inspect.Low
	switch {
	case d.step.Polled:
		v.say("seen by polls alone, the offsets topic was not read: when it last committed is not known")
	case e.compacted:
		v.say("its commits may have been compacted away: silence cannot be measured")
	default:
		v.say("only " + itoa(int32(min(e.n, 1000))) + " commits on its partitions: silence cannot be measured")
	}
	switch {
	case d.early != nil:
		v.cause, v.conf = inspect.SessionExpired, inspect.Medium
		v.say("the same client had joined under a new id while the old one was still a member: the old process was gone without a LeaveGroup")
		v.add(inspect.MemberLeft, "")
	case d.ruledOut(inspect.SessionExpired) && !d.Member.Static():
		t.leftSoon(d, v)
	case d.Swap != nil && !d.step.ServerSide && !t.seenApart(d):
		v.cause = inspect.RestartedWithinSession
		v.say("the same client had joined by the time that the old member was gone")
		v.name(possible(d), "")
	default:
		v.name(possible(d), "")
	}
}

// leftSoon: it took part so shortly before it went that its session cannot have
// ended: it left by itself.
func (t *track) leftSoon(d *departure, v *verdict) {
	e := d.ev
	v.cause, v.conf = inspect.MemberLeft, inspect.Low
	v.say("it had taken part in a rebalance " + dur(round(e.hi.Sub(e.aliveAt))) + " before, so its session of " + dur(*e.session) + " cannot have ended" + leftByItself)
	if slices.Contains(possible(d), inspect.PollIntervalExceeded) && (e.rebalance == nil || e.hi.Sub(e.aliveAt) >= *e.rebalance/2) {
		v.add(inspect.PollIntervalExceeded, "")
		return
	}
	v.conf = inspect.Medium
}

// leftByItself ends the reason of a departure that no timeout explains.
const leftByItself = ": it left by itself"

// possible are the causes that a departure without usable silence leaves open.
func possible(d *departure) []inspect.Cause {
	out := []inspect.Cause{inspect.SessionExpired}
	if !d.Member.Static() || !d.Member.StaticLeft.IsZero() {
		out = append(out, inspect.MemberLeft)
	}
	newProcess := d.step.ServerSide && d.ret != nil && d.ret.m.ID != d.Member.ID
	family := familyOf(d.Member)
	if !newProcess && (family.PollInterval() || family == inspect.Unknown || family == inspect.AIOKafka) {
		out = append(out, inspect.PollIntervalExceeded)
	}
	if d.ev != nil {
		out = slices.DeleteFunc(out, d.ruledOut)
	}
	return out
}

// best is the explanation to print first: strong before weak, then the one whose
// window lies nearest to where in its interval the departure most likely was:
// late, as survivors that poll quickly end the join phase soon after it.
func best(hits []fit, d *departure) inspect.Cause {
	e := d.ev
	mid := (e.gapLo + 2*e.gapHi) / 3
	if d.Swap != nil && !d.step.ServerSide {
		mid = e.gapHi // the join phase ended with the departure
	}
	b := hits[0]
	score := func(f fit) time.Duration {
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

func distinct(hits []fit) []inspect.Cause {
	var out []inspect.Cause
	for _, f := range hits {
		if !slices.Contains(out, f.cause) {
			out = append(out, f.cause)
		}
	}
	return out
}

func names(hits []fit) string {
	var out []string
	for _, f := range hits {
		out = append(out, f.name)
	}
	return strings.Join(out, ", or ")
}

func whyNot(f fit, e *evidence) string {
	if e.gapHi < f.lo {
		return f.name + " would have taken " + dur(f.lo) + " at least; it was out after " + dur(e.gapHi)
	}
	return f.name + " would have taken " + dur(max(0, f.hi)) + " at most; it was silent for " + dur(e.gapLo)
}

func lower(a, b inspect.Confidence) inspect.Confidence {
	rank := map[inspect.Confidence]int{inspect.Low: 0, inspect.Medium: 1, inspect.High: 2}
	if rank[a] < rank[b] {
		return a
	}
	return b
}

func (v *verdict) say(s string) { v.why = append(v.why, s) }

// add names a rival once; an open rival outranks one with a reason against it.
func (v *verdict) add(c inspect.Cause, whyNot string) {
	if c == v.cause {
		return
	}
	for i, r := range v.rivals {
		if r.Cause == c {
			if whyNot == "" {
				v.rivals[i].WhyNot = ""
			}
			return
		}
	}
	v.rivals = append(v.rivals, inspect.Rival{Cause: c, WhyNot: whyNot})
}

func (v *verdict) name(causes []inspect.Cause, whyNot string) {
	for _, c := range causes {
		v.add(c, whyNot)
	}
}

// returnedAs says as what a member came back. Classic groups cannot tell a paused
// process from a restarted one, unless it came back on another host.
func returnedAs(d *departure, e *evidence) inspect.Returned {
	switch {
	case d.early != nil:
		return inspect.ReturnedNewProcess
	case d.Swap != nil && d.step.ServerSide:
		return inspect.ReturnedNewProcess
	case d.Swap != nil:
		return inspect.ReturnedUnknown
	case d.ret == nil:
		return inspect.ReturnedNo
	case d.ret.ambiguous:
		return inspect.ReturnedUnknown
	case d.ret.newHost:
		return inspect.ReturnedNewProcess
	case d.step.ServerSide && d.ret.m.ID == d.Member.ID:
		return inspect.ReturnedSameProcess
	case d.step.ServerSide:
		return inspect.ReturnedNewProcess
	}
	return inspect.ReturnedUnknown
}
