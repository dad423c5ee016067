package judge

import (
	"slices"

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
// process from a restarted one, unless it came back on another host.
func returnedAs(e *evidence) inspect.Returned {
	switch {
	case e.early != nil:
		return inspect.ReturnedNewProcess
	case e.Swap != nil && e.step.ServerSide:
		return inspect.ReturnedNewProcess
	case e.Swap != nil:
		return inspect.ReturnedUnknown
	case e.ret == nil:
		return inspect.ReturnedNo
	case e.ret.ambiguous:
		return inspect.ReturnedUnknown
	case e.ret.newHost:
		return inspect.ReturnedNewProcess
	case e.step.ServerSide && e.ret.m.ID == e.Member.ID:
		return inspect.ReturnedSameProcess
	case e.step.ServerSide:
		return inspect.ReturnedNewProcess
	}
	return inspect.ReturnedUnknown
}
