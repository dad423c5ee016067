package inspect

import (
	"slices"
	"time"
)

// Length is how long the window is.
func (w Window) Length() time.Duration { return w.To.Sub(w.From.Time) }

// Rebalances are those of a timeline, which may be nil, that lie in the window; only
// those of these causes, where any are given. The result is never nil.
func (w Window) Rebalances(t *Timeline, causes ...Cause) []Rebalance {
	out := []Rebalance{}
	if t == nil {
		return out
	}
	for _, r := range t.Rebalances {
		if r.Time.Before(w.From.Time) || r.Time.After(w.To.Time) || len(causes) > 0 && !slices.Contains(causes, r.Cause) {
			continue
		}
		out = append(out, r)
	}
	return out
}

// Known is the part of a window in which spans or rebalances of a group lie, with a
// little room around it: a group that is a minute old would be a dash in an hour. It is w
// where there are none.
func (w Window) Known(spans []Span, rebalances []Rebalance) Window {
	first, last := w.To.Time, w.From.Time
	grow := func(from, to time.Time) {
		if from.Before(first) {
			first = from
		}
		if to.After(last) {
			last = to
		}
	}
	for _, s := range spans {
		grow(s.From.Time, s.To.Time)
	}
	for i := range rebalances {
		grow(rebalances[i].Time.Time, rebalances[i].Time.Time)
	}
	if last.Before(first) {
		return w
	}
	room := max(last.Sub(first)/50, time.Second)
	if from := first.Add(-room); from.After(w.From.Time) {
		w.From = At(from)
	}
	if to := last.Add(room); to.Before(w.To.Time) {
		w.To = At(to)
	}
	return w
}

// LastBefore is the newest rebalance of a timeline before the window; nil where none
// is known.
func (w Window) LastBefore(t *Timeline) *Rebalance {
	if t == nil {
		return nil
	}
	for i := len(t.Rebalances) - 1; i >= 0; i-- {
		if t.Rebalances[i].Time.Before(w.From.Time) {
			return &t.Rebalances[i]
		}
	}
	return nil
}

// Timeline is a group's timeline; nil where there is none.
func (c *Case) Timeline(group string) *Timeline {
	for i := range c.Timelines {
		if c.Timelines[i].Group == group {
			return &c.Timelines[i]
		}
	}
	return nil
}

// Index finds the groups and timelines of a case by their id, for who looks at each of
// thousands.
type Index struct {
	groups    map[string]*Group
	timelines map[string]*Timeline
}

// Index is made of the case as it is now.
func (c *Case) Index() Index {
	x := Index{make(map[string]*Group, len(c.Groups)), make(map[string]*Timeline, len(c.Timelines))}
	for i := range c.Groups {
		x.groups[c.Groups[i].ID] = &c.Groups[i]
	}
	for i := range c.Timelines {
		x.timelines[c.Timelines[i].Group] = &c.Timelines[i]
	}
	return x
}

// Group is a group; nil where there is none.
func (x Index) Group(id string) *Group { return x.groups[id] }

// Timeline is a group's timeline; nil where there is none.
func (x Index) Timeline(id string) *Timeline { return x.timelines[id] }

// InWindow is a case whose timelines hold the rebalances of its window alone, and of
// these causes, where any are given: for judgements that must not rest on what nobody
// asked about. It shares everything else with c.
func (c *Case) InWindow(causes ...Cause) *Case {
	out := *c
	out.Timelines = slices.Clone(c.Timelines)
	for i := range out.Timelines {
		out.Timelines[i].Rebalances = c.Window.Rebalances(&c.Timelines[i], causes...)
	}
	return &out
}

// GroupIDs are the groups that a case knows anything of, in order.
func (c *Case) GroupIDs() []string {
	seen := map[string]bool{}
	for _, g := range c.Groups {
		seen[g.ID] = true
	}
	for i := range c.Records {
		seen[c.Records[i].Group] = true
	}
	for _, o := range c.Observations {
		seen[o.Group] = true
	}
	for _, t := range c.Timelines {
		seen[t.Group] = true
	}
	out := make([]string, 0, len(seen))
	for id := range seen {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// Narrow drops from a case what concerns other groups.
func (c *Case) Narrow(groups []string) {
	keep := map[string]bool{}
	for _, id := range groups {
		keep[id] = true
	}
	c.Groups = slices.DeleteFunc(c.Groups, func(g Group) bool { return !keep[g.ID] })
	c.Records = slices.DeleteFunc(c.Records, func(r Record) bool { return !keep[r.Group] })
	c.Observations = slices.DeleteFunc(c.Observations, func(o Observation) bool { return !keep[o.Group] })
	c.OffsetPolls = slices.DeleteFunc(c.OffsetPolls, func(o OffsetPolls) bool { return !keep[o.Group] })
	c.Timelines = slices.DeleteFunc(c.Timelines, func(t Timeline) bool { return !keep[t.Group] })
	c.Gaps = slices.DeleteFunc(c.Gaps, func(g Gap) bool { return g.Group != "" && !keep[g.Group] })
}

// LogIsWhole reports whether a group's partition was read from its very first record,
// with nothing compacted away.
func (c *Case) LogIsWhole(group string) bool {
	part := int32(-1)
	for i := range c.Records {
		if c.Records[i].Group == group {
			part = c.Records[i].Partition
			break
		}
	}
	for _, l := range c.Logs {
		if l.Partition == part {
			return l.LogStart == 0 && l.From == 0 && l.CompleteFrom == 0
		}
	}
	return false
}

// Evictions counts the members that were put out in a rebalance, of those that a
// function wants; nil wants all. The rebalance's own cause may be another: a group is
// emptied when its last member is put out.
func (r *Rebalance) Evictions(want func(Cause, Confidence) bool) int {
	wanted := func(c Cause, conf Confidence) bool { return c.Eviction() && (want == nil || want(c, conf)) }
	n := 0
	for i := range r.Members.Left {
		if l := &r.Members.Left[i]; wanted(l.Cause, l.Confidence) {
			n++
		}
	}
	if n == 0 && wanted(r.Cause, r.Confidence) {
		n = 1
	}
	return n
}

// FirstKnown reports a rebalance before which no record is left, so that nothing tells
// its cause.
func (r *Rebalance) FirstKnown() bool {
	return r.PreviousGeneration == nil && r.Cause == UnknownCause
}

// Expected reports a rebalance about which nobody has to do anything.
func (r *Rebalance) Expected() bool { return !r.Cause.Info().Acts }

// Back is how long a member had been out of the group whose return the rebalance is;
// nil where it is none.
func (r *Rebalance) Back() *Millis {
	if r.Cause != MemberJoined {
		return nil
	}
	for _, j := range r.Members.Joined {
		if j.Out != nil {
			return j.Out
		}
	}
	return nil
}

// CameBack reports that the departed member came back, as the same process or a new one.
func (d *Departure) CameBack() bool { return d.Returned != "" && d.Returned != ReturnedNo }

// StayedAway reports that the departed member did not come back.
func (d *Departure) StayedAway() bool { return d.Returned == ReturnedNo }

// Explained reports whether the cause tells anything.
func (c Cause) Explained() bool { return c != UnknownCause }
