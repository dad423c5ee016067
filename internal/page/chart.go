package page

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
)

// Chart is the members' lives over the window, in the units of its picture.
type Chart struct {
	ID            string
	Width, Height float64
	PlotX, PlotW  float64
	LanesY        float64 // of the first lane; above it are numbers and times
	Foot          float64 // of the last lane
	Ticks         []Tick
	Lanes         []Lane
	Marks         []Mark
	Summary       string // what the picture shows, in a sentence
	Table         []Span // the same as text: everything but members at work
	TableCut      int

	shown inspect.Window // the part of the window in which anything is known
}

// Tick is a time on the axis.
type Tick struct {
	X    float64
	Text string
}

// Lane is one member.
type Lane struct {
	Name, Short, Summary string
	Y, Mid               float64
	Bars                 []Bar
}

// Bar is a stretch of a member's life.
type Bar struct {
	X, W  float64
	Kind  string // member, silent or out
	Title string
}

// Mark is a rebalance.
type Mark struct {
	X      float64
	Number int
	Label  bool // there is room for the number
	Tone   string
	Title  string
	Anchor string // its row; "" where that was cut
}

// Span is a row of the text alternative.
type Span struct{ Lane, From, To, Length, What string }

// Sizes of the picture, in its own units.
const (
	chartWidth = 1000.0
	plotX      = 190.0
	plotW      = chartWidth - plotX - 26
	laneHeight = 24.0
	headHeight = 40.0
	nameRunes  = 26
)

// laneWords say what a stretch of a lane is.
var laneWords = map[string]string{"member": "member", "silent": "silent before it left: no commit", "out": "not in the group"}

// chart draws the lives of the members; nil where nothing is known of them.
func (w *writer) chart(d *diagnose.Diagnosis, anchor string, cut *cuts) *Chart {
	h := inspect.HistoryOf(w.c, d.Group, nil, nil)
	lanes, hidden := shownLanes(h.Spans, w.l.lanes)
	if len(lanes) == 0 || w.c.Window.Length() <= 0 {
		return nil
	}
	c := &Chart{ID: anchor + "-chart", Width: chartWidth, PlotX: plotX, PlotW: plotW, LanesY: headHeight, Foot: headHeight + laneHeight*float64(len(lanes))}
	c.shown = w.c.Window.Known(h.Spans, d.Rebalances)
	c.Height, c.Ticks = c.Foot+6, w.ticks(c)
	out := map[string]bool{}
	for i, name := range lanes {
		lane := Lane{Name: name, Short: shorten(name, nameRunes), Y: headHeight + laneHeight*float64(i)}
		lane.Mid = lane.Y + laneHeight/2
		w.bars(&lane, h.Spans, c, out)
		c.Lanes = append(c.Lanes, lane)
	}
	w.marks(c, d, anchor)
	who := "none was seen to leave"
	if len(out) > 0 {
		who = fmt.Sprintf("%d of the members left the group at least once", len(out))
	}
	c.Summary = fmt.Sprintf("%s and %s from %s to %s; %s", prose.Plural(len(lanes), "member"), prose.Plural(len(d.Rebalances), "rebalance"),
		w.clock(c.shown.From), w.clock(c.shown.To), who)
	cut.lanes += hidden
	cut.spans += c.TableCut
	return c
}

