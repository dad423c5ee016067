package judge

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// group is what was read of one group, in the form that evidence is taken from. What
// it holds does not change once newGroup has made it, but for what the pipeline adds
// to each departure, once: its return, its evidence, its verdict.
type group struct {
	*membership.History
	in      Input
	commits map[membership.TopicPartition][]commit
	asked   map[membership.TopicPartition][]inspect.OffsetAt // what leaders answered
	end     time.Time
	limits  inspect.Limits
	steps   []*step
	leaves  map[string][]time.Time // KIP-848: when a member id left, oldest first
}

// commit is an offset commit in the order of the group's records.
type commit struct {
	pos    int
	at     time.Time
	after  time.Time // it was made after this, where polls saw it; zero: at that moment
	offset int64
	thin   bool // commits before it were left out
}

// step is one step of the membership.
type step struct {
	*membership.Step
	index     int // among the steps
	left      []*departure
	replaced  []replacement
	back      map[string]*departure // who came back in it, by the new member id
	longest   time.Duration         // the longest rebalance timeout of those who took part; 0 unknown
	survivors []survivor            // where somebody went
	moved     bool                  // the coordinator moved between the record before it and it
}

// wholesale reports a step in which every member of a group of several went, and others
// of the same clients were there at once: what happened to all of them at one moment is
// no restart of one process.
func (s *step) wholesale() bool {
	if len(s.Before) < 2 || len(s.left) != len(s.Before) {
		return false
	}
	return !slices.ContainsFunc(s.left, func(d *departure) bool { return d.Swap == nil && d.ret == nil })
}

// departure is a member that went in a step.
type departure struct {
	*membership.Departure
	step   *step
	limits timeouts
	ret    *comeback
	early  *comeback // KIP-848: joined before this one was put out
	ev     *evidence
	v      verdict
}

// replacement is a static member whose place another process took.
type replacement struct {
	membership.Replacement
	v swapVerdict
}

func newGroup(in Input, opts Options) *group {
	m := membership.Read(membership.Input{Records: in.Records, Observations: in.Observations, Snapshot: in.Snapshot,
		Options: membership.Options{Family: opts.Family, Logs: in.Logs}})
	g := &group{History: m, in: in, commits: map[membership.TopicPartition][]commit{}, end: in.End.Time, leaves: map[string][]time.Time{}}
	if m.Until.After(g.end) {
		g.end = m.Until
	}
	if in.Snapshot != nil {
		g.limits = in.Snapshot.Limits
	}
	for i, r := range m.Records {
		if r.Commit == nil || r.Type > inspect.RecOffsetCommit {
			continue
		}
		k := membership.TopicPartition{Topic: r.Topic, Partition: r.TopicPartition}
		g.commits[k] = append(g.commits[k], commit{pos: i, at: r.Time.Time, after: r.Commit.After.Time, offset: r.Commit.Offset, thin: r.Commit.Thinned > 0})
	}
	g.asked = map[membership.TopicPartition][]inspect.OffsetAt{}
	for _, o := range in.OffsetsAt {
		k := membership.TopicPartition{Topic: o.Topic, Partition: o.Partition}
		g.asked[k] = append(g.asked[k], o)
	}
	for i, ms := range m.Steps {
		s := &step{Step: ms, index: i, back: map[string]*departure{}, moved: g.leaderChanged(max(0, ms.First-2), ms.First)}
		for _, d := range ms.Left {
			s.left = append(s.left, &departure{Departure: d, step: s, limits: g.timeoutsOf(d.Member)})
			g.leaves[d.Member.ID] = append(g.leaves[d.Member.ID], s.At)
		}
		for _, r := range ms.Replaced {
			s.replaced = append(s.replaced, replacement{Replacement: r})
		}
		for _, all := range []map[string]*membership.Member{s.Before, s.After} {
			for _, m := range all {
				s.longest = max(s.longest, inspect.Or(m.Rebalance, 0))
			}
		}
		g.steps = append(g.steps, s)
	}
	for _, s := range g.steps {
		if len(s.left) > 0 {
			s.survivors = g.survivorsOf(s)
		}
	}
	return g
}
