package judge

import (
	"cmp"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
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
	OffsetsAt    []inspect.OffsetAt
	Processes    []inspect.ProcessLife
	Snapshot     *inspect.Group // null where the group was not described
	Logs         []inspect.PartitionLog
	OffsetPolls  []inspect.OffsetPolls  // when committed offsets were polled
	Configs      []inspect.ClientConfig // for timeouts that were not read
	End          inspect.Time           // until when the log was read; zero: the newest record
}

// split sorts the facts of a Case by group.
func split(c *inspect.Case) []*Input {
	byID := map[string]*Input{}
	get := func(id string) *Input {
		in := byID[id]
		if in == nil {
			in = &Input{Group: id, Logs: c.Logs, OffsetsAt: c.OffsetsAt, Processes: c.Processes, Configs: c.Configs, End: readUntil(c)}
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
	for _, p := range c.OffsetPolls {
		in := get(p.Group)
		in.OffsetPolls = append(in.OffsetPolls, p)
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
func BuildGroup(in Input, opts Options) inspect.Timeline { return Read(in, opts).Timeline() }

// Reading is what was read of one group, and the evidence of each of its departures: what
// is still open can be asked (Questions) before the verdicts are made (Timeline). Answers
// are facts of a new Input.
type Reading struct{ g *group }

// Read gathers the evidence. Data goes one way: what was read, who came back, the evidence
// of each departure; Timeline goes on from there.
func Read(in Input, opts Options) *Reading {
	g := newGroup(in, opts)
	g.findReturns()
	for _, s := range g.steps {
		for _, d := range s.left {
			d.ev = g.weigh(d)
		}
	}
	return &Reading{g}
}

// Timeline judges: what several departures show together, one verdict on each, and at last
// the cause of each rebalance. Call it once.
func (r *Reading) Timeline() inspect.Timeline {
	g := r.g
	var all []*evidence
	for _, s := range g.steps {
		for _, d := range s.left {
			all = append(all, d.ev)
		}
		for i := range s.replaced {
			s.replaced[i].v = g.judgeSwap(s, &s.replaced[i])
		}
	}
	gatherCompany(all)
	for _, e := range all {
		e.departure.v = judge(e)
	}
	stuck := g.stuckRecords()
	return g.timeline(stuck, g.deploys(stuck))
}
