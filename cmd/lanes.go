package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/render"
)

// Sizes of the lane chart.
const (
	laneWidth = 60
	mostLanes = 12
)

// laneChart draws the lives of the members: "=" with commits, "." silent before it
// went, "x" out of the group; "|" below marks a rebalance.
func (a *app) laneChart(h *inspect.History, w inspect.Window) []render.Line {
	lanes, hidden := lanesOf(h)
	if len(lanes) == 0 {
		return nil
	}
	names := append(slices.Clone(lanes), "rebalance")
	wide := 0
	for _, n := range names {
		wide = max(wide, len([]rune(n)))
	}
	wide = min(wide, 24)
	out := []render.Line{render.L("%-*s  %s", wide, "", a.chartTimes(w))}
	for _, lane := range lanes {
		row := strings.Repeat(" ", laneWidth)
		cells := []rune(row)
		for _, s := range h.Spans {
			if s.Lane == lane {
				paintSpan(cells, s, w)
			}
		}
		out = append(out, render.L("%-*s  %s", wide, clip(lane, wide), string(cells)))
	}
	marks := []rune(strings.Repeat(" ", laneWidth))
	for _, r := range h.Rebalances {
		marks[column(r.Time, w)] = '|'
	}
	out = append(out, render.L("%-*s  %s", wide, "rebalance", string(marks)))
	legend := "= commits   . silent   x out of the group"
	if hidden > 0 {
		legend += fmt.Sprintf("   (%d members more, none of which went)", hidden)
	}
	return append(out, render.L("%s", legend))
}

// chartTimes are the times at the left, in the middle and at the right of the chart.
func (a *app) chartTimes(w inspect.Window) string {
	left, right := a.shortMoment(w.From, w), a.shortMoment(w.To, w)
	middle := a.shortMoment(inspect.At(w.From.Add(w.Length()/2)), w)
	pad := max(1, laneWidth/2-len(left)-len(middle)/2)
	s := left + strings.Repeat(" ", pad) + middle
	return s + strings.Repeat(" ", max(1, laneWidth-len(s)-len(right))) + right
}

// lanesOf are the lanes to draw, those of members that went first where there are
// too many, in the order of their names.
func lanesOf(h *inspect.History) (lanes []string, hidden int) {
	went := map[string]bool{}
	for _, s := range h.Spans {
		if _, ok := went[s.Lane]; !ok {
			went[s.Lane] = false
		}
		if s.Kind != "member" {
			went[s.Lane] = true
		}
	}
	var calm []string
	for l, w := range went {
		if w {
			lanes = append(lanes, l)
		} else {
			calm = append(calm, l)
		}
	}
	slices.Sort(lanes)
	slices.Sort(calm)
	if len(lanes) > mostLanes {
		hidden = len(lanes) - mostLanes
		lanes = lanes[:mostLanes]
	}
	room := mostLanes - len(lanes)
	hidden += max(0, len(calm)-room)
	lanes = append(lanes, calm[:min(len(calm), room)]...)
	slices.Sort(lanes)
	return lanes, hidden
}

// column is the place of a moment in the chart.
func column(t inspect.Time, w inspect.Window) int {
	all := w.Length()
	if all <= 0 {
		return 0
	}
	n := int(float64(laneWidth) * float64(t.Sub(w.From.Time)) / float64(all))
	return min(max(n, 0), laneWidth-1)
}

func paintSpan(cells []rune, s inspect.Span, w inspect.Window) {
	mark := map[string]rune{"member": '=', "silent": '.', "out": 'x'}[s.Kind]
	for i := column(s.From, w); i <= column(s.To, w); i++ {
		// What is short and bad must not vanish under what is long and good.
		if cells[i] == ' ' || mark != '=' {
			cells[i] = mark
		}
	}
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
