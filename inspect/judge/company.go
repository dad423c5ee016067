package judge

import (
	"github.com/kgdiag/kgdiag/inspect"
)

// company is what the departures of a group show together: how often the same member
// went in the same way.
type company struct {
	tenures int // it went as long after it had joined as its poll interval is
	drained int // it was silent for a timeout, which a close after draining for as long could explain
}

// gatherCompany fills in what departures show together, out of what each shows alone.
func gatherCompany(all []*evidence) {
	type who struct {
		name, host string
		cause      inspect.Cause
	}
	tenures, drained := map[who][]*evidence{}, map[who][]*evidence{}
	for _, e := range all {
		k := who{name: e.Member.Name(), host: e.Member.Host}
		if e.wentAtInterval() {
			tenures[k] = append(tenures[k], e)
		}
		if k.cause = e.alone.cause; e.alone.drains && e.alone.undrained == inspect.High && (e.stated == nil || e.stated.Cause == k.cause) {
			drained[k] = append(drained[k], e)
		}
	}
	for _, list := range tenures {
		for _, e := range list {
			e.tenures = len(list)
		}
	}
	for _, list := range drained {
		for _, e := range list {
			e.drained = len(list)
		}
	}
}

// Least numbers of times that make a habit.
const (
	leastTenures = 2
	leastDrained = 2
)

// wentAtInterval: the trace of an overrun inside a batch whose records are committed one
// by one. Each looks like a close; but a member that goes every time as long after it
// came as its poll interval is, and comes back, does not close.
func (e *evidence) wentAtInterval() bool {
	if e.rebalance == 0 || e.Member.Since.IsZero() || e.ret == nil || e.stated != nil || e.alone.cause == inspect.SessionExpired {
		return false
	}
	r := e.rebalance
	return e.tenure >= r-r/50 && e.tenure <= r+slack+e.hi.Sub(e.lo)
}
