package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// Options tune Build; the zero Options is ready to use.
type Options struct {
	// Family guesses the client library of a member; nil means family.Guess.
	Family func(family.Evidence) inspect.ClientGuess
}

// Build rebuilds the timelines of all groups that the Case holds records or
// observations of, ordered by group id. It does not change the Case. Records may
// come in any order; a record that was read twice counts once.
func Build(c *inspect.Case, opts Options) []inspect.Timeline {
	in := split(c)
	out := make([]inspect.Timeline, 0, len(in))
	for _, g := range in {
		out = append(out, BuildGroup(*g, opts))
	}
	return out
}

// Input is everything known about one group.
type Input struct {
	Group        string
	Records      []*inspect.Record
	Observations []inspect.Observation
	Events       []inspect.LogEvent // of this group, or of no group that they name
	Snapshot     *inspect.Group     // null where the group was not described
	Logs         []inspect.PartitionLog
	End          inspect.Time // until when the log was read; zero: the newest record
}

// split sorts the facts of a Case by group.
func split(c *inspect.Case) []*Input {
	byID := map[string]*Input{}
	get := func(id string) *Input {
		in := byID[id]
		if in == nil {
			in = &Input{Group: id, Logs: c.Logs, End: readUntil(c)}
			byID[id] = in
		}
		return in
	}
	for i := range c.Records {
		in := get(c.Records[i].Group)
		in.Records = append(in.Records, &c.Records[i])
	}
	for i := range c.Observations {
		in := get(c.Observations[i].Group)
		in.Observations = append(in.Observations, c.Observations[i])
	}
	for i := range c.Groups {
		get(c.Groups[i].ID).Snapshot = &c.Groups[i]
	}
	out := make([]*Input, 0, len(byID))
	for _, in := range byID {
		out = append(out, in)
	}
	slices.SortFunc(out, func(a, b *Input) int { return cmp.Compare(a.Group, b.Group) })
	for _, ev := range c.LogEvents {
		for _, in := range out {
			if ev.Group == "" || ev.Group == in.Group {
				in.Events = append(in.Events, ev)
			}
		}
	}
	return out
}

// readUntil is the moment up to which the log of a Case was read.
func readUntil(c *inspect.Case) inspect.Time {
	if !c.Window.To.IsZero() {
		return c.Window.To
	}
	var end inspect.Time
	for i := range c.Records {
		if c.Records[i].Time.After(end.Time) {
			end = c.Records[i].Time
		}
	}
	return end
}

// BuildGroup rebuilds the timeline of one group.
func BuildGroup(in Input, opts Options) inspect.Timeline {
	t := newTrack(in, opts)
	for _, s := range t.steps {
		t.findReturns(s)
	}
	t.returns = map[arrival]*departure{}
	for _, s := range t.steps {
		for _, d := range s.left {
			if d.ret != nil {
				t.returns[arrival{d.ret.step, d.ret.m.ID}] = d
			}
		}
	}
	for _, s := range t.steps {
		t.judgeStep(s)
	}
	t.secondLook()
	return t.timeline()
}

// track is the working state of one group.
type track struct {
	*membership.History
	in      Input
	commits map[membership.TopicPartition][]commit
	end     time.Time
	limits  inspect.Limits
	steps   []*step
	returns map[arrival]*departure // who came back in which step
	leaves  map[string][]time.Time // KIP-848: when a member id left, oldest first
}

// arrival is a member that joined in a step.
type arrival struct {
	step   *step
	member string
}

// commit is an offset commit in the order of the group's records.
type commit struct {
	pos    int
	at     time.Time
	offset int64
	thin   bool // commits before it were left out
}

// step is one step of the membership while its causes are being worked out.
type step struct {
	*membership.Step
	index    int // among the steps
	left     []*departure
	replaced []replacement

	// the verdict
	out inspect.Rebalance
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

// comeback is the return of a departed member.
type comeback struct {
	step      *step
	m         *membership.Member
	by        string // "instance", "member", "client"
	ambiguous bool   // several members share the client id and host
	newHost   bool
}

// replacement is a static member whose place another process took.
type replacement struct {
	membership.Replacement
	conf   inspect.Confidence
	fenced bool
	// KIP-848: a static client that overran says that it goes for a while, just as one
	// that is stopped does, and comes back.
	overran    bool
	mayOverran bool
	why        string
}

func newTrack(in Input, opts Options) *track {
	g := membership.Read(membership.Input{Records: in.Records, Observations: in.Observations, Snapshot: in.Snapshot,
		Options: membership.Options{Family: opts.Family, Logs: in.Logs}})
	t := &track{History: g, in: in, commits: map[membership.TopicPartition][]commit{}, end: in.End.Time, leaves: map[string][]time.Time{}}
	if g.Until.After(t.end) {
		t.end = g.Until
	}
	if in.Snapshot != nil {
		t.limits = in.Snapshot.Limits
	}
	for i, r := range g.Records {
		if r.Commit == nil || r.Type > inspect.RecOffsetCommit {
			continue
		}
		k := membership.TopicPartition{Topic: r.Topic, Partition: r.TopicPartition}
		t.commits[k] = append(t.commits[k], commit{pos: i, at: r.Time.Time, offset: r.Commit.Offset, thin: r.Commit.Thinned > 0})
	}
	for i, ms := range g.Steps {
		s := &step{Step: ms, index: i}
		for _, d := range ms.Left {
			s.left = append(s.left, &departure{Departure: d, step: s})
			t.leaves[d.Member.ID] = append(t.leaves[d.Member.ID], s.At)
		}
		for _, r := range ms.Replaced {
			s.replaced = append(s.replaced, replacement{Replacement: r})
		}
		t.steps = append(t.steps, s)
	}
	return t
}
