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
	end     time.Time
	limits  inspect.Limits
	steps   []*step
	leaves  map[string][]time.Time // KIP-848: when a member id left, oldest first
}

// commit is an offset commit in the order of the group's records.
type commit struct {
	pos    int
	at     time.Time
	offset int64
	thin   bool // commits before it were left out
}

// step is one step of the membership.
type step struct {
	*membership.Step
	index    int // among the steps
	left     []*departure
	replaced []replacement
	back     map[string]*departure // who came back in it, by the new member id
	moved    bool                  // the coordinator moved between the record before it and it
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
	step  *step
	ret   *comeback
	early *comeback // KIP-848: joined before this one was put out
	ev    *evidence
	v     verdict
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
		g.commits[k] = append(g.commits[k], commit{pos: i, at: r.Time.Time, offset: r.Commit.Offset, thin: r.Commit.Thinned > 0})
	}
	for i, ms := range m.Steps {
		s := &step{Step: ms, index: i, back: map[string]*departure{}, moved: g.leaderChanged(max(0, ms.First-2), ms.First)}
		for _, d := range ms.Left {
			s.left = append(s.left, &departure{Departure: d, step: s})
			g.leaves[d.Member.ID] = append(g.leaves[d.Member.ID], s.At)
		}
		for _, r := range ms.Replaced {
			s.replaced = append(s.replaced, replacement{Replacement: r})
		}
		g.steps = append(g.steps, s)
	}
	return g
}

// mostTicks is how many commits of a partition are looked at: those before tell
// nothing of the present pace.
const mostTicks = 512

// firstAfter is the index of the first commit behind a record.
func firstAfter(list []commit, pos int) int {
	i, _ := slices.BinarySearchFunc(list, pos, func(c commit, p int) int {
		if c.pos <= p {
			return -1
		}
		return 1
	})
	return i
}

// countOf is how many commits there are on some partitions, each since a record,
// before a record.
func (g *group) countOf(held map[membership.TopicPartition]int, before int) int {
	n := 0
	for k, from := range held {
		list := g.commits[k]
		n += max(0, firstAfter(list, before-1)-firstAfter(list, from))
	}
	return n
}

// commitsOf are the commits on some partitions, each since a record, before a record.
func (g *group) commitsOf(held map[membership.TopicPartition]int, before int) []tick {
	type one struct {
		commit
		part membership.TopicPartition
		step int64
	}
	var all []one
	for k, from := range held {
		list := g.commits[k]
		hi := firstAfter(list, before-1)
		lo := max(firstAfter(list, from), hi-mostTicks)
		prev := int64(-1)
		if lo > 0 && lo < hi {
			prev = list[lo-1].offset
		}
		for _, c := range list[min(lo, hi):hi] {
			step := int64(-1)
			if prev >= 0 && !c.thin {
				step = c.offset - prev
			}
			all = append(all, one{c, k, step})
			prev = c.offset
		}
	}
	slices.SortFunc(all, func(a, b one) int { return a.pos - b.pos })
	var out []tick
	for _, c := range all {
		if n := len(out); n > 0 && c.at.Sub(out[n-1].at) <= mergeTicks && c.part != out[n-1].part {
			out[n-1].advanced = out[n-1].advanced || c.step > 0
			out[n-1].step = max(out[n-1].step, c.step)
			out[n-1].total += max(0, c.step)
			// The records of one call have one timestamp.
			out[n-1].whole = out[n-1].whole || c.at.Equal(out[n-1].at) && (c.step > 0 || out[n-1].advanced)
			out[n-1].pos = c.pos
			continue
		}
		out = append(out, tick{at: c.at, pos: c.pos, advanced: c.step != 0, step: c.step, total: max(0, c.step), part: c.part, thin: c.thin})
	}
	return out
}

// leaderChanged reports whether the leader epoch of the offsets partition changed from
// one record to another, both included.
func (g *group) leaderChanged(from, to int) bool {
	epoch := int32(-1)
	for i := from; i <= to && i < len(g.Records); i++ {
		le := g.Records[i].LeaderEpoch
		if le < 0 {
			continue
		}
		if epoch >= 0 && le != epoch {
			return true
		}
		epoch = le
	}
	return false
}

// longestRebalance is the longest rebalance timeout of those who took part; 0 unknown.
func (s *step) longestRebalance() time.Duration {
	var most time.Duration
	for _, all := range []map[string]*membership.Member{s.Before, s.After} {
		for _, m := range all {
			if m.Rebalance != nil {
				most = max(most, m.Rebalance.Duration())
			}
		}
	}
	return most
}
