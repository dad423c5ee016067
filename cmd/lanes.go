package cmd

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/render"
)

// laneMarks are how the lane chart draws what a member did.
var laneMarks = map[string]rune{"member": render.Calm, "silent": '.', "out": 'x'}

// laneChart draws the lives of the members: "=" with commits, "." silent before it
// went, "x" out of the group; "|" below marks a rebalance.
func (h *historyCmd) laneChart(g *inspect.History, w inspect.Window) []render.Line {
	c := render.Lanes{From: w.From.Time, To: w.To.Time, MarkName: "rebalance", Legend: "= commits   . silent   x out of the group",
		Rest: "members more, none of which went", Edge: func(t time.Time) string { return h.shortMoment(inspect.At(t), w) }}
	for _, s := range g.Spans {
		c.Spans = append(c.Spans, render.LaneSpan{Lane: s.Lane, From: s.From.Time, To: s.To.Time, Mark: laneMarks[s.Kind]})
	}
	for _, r := range g.Rebalances {
		c.Marks = append(c.Marks, r.Time.Time)
	}
	return c.Lines()
}
