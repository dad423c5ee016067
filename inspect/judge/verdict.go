package judge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

// verdict is the cause of one departure.
type verdict struct {
	cause    inspect.Cause
	conf     inspect.Confidence
	basis    inspect.Basis
	rivals   []inspect.Rival
	why      []string
	returned inspect.Returned
	inBatch  bool // the overrun happened inside a batch whose records were committed one by one
	// drains: it may have drained for just as long as a timeout. undrained is the
	// confidence without that doubt.
	drains    bool
	undrained inspect.Confidence
	seenHeld  string // the join phase was seen to wait for it
	paused    string // what a log says of its longest pause
	byProcess bool   // stated by the end of its process
}

// judge makes the verdict on a departure, once, of all the evidence: a log line that
// states the cause is taken at its word; else what the departure shows by itself, unless
// several departures together show more, or polls saw the join phase wait for it.
func judge(e *evidence) verdict {
	v := e.alone
	v.rivals, v.why = slices.Clone(v.rivals), slices.Clone(v.why)
	v.hearPauses(e)
	switch {
	case e.stated != nil:
		v.state(e)
	case e.process.states(&v):
		v.stateEnd(e)
	default:
		v.compareWith(e)
		v.seeHeld(e)
	}
	v.hearProcess(e)
	if e.step.Compacted {
		// Who came and went is the sum of all that was eaten: no cause of this one.
		v.conf = inspect.Low
	}
	return v
}

func (v *verdict) say(s string) {
	if s != "" {
		v.why = append(v.why, s)
	}
}

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

// hasOpen reports a rival that nothing speaks against.
func (v *verdict) hasOpen(c inspect.Cause) bool {
	return slices.ContainsFunc(v.rivals, func(r inspect.Rival) bool { return r.Cause == c && r.WhyNot == "" })
}

// isClose reports a close that the evidence does more than leave open.
func (v *verdict) isClose() bool { return v.cause == inspect.MemberLeft && v.conf != inspect.Low }

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

// returnedAs says as what a member came back. Classic groups cannot tell a paused
// process from a restarted one, unless it came back on another host, or its client
// remembers the group.
func returnedAs(e *evidence) inspect.Returned {
	switch {
	case e.early != nil:
		return inspect.ReturnedNewProcess
	case e.Swap != nil && e.step.ServerSide:
		return inspect.ReturnedNewProcess
	case e.livesOn():
		return inspect.ReturnedSameProcess
	case e.isNew() && !e.ret.ambiguous:
		return inspect.ReturnedNewProcess
	case e.Swap != nil:
		return inspect.ReturnedUnknown
	case e.ret == nil:
		return inspect.ReturnedNo
	case e.ret.ambiguous:
		return inspect.ReturnedUnknown
	case e.ret.newHost:
		return inspect.ReturnedNewProcess
	case e.step.ServerSide:
		return inspect.ReturnedNewProcess
	}
	return inspect.ReturnedUnknown
}

// hearPauses takes the longest pause of the process into account: one as long as the
// session is why that expired.
func (v *verdict) hearPauses(e *evidence) {
	if len(e.pauses) == 0 {
		return
	}
	ev := slices.MaxFunc(e.pauses, func(x, y *inspect.LogEvent) int { return cmp.Compare(*x.Length, *y.Length) })
	v.paused = ev.From.String() + ": the process paused for " + dur(ev.Length.Duration())
	if ev.Length.Duration() < e.session {
		v.paused = ev.From.String() + ": the longest pause that it shows of that time is " + dur(ev.Length.Duration())
	}
	v.say(v.paused)
	if ev.Length.Duration() < e.session || v.cause != inspect.SessionExpired {
		return
	}
	v.returned, v.basis = inspect.ReturnedSameProcess, inspect.Stated
	if ev.ClientID != "" || ev.Host != "" {
		v.conf = inspect.High
	} else if v.conf == inspect.Low {
		v.conf = inspect.Medium
	}
}

