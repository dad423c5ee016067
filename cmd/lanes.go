package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
func (a *app) laneChart(h groupHistory, o *pastOptions) []render.Line {
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
	out := []render.Line{render.L("%-*s  %s", wide, "", a.chartTimes(o))}
	for _, lane := range lanes {
		row := strings.Repeat(" ", laneWidth)
		cells := []rune(row)
		for _, s := range h.Spans {
			if s.Lane == lane {
				paintSpan(cells, s, o)
			}
		}
		out = append(out, render.L("%-*s  %s", wide, clip(lane, wide), string(cells)))
	}
	marks := []rune(strings.Repeat(" ", laneWidth))
	for _, r := range h.Rebalances {
		marks[column(r.Time.Time, o)] = '|'
	}
	out = append(out, render.L("%-*s  %s", wide, "rebalance", string(marks)))
	legend := "= commits   . silent   x out of the group"
	if hidden > 0 {
		legend += fmt.Sprintf("   (%d members more, none of which went)", hidden)
	}
	return append(out, render.L("%s", legend))
}

// chartTimes are the times at the left, in the middle and at the right of the chart.
func (a *app) chartTimes(o *pastOptions) string {
	left, right := a.shortMoment(o.begin, o), a.shortMoment(o.end, o)
	middle := a.shortMoment(o.begin.Add(o.end.Sub(o.begin)/2), o)
	pad := max(1, laneWidth/2-len(left)-len(middle)/2)
	s := left + strings.Repeat(" ", pad) + middle
	return s + strings.Repeat(" ", max(1, laneWidth-len(s)-len(right))) + right
}

// lanesOf are the lanes to draw, those of members that went first where there are
// too many, in the order of their names.
func lanesOf(h groupHistory) (lanes []string, hidden int) {
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
func column(t time.Time, o *pastOptions) int {
	all := o.end.Sub(o.begin)
	if all <= 0 {
		return 0
	}
	n := int(float64(laneWidth) * float64(t.Sub(o.begin)) / float64(all))
	return min(max(n, 0), laneWidth-1)
}

func paintSpan(cells []rune, s inspect.Span, o *pastOptions) {
	mark := map[string]rune{"member": '=', "silent": '.', "out": 'x'}[s.Kind]
	for i := column(s.From.Time, o); i <= column(s.To.Time, o); i++ {
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
