package eventtext

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/render"
)

// laneMarks are how a lane chart draws what a member did.
var laneMarks = map[string]rune{"member": render.Calm, "silent": '.', "out": 'x'}

// LaneLegend says what the marks of a lane chart mean.
const LaneLegend = "= commits   . silent   x out of the group   blank: not a member, or not read"

// Lanes are the lives of a group's members in a window: "=" with commits, "." silent
// before they went, "x" out of the group; "|" below marks a rebalance. edge writes the
// moments above.
func Lanes(g *inspect.History, w inspect.Window, edge func(inspect.Time) string) render.Lanes {
	c := render.Lanes{From: w.From.Time, To: w.To.Time, MarkName: "rebalance", Legend: LaneLegend,
		Rest: "members more, none of which went", Edge: func(t time.Time) string { return edge(inspect.At(t)) }}
	for _, s := range g.Spans {
		c.Spans = append(c.Spans, render.LaneSpan{Lane: s.Lane, From: s.From.Time, To: s.To.Time, Mark: laneMarks[s.Kind]})
	}
	for _, r := range g.Rebalances {
		c.Marks = append(c.Marks, r.Time.Time)
	}
	c.Spans = append(c.Spans, gone(g, w)...)
	return c
}

// gone are the evicted members that did not come back, from when they were last seen.
func gone(g *inspect.History, w inspect.Window) []render.LaneSpan {
	last := map[string]inspect.Time{}
	for _, s := range g.Spans {
		if s.To.After(last[s.Lane].Time) {
			last[s.Lane] = s.To
		}
	}
	var out []render.LaneSpan
	for i := range g.Rebalances {
		for _, d := range g.Rebalances[i].Members.Left {
			for _, lane := range laneNames(&d) {
				if to, drawn := last[lane]; drawn && d.Cause.Eviction() && !to.After(g.Rebalances[i].Time.Time) {
					out = append(out, render.LaneSpan{Lane: lane, From: to.Time, To: w.To.Time, Mark: laneMarks["out"]})
				}
			}
		}
	}
	return out
}

// laneNames are what the lane of a member that went may be called: the client id alone
// may be shared.
func laneNames(d *inspect.Departure) []string {
	if d.InstanceID != nil {
		return []string{*d.InstanceID}
	}
	at := d.ClientID + "@" + d.Host
	return []string{d.ClientID, at, at + "/" + d.MemberID[max(0, len(d.MemberID)-4):]}
}