// state replaces an inferred cause by a stated one; what was inferred stays as a
// rival that the log speaks against.
func (v *verdict) state(e *evidence) {
	ev, old := e.stated, v.cause
	for i := range v.rivals {
		v.rivals[i].WhyNot = "the log says otherwise"
	}
	v.cause, v.conf, v.basis = ev.Cause, e.statedConf, inspect.Stated
	v.rivals = withoutRival(v.rivals, ev.Cause)
	if old != ev.Cause && old != inspect.UnknownCause {
		v.add(old, "the log says otherwise")
	}
	v.say(ev.From.String() + ": " + said(ev))
}

// stateEnd replaces an inferred cause by the one that the end of the process states.
func (v *verdict) stateEnd(e *evidence) {
	old := v.cause
	for i := range v.rivals {
		v.rivals[i].WhyNot = "its process ended"
	}
	v.cause, v.conf, v.basis, v.byProcess = e.process.Cause, inspect.High, inspect.Stated, true
	v.rivals = withoutRival(v.rivals, v.cause)
	v.why = v.why[:min(1, len(v.why))] // of the doubts about the silence nothing is left
	if old != v.cause && old != inspect.UnknownCause {
		v.add(old, "its process ended")
	}
	if e.cameBack() {
		v.returned = inspect.ReturnedNewProcess // the old one is gone
	}
}

// hearProcess says what became of the process, and what a process that lived on rules out.
func (v *verdict) hearProcess(e *evidence) {
	if e.process.Fate == "" {
		return
	}
	v.say(e.process.Text)
	if e.process.Fate != inspect.FateLivedOn {
		return
	}
	switch {
	case v.cause == inspect.SessionExpired && e.cameBack():
		v.returned = inspect.ReturnedSameProcess
	case v.cause == inspect.RestartedWithinSession && v.basis == inspect.Inferred:
		v.conf = inspect.LessSure(v.conf, inspect.Low)
		v.say("so its consumer was made anew within the process, without a close of the old one")
	}
	for i := range v.rivals {
		if v.rivals[i].Cause == inspect.RestartedWithinSession && v.rivals[i].WhyNot == "" {
			v.rivals[i].WhyNot = "its process ran on"
		}
	}
}

// compareWith takes the other departures of the same member into account.
func (v *verdict) compareWith(e *evidence) {
	switch {
	case e.tenures >= leastTenures && !(v.cause == inspect.PollIntervalExceeded && v.conf != inspect.Low):
		old := v.cause
		v.cause, v.conf, v.inBatch = inspect.PollIntervalExceeded, inspect.Medium, e.n >= leastCommits && e.gapHi <= e.cad.most+soonBack
		v.rivals = withoutRival(v.rivals, v.cause)
		if old != inspect.UnknownCause {
			v.add(old, "")
		}
		v.say(itoa(int32(e.tenures)) + " times it went " + dur(round(e.tenure)) + " after it had joined, as long as its poll interval: a batch longer than that")
	case e.drained >= leastDrained:
		// Nobody drains for just as long as a timeout again and again.
		v.conf = inspect.High
		for i := range v.rivals {
			if v.rivals[i].Cause == inspect.MemberLeft {
				v.rivals[i].WhyNot = itoa(int32(e.drained)) + " times it would have drained for just as long before it closed"
			}
		}
	}
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

// heldVerdict is the verdict on a member that a join phase waited for until the
// rebalance timeout.
func (e *evidence) heldVerdict(old *verdict) verdict {
	limit, family := e.held.limit, e.family
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
	if e.session > 0 && (e.session-limit).Abs() <= e.heartbeat+slack || e.session > 0 && e.session > limit && (!e.silent || e.gapHi >= e.session-slack) {
		v.add(inspect.SessionExpired, "")
		v.conf = inspect.Medium
	}
	if !e.live || e.held.most-e.held.least > sharpHeld {
		v.conf = inspect.LessSure(v.conf, inspect.Medium)
	}
	return v
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

// doubt applies a doubt, where it holds.
func (v *verdict) doubt(e *evidence, d *doubt) {
	if !d.when(e, v) {
		return
	}
	if d.cap != "" {
		v.conf = inspect.LessSure(v.conf, d.cap)
		if !d.drain {
			v.undrained = inspect.LessSure(v.undrained, d.cap)
		}
	}
	v.drains = v.drains || d.drain
	if d.rival != "" {
		v.add(d.rival, "")
	}
	if d.says != nil {
		v.say(d.says(e))
	}
}
