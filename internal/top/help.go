package top

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/internal/eventtext"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

// keyHelp are the keys and what they do.
var keyHelp = [][2]string{
	{"up, down, j, k", "move; page up, page down, home, end; * marks the opened group"},
	{"enter", "open the group: members, what happens, why, what to change"},
	{"esc", "close the group; clear the filter"},
	{"/", "filter by words in the group's id, state or cause"},
	{"s", "sort: worst first, most lag, most rebalances, by name"},
	{"+, -", "show less or more time in the lanes"},
	{"p", "pause the screen; reading goes on"},
	{"y", "copy the setting to change (OSC 52; in tmux: set-clipboard on)"},
	{"w", "the page of kgdiag why about the group"},
	{"q, ctrl-c", "quit, and print that page"},
}

// helpLines are the page of keys, and of what the columns mean.
func helpLines(m *Model) []render.Line {
	out := []render.Line{nil}
	for _, k := range keyHelp {
		out = append(out, render.Line{render.P(" "), render.S(term.Bold, "%-15s", k[0]), render.P(" %s", k[1])})
	}
	since := prose.Span(m.cfg.Since)
	out = append(out, nil)
	for _, c := range [][2]string{
		{"GEN", "generation; e119 is an epoch of the consumer protocol (KIP-848), >=5 a lower bound"},
		{"LAG", "records behind, of the groups on the screen, every " + prose.Span(lagEvery)},
		{"REB/" + since, "rebalances in the last " + since + "; … while the log is being read, - where it may not be"},
		{"EVICT", "departures in them: evicted, or left as too slow"},
		{"WORST CAUSE", "as in kgdiag why; ? only possible; xN how often"},
		{"lanes", strings.ReplaceAll(eventtext.LaneLegend, "   ", ", ") + ", | a rebalance, a digit so many; behind each how it is now"},
	} {
		for i, text := range prose.Wrap(c[1], max(20, m.width-18)) {
			if i > 0 {
				c[0] = ""
			}
			out = append(out, render.L(" %s %s", fmt.Sprintf("%-15s", c[0]), text))
		}
	}
	return append(out, nil, render.L(" kgdiag reads and never writes: no key here changes anything on the cluster"))
}
