package judge

import (
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// seen is what polls saw of a departure besides its time.
type seen struct {
	bothSeen bool // the new process had joined while the old one still was a member
	apart    bool // the group was seen without both: the old one had gone before
}

func (g *group) seenOf(e *evidence) seen {
	var s seen
	if e.swapped() {
		s.bothSeen, s.apart = g.seenBoth(e.departure), g.seenApart(e.departure)
	}
	return s
}

// seenBoth: three members were seen where one was restarted: the new process
// joined while the old one still counted.
func (g *group) seenBoth(d *departure) bool {
	for i := range g.in.Observations {
		if o := &g.in.Observations[i]; o.Error == "" && has(o, d.Member.ID) && has(o, d.Swap.ID) {
			return true
		}
	}
	return false
}

// seenApart reports whether the group was seen without both processes of a swap: the
// old one had gone before the new one came.
func (g *group) seenApart(d *departure) bool {
	with := false
	for i := range g.in.Observations {
		o := &g.in.Observations[i]
		if o.Error != "" || membership.Inactive(o.State) {
			continue
		}
		if o.From.After(d.step.EndAt) {
			break
		}
		old, next := has(o, d.Member.ID), has(o, d.Swap.ID)
		if with && !old && !next {
			return true
		}
		with = with || old
	}
	return false
}