// bars are the stretches of one lane. What is too short to be seen beside the one
// before it, of the same kind, is left to that one.
func (w *writer) bars(lane *Lane, spans []inspect.Span, c *Chart, out map[string]bool) {
	end := map[string]float64{"member": -1, "silent": -1, "out": -1}
	silent, away := 0, 0
	for _, s := range spans {
		if s.Lane != lane.Name {
			continue
		}
		from, to := clampTime(s.From.Time, c.shown), clampTime(s.To.Time, c.shown)
		span := Span{lane.Name, w.clock(inspect.At(from)), w.clock(inspect.At(to)), prose.Span(prose.Rounded(to.Sub(from))), laneWords[s.Kind]}
		switch s.Kind {
		case "silent":
			silent++
		case "out":
			away++
			out[lane.Name] = true
		}
		if s.Kind != "member" {
			if len(c.Table) < w.l.spans {
				c.Table = append(c.Table, span)
			} else {
				c.TableCut++
			}
		}
		x, to2 := c.x(from), c.x(to)
		if to2 <= end[s.Kind]+w.l.step {
			continue
		}
		end[s.Kind] = to2
		lane.Bars = append(lane.Bars, Bar{X: x, W: max(1.5, round(to2-x)), Kind: s.Kind,
			Title: fmt.Sprintf("%s: %s, %s to %s (%s)", lane.Name, span.What, span.From, span.To, span.Length)})
	}
	slices.SortStableFunc(lane.Bars, func(a, b Bar) int { return cmp.Compare(a.X, b.X) })
	lane.Summary = fmt.Sprintf("%s: silent %s, out of the group %s", lane.Name, prose.Plural(silent, "time"), prose.Plural(away, "time"))
}

// marks are the rebalances.
func (w *writer) marks(c *Chart, d *diagnose.Diagnosis, anchor string) {
	last, label := -w.l.step, -20.0
	first := max(0, len(d.Rebalances)-w.l.rebalances)
	for i := range d.Rebalances {
		r := &d.Rebalances[i]
		x := c.x(clampTime(r.Time.Time, c.shown))
		if x < last+w.l.step {
			continue
		}
		last = x
		m := Mark{X: x, Number: i + 1, Tone: causeTone(r),
			Title: fmt.Sprintf("rebalance %d at %s: %s, %s; %s", i+1, w.clock(r.Time), diagnose.CauseText(*r), diagnose.Likelihood(r), diagnose.Who(r))}
		if x >= label+20 {
			m.Label, label = true, x
		}
		if i >= first {
			m.Anchor = fmt.Sprintf("%s-r%d", anchor, i+1)
		}
		c.Marks = append(c.Marks, m)
	}
}

// x is the place of a moment in the picture.
func (c *Chart) x(t time.Time) float64 {
	return round(plotX + plotW*float64(t.Sub(c.shown.From.Time))/float64(c.shown.Length()))
}

func round(x float64) float64 { return float64(int64(x*10+0.5)) / 10 }

func clampTime(t time.Time, w inspect.Window) time.Time {
	switch {
	case t.Before(w.From.Time):
		return w.From.Time
	case t.After(w.To.Time):
		return w.To.Time
	}
	return t
}

// tickSteps are the distances that times on the axis may have.
var tickSteps = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
	10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour}

const mostTicks = 8

// ticks are round times of the axis.
func (w *writer) ticks(c *Chart) []Tick {
	length := c.shown.Length()
	step := length / mostTicks
	for _, s := range tickSteps {
		if length/s <= mostTicks {
			step = s
			break
		}
	}
	layout := "15:04"
	switch {
	case step < time.Minute:
		layout = "15:04:05"
	case w.c.Window.Length() >= 24*time.Hour:
		layout = "2 Jan 15:04"
	}
	var out []Tick
	_, offset := c.shown.From.In(w.o.Zone).Zone()
	shift := time.Duration(offset) * time.Second // round in the reader's zone
	for t := c.shown.From.Add(shift).Truncate(step).Add(-shift); !t.After(c.shown.To.Time); t = t.Add(step) {
		if !t.Before(c.shown.From.Time) {
			out = append(out, Tick{c.x(t), t.In(w.o.Zone).Format(layout)})
		}
	}
	return out
}

// shownLanes are the lanes to draw in the order of their names: where there are too
// many, those in which nothing happened are left out first.
func shownLanes(spans []inspect.Span, most int) (shown []string, hidden int) {
	calm := map[string]bool{}
	for _, s := range spans {
		was, seen := calm[s.Lane]
		calm[s.Lane] = s.Kind == "member" && (was || !seen)
	}
	return render.ShownLanes(calm, most)
}
