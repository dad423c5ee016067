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

// Evictions counts the members that left, by group: those that were evicted or had to leave,
// as far as their causes are told, and those whose causes are not. The zero Evictions is ready.
type Evictions struct {
	counted map[record]int // evictions, 0 of a cause that is none
	left    map[record]int // members that left, as records tell
}

// record is one of a group's, "31:123456".
type record struct{ group, id string }

// Add takes an event. A later word about the same rebalance may take an eviction back.
func (v *Evictions) Add(e *Event) {
	if v.counted == nil {
		v.counted, v.left = map[record]int{}, map[record]int{}
	}
	at := record{e.Group, e.Record}
	switch {
	case e.Past || e.Record == "":
	case e.Type == RebalanceDone && len(e.Left) > 0:
		v.left[at] = len(e.Left)
	case e.Type == CauseFound && e.Cause.Explained():
		if e.Evictions+v.left[at] > 0 {
			v.counted[at] = e.Evictions
		}
	case e.Type == CauseFound:
		delete(v.counted, at)
	}
}

// Of is how many evictions there were in a group.
func (v *Evictions) Of(group string) int {
	n := 0
	for at, evictions := range v.counted {
		if at.group == group {
			n += evictions
		}
	}
	return n
}

// Unjudged is how many members left a group without a cause that was told.
func (v *Evictions) Unjudged(group string) int {
	n := 0
	for at, left := range v.left {
		if _, told := v.counted[at]; !told && at.group == group {
			n += left
		}
	}
	return n
}
