package membership

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// Polls are what describe polls saw of one group, oldest first: one observation for
// each run of polls that saw the same.
type Polls []inspect.Observation

const (
	// maxRuns bounds the runs that are kept.
	maxRuns = 10_000
	// nearPoll is the longest pause between two polls that still bounds what happened
	// between them better than the log does.
	nearPoll = 5 * time.Second
)

// Add keeps a poll, as a run with those before it that saw the same.
func (p *Polls) Add(o inspect.Observation) {
	if n := len(*p); n > 0 && sameSight(&(*p)[n-1], &o) {
		(*p)[n-1].To = o.To
		return
	}
	*p = append(*p, o)
	if len(*p) > maxRuns {
		*p = slices.Clone((*p)[maxRuns/10:])
	}
}

// sameSight reports whether two polls saw the same.
func sameSight(a, b *inspect.Observation) bool {
	return a.State == b.State && a.Error == b.Error && a.Coordinator == b.Coordinator && same(a.Epoch, b.Epoch) &&
		same(a.GenerationBound, b.GenerationBound) && slices.EqualFunc(a.Members, b.Members, func(x, y inspect.ObservedMember) bool {
		return x.MemberID == y.MemberID && x.Host == y.Host && same(x.Epoch, y.Epoch) &&
			slices.EqualFunc(x.Assignment, y.Assignment, func(p, q inspect.TopicPartitions) bool {
				return p.Topic == q.Topic && slices.Equal(p.Partitions, q.Partitions)
			})
	})
}

// same compares what may be unknown.
func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// Left finds the last poll that saw a member before a moment, and the first after that
// which did not: each is zero where there is none. They bound the departure where ok.
func (p Polls) Left(memberID string, before time.Time) (with, without time.Time, ok bool) {
	for i := range p {
		o := &p[i]
		if o.Error != "" {
			continue
		}
		if slices.ContainsFunc(o.Members, func(m inspect.ObservedMember) bool { return m.MemberID == memberID }) {
			if !o.From.After(before) {
				with, without = o.To.Time, time.Time{}
			}
			continue
		}
		if !with.IsZero() && without.IsZero() && !o.From.Before(with) && !Inactive(o.State) {
			without = o.From.Time
		}
	}
	ok = !with.IsZero() && !without.IsZero() && without.Sub(with) <= nearPoll && !with.After(before)
	return with, without, ok
}

// Rebalancing is the span in which the group was seen rebalancing before a step ended:
// the last poll that saw it at rest, the first that did not and the last of those;
// each is zero where there is none.
func (p Polls) Rebalancing(s *Step) (rest, from, to time.Time) {
	for i := range p {
		o := &p[i]
		if o.Error != "" || !o.From.Before(s.EndAt) {
			continue // it may have seen the group as the step left it, and of a polled one did
		}
		switch o.State {
		case "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling":
			if from.IsZero() {
				from = o.From.Time
			}
			to = o.To.Time
		default:
			rest, from, to = o.To.Time, time.Time{}, time.Time{}
		}
	}
	if !to.IsZero() && s.At.Sub(to) > nearPoll {
		from, to = time.Time{}, time.Time{}
	}
	return rest, from, to
}
