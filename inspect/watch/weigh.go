package watch

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Trips reports whether an event trips --fail-on. What needs a cause trips when the
// cause is told.
func (e *Event) Trips(f inspect.FailOn) bool {
	if f == inspect.FailRebalance {
		return e.CountsAsRebalance()
	}
	return e.Type == CauseFound && f.Cause(e.Cause, e.Confidence)
}

// At is when what an event tells happened.
func (e *Event) At() inspect.Time {
	if !e.Happened.IsZero() {
		return e.Happened
	}
	return e.Time
}

// SaysAgain reports a cause that the event of the same rebalance has said already: that
// a member joined.
func (e *Event) SaysAgain() bool { return e.Type == CauseFound && e.Cause == inspect.MemberJoined }

// Reason is the figures behind a cause, or else the first piece of its evidence; ""
// for neither.
func (e *Event) Reason() string {
	switch {
	case e.Cause == inspect.PollIntervalExceeded && e.Limit != nil && e.Stall != nil:
		return fmt.Sprintf("had %s, needed %s", prose.Span(e.Limit.Duration()), prose.Span(e.Stall.Duration()))
	case len(e.Evidence) > 0:
		return e.Evidence[0]
	}
	return ""
}

// Instead are the causes that fit as well, where the one told is not sure.
func (e *Event) Instead() []inspect.Cause {
	if e.Confidence == inspect.High {
		return nil
	}
	return inspect.OpenCauses(e.Rivals)
}

// Evictions counts the members that were put out, by group, as far as their causes are
// told. The zero Evictions is ready.
type Evictions struct {
	counted map[string]string // the group of each record whose eviction counts
}

// Add takes an event. A later word about the same rebalance may take an eviction back.
func (v *Evictions) Add(e *Event) {
	if e.Type != CauseFound {
		return
	}
	if v.counted == nil {
		v.counted = map[string]string{}
	}
	key := e.Group + "\x00" + e.Record
	if inspect.FailEviction.Cause(e.Cause, e.Confidence) {
		v.counted[key] = e.Group
	} else {
		delete(v.counted, key)
	}
}

// Of is how many there were in a group.
func (v *Evictions) Of(group string) int {
	n := 0
	for _, g := range v.counted {
		if g == group {
			n++
		}
	}
	return n
}
