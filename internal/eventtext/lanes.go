package eventtext

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/render"
)

// laneMarks are how a lane chart draws what a member did.
var laneMarks = map[string]rune{"member": render.Calm, "silent": '.', "out": 'x'}

// LaneLegend says what the marks of a lane chart mean.
const LaneLegend = "= commits   . silent   x out of the group"

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
	return c
}
