package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// Sizes of a lane chart that does not say its own.
const (
	laneWidth     = 60
	laneNameWidth = 18
	mostLanes     = 12
)

// Lanes is a chart of what went on side by side in a span of time.
type Lanes struct {
	From, To time.Time
	Edge     func(time.Time) string // a moment above the chart
	Spans    []LaneSpan
	Marks    []time.Time // below the lanes
	MarkName string
	Legend   string // below; "" for none, and none of marks that share a place
	Rest     string // says of lanes that have no room: "(3 %s)"

	// Width, NameWidth and Most are the columns of the chart, the columns of the longest
	// name that is shown whole, and the number of lanes; 0 for the usual ones.
	Width, NameWidth, Most int
	// Note, if set, is written behind a lane.
	Note func(lane string) Line
}

// LaneSpan is a stretch of one lane, drawn with a mark. Marks other than Calm win over
// it, since what is short and bad must not vanish under what is long and good.
type LaneSpan struct {
	Lane     string
	From, To time.Time
	Mark     rune
}

// Calm is the mark of what needs no look; lanes that hold nothing else are the first to
// be left out.
const Calm = '='

// Lines draws the chart; none where there is no span.
func (c *Lanes) Lines() []Line {
	lanes, hidden := c.shown()
	if len(lanes) == 0 {
		return nil
	}
	wide := prose.Width(c.MarkName)
	for _, lane := range lanes {
		wide = max(wide, prose.Width(Clean(lane)))
	}
	wide = min(wide, cmp.Or(c.NameWidth, laneNameWidth))
	row := func(name, cells string) Line {
		return L("%s  %s", prose.Pad(prose.Middle(Clean(name), wide), wide), cells)
	}
	out := []Line{row("", c.edges())}
	for _, lane := range lanes {
		line := row(lane, c.cells(lane))
		if c.Note != nil {
			line = append(append(line, P("  ")), c.Note(lane)...)
		}
		out = append(out, line)
	}
	marks, crowded := c.marks()
	out = append(out, row(c.MarkName, marks))
	if c.Legend != "" {
		out = append(out, L("%s", c.Legend))
	}
	var more []string
	if crowded && c.Legend != "" {
		more = append(more, "a digit: that many rebalances in one column; 9: nine or more")
	}
	if hidden > 0 {
		more = append(more, fmt.Sprintf("(%d %s)", hidden, c.Rest))
	}
	if len(more) == 0 {
		return out
	}
	return append(out, L("%s", strings.Join(more, "   ")))
}

// marks are the moments below the lanes: "|", or how many fall on one place.
func (c *Lanes) marks() (cells string, crowded bool) {
	count := make([]int, c.width())
	for _, at := range c.Marks {
		count[c.column(at)]++
	}
	out := make([]byte, len(count))
	for i, n := range count {
		switch n {
		case 0:
			out[i] = ' '
		case 1:
			out[i] = '|'
		default:
			out[i], crowded = byte('0'+min(n, 9)), true
		}
	}
	return string(out), crowded
}

// cells are the spans of one lane.
func (c *Lanes) cells(lane string) string {
	cells := []rune(strings.Repeat(" ", c.width()))
	for _, s := range c.Spans {
		if s.Lane != lane {
			continue
		}
		for i := c.column(s.From); i <= c.column(s.To); i++ {
			if cells[i] == ' ' || s.Mark != Calm {
				cells[i] = s.Mark
			}
		}
	}
	return string(cells)
}

// edges are the times at the left, in the middle and at the right of the chart.
func (c *Lanes) edges() string {
	left, middle, right := c.Edge(c.From), c.Edge(c.From.Add(c.To.Sub(c.From)/2)), c.Edge(c.To)
	s := left + strings.Repeat(" ", max(1, c.width()/2-len(left)-len(middle)/2)) + middle
	return s + strings.Repeat(" ", max(1, c.width()-len(s)-len(right))) + right
}

// width is the columns of the chart.
func (c *Lanes) width() int { return cmp.Or(c.Width, laneWidth) }

// shown are the lanes to draw, those that are not calm first where there are too many,
// in the order of their names.
func (c *Lanes) shown() (lanes []string, hidden int) {
	calm := map[string]bool{}
	for _, s := range c.Spans {
		was, seen := calm[s.Lane]
		calm[s.Lane] = s.Mark == Calm && (was || !seen)
	}
	return ShownLanes(calm, cmp.Or(c.Most, mostLanes))
}

// ShownLanes picks of many lanes those that are not calm first, in the order of their names.
func ShownLanes(calm map[string]bool, most int) (shown []string, hidden int) {
	lanes := slices.Collect(maps.Keys(calm))
	slices.SortFunc(lanes, func(a, b string) int {
		if calm[a] != calm[b] {
			if calm[b] {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	shown = lanes[:min(len(lanes), most)]
	slices.Sort(shown)
	return shown, len(lanes) - len(shown)
}

// column is the place of a moment in the chart.
func (c *Lanes) column(t time.Time) int {
	all := c.To.Sub(c.From)
	if all <= 0 {
		return 0
	}
	n := int(float64(c.width()) * float64(t.Sub(c.From)) / float64(all))
	return min(max(n, 0), c.width()-1)
}
