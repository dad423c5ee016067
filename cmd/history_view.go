package cmd

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/internal/eventtext"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/show"
	"github.com/kgdiag/kgdiag/internal/term"
)

// historyDoc is the document kgdiag.history/v1.
type historyDoc struct {
	envelope
	Groups []inspect.History `json:"groups"`
}

// groups are the histories of the chosen groups.
func (h *historyCmd) groups(p *past.Past, chosen choice) []inspect.History {
	return inspect.HistoriesOf(p.Case, p.IDs, chosen.causes, chosen.replay)
}

// view shows the rebalances of the chosen groups.
func (h *historyCmd) view(c *inspect.Case, groups []inspect.History, causes []inspect.Cause) render.View {
	v := render.View{Wide: true, Head: h.clusterLine(c.Cluster, ""), Data: historyDoc{h.envelopeOf("kgdiag.history/v1", c), groups}}
	quiet := 0
	for i := range groups {
		if len(groups) > 3 && len(groups[i].Rebalances) == 0 && !groups[i].Summary.Unread && !h.flags.verbose {
			quiet++
			continue
		}
		v.Blocks = append(v.Blocks, h.blocks(&groups[i], c.Window, causes, len(v.Blocks) > 0)...)
	}
	if quiet > 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: []render.Line{render.L("%s without a rebalance in this time", prose.Plural(quiet, "group"))}, NoTSV: true})
	}
	if len(groups) == 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: []render.Line{noGroupLine(c.Gaps)}, NoTSV: true})
	}
	if lines := show.Gaps(inspect.HistoryGaps(c.Gaps)); len(lines) > 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: lines, NoTSV: true})
	}
	if len(groups) == 1 && groups[0].Troubled() {
		line := h.page().Label("next", "kgdiag why "+prose.ShellWord(groups[0].Group)+h.connectWords()+h.past.pastWords())
		v.Blocks = append(v.Blocks, render.Block{Lines: []render.Line{line}, NoTSV: true})
	}
	v.Blocks = append(v.Blocks, render.Block{Table: historyTSV(groups), TSVOnly: true})
	return v
}

// blocks are the texts of one group.
func (h *historyCmd) blocks(g *inspect.History, w inspect.Window, causes []inspect.Cause, apart bool) []render.Block {
	head := []render.Line{h.headLine(g, w, causes)}
	if apart {
		head = append([]render.Line{nil}, head...)
	}
	block := render.Block{Lines: head, NoTSV: true}
	if len(g.Rebalances) == 0 {
		return append([]render.Block{block}, h.whatIfBlock(g.WhatIf, h.clock(w).Moment)...)
	}
	block.Table = h.table(g, h.clock(w).Moment)
	block.After = historySummary(g, h.width())
	blocks := []render.Block{block}
	if h.flags.verbose {
		blocks = append(blocks, render.Block{Lines: h.evidenceLines(g, h.clock(w).Moment), NoTSV: true})
	}
	blocks = append(blocks, h.whatIfBlock(g.WhatIf, h.clock(w).Moment)...)
	known := w.Known(g.Spans, g.Rebalances)
	if known.Length() < time.Minute { // too short to say anything by its picture
		known = w
	}
	chart := eventtext.Lanes(g, known, h.clock(known).Edge)
	if lanes := chart.Lines(); len(lanes) > 0 {
		blocks = append(blocks, render.Block{Lines: append([]render.Line{nil}, lanes...), NoTSV: true})
	}
	return blocks
}

// headLine is the first line of a group: how much happened, in what time, and
// since when the log is whole.
func (h *historyCmd) headLine(g *inspect.History, w inspect.Window, causes []inspect.Cause) render.Line {
	l := render.Line{render.S(term.Bold, "%s", g.Group)}
	switch {
	case g.Summary.Unread:
		return append(l, render.P("  no rebalance is known in %s: its past was not read, or not whole", prose.Span(w.Length().Round(time.Second))))
	case len(g.Rebalances) == 0:
		l = append(l, render.P("  no rebalance in %s", prose.Span(w.Length().Round(time.Second))))
		if len(causes) > 0 {
			l = append(l, render.P(" by %s", inspect.CauseNames(causes)))
		}
		if g.Last != nil {
			l = append(l, render.P("; last: %s, gen %d, %s, %s", h.clock(w).Minute(g.Last.Time), g.Last.Generation, g.Last.Cause.Label(), diagnose.Likelihood(g.Last)))
		} else {
			l = append(l, render.P("; none is known from before"))
		}
	default:
		l = append(l, render.P("  %s, %s", prose.Plural(len(g.Rebalances), "rebalance"), h.clock(w).Span()))
	}
	if g.Whole {
		return append(l, render.P("; log complete from its beginning"))
	}
	if !g.CompleteSince.IsZero() && g.CompleteSince.After(w.From.Time) {
		return append(l, render.P("; "), render.S(term.Warn, "asked from %s, the log is complete since %s", h.clock(w).Edge(w.From), h.clock(w).Minute(g.CompleteSince)))
	}
	if !g.CompleteSince.IsZero() {
		l = append(l, render.P("; log complete since %s", h.clock(w).Minute(g.CompleteSince)))
	}
	return l
}

// table has one row a rebalance, oldest first.
func (h *historyCmd) table(g *inspect.History, clock diagnose.Clock) *render.Table {
	server := g.Type != inspect.Classic && g.Type != inspect.UnknownType
	t := &render.Table{Columns: render.Cols("TIME", ">GEN", "MEMBERS", "~WHO", "CAUSE", "HOW SURE", "?PAUSED")}
	if server {
		t.Columns = render.Cols("TIME", ">EPOCH", "MEMBERS", "~WHO", "CAUSE", "HOW SURE", "?CONVERGED", "~?SLOWEST")
	}
	for _, r := range g.Rebalances {
		row := []render.Span{render.P("%s", clock(r.Time)), render.P("%s", diagnose.GenerationText(r)), render.P("%s", diagnose.MembersText(r)),
			render.P("%s", diagnose.Who(&r)), render.S(causeStyle(r), "%s", diagnose.CauseText(r)), render.P("%s", diagnose.Likelihood(&r))}
		if server {
			row = append(row, render.P("%s", show.Span(r.Converged)), render.P("%s", r.ConvergedLast))
		} else {
			row = append(row, render.P("%s", diagnose.Paused(r.Stopped, r.StoppedAtMost)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func causeStyle(r inspect.Rebalance) term.Style {
	switch {
	case r.Cause.Eviction():
		return term.Bad
	case !r.Cause.Explained():
		return term.Warn
	}
	return term.Plain
}

// historySummary counts: in what time, time lost, causes, worst member.
func historySummary(g *inspect.History, width int) []render.Line {
	s := &g.Summary
	var parts []string
	if n := len(g.Rebalances); n > 1 { // no rate: the window may be longer than the group is old
		if span := g.Rebalances[n-1].Time.Truncate(time.Second).Sub(g.Rebalances[0].Time.Truncate(time.Second)); span >= time.Minute {
			parts = append(parts, fmt.Sprintf("%d in %s", n, prose.Span(span)))
		}
	}
	if went := s.Went(); went != "" && s.Departures > 1 {
		parts = append(parts, fmt.Sprintf("%s (%d came back)", went, s.Returned))
	}
	if s.Idle != nil && s.Idle.Duration() >= time.Second {
		parts = append(parts, "partitions of departed members not consumed for "+diagnose.IdleText(*s))
	}
	if text := diagnose.Paused(s.Stopped, s.StoppedAtMost); text != "-" && text != "none" {
		parts = append(parts, "members paused for "+text+" in all")
	}
	var causes []string
	for _, c := range inspect.Causes() {
		if n := s.Causes[c]; n > 0 {
			causes = append(causes, fmt.Sprintf("%s x%d", c.Label(), n))
		}
	}
	parts = append(parts, strings.Join(causes, ", "))
	if s.WorstCount > 1 {
		parts = append(parts, fmt.Sprintf("%s left most often, %d times", s.Worst, s.WorstCount))
	}
	var out []render.Line
	for _, l := range prose.Wrap(strings.Join(parts, "; "), width) {
		out = append(out, render.L("%s", l))
	}
	return out
}

// evidenceLines are what -v adds: the evidence of each rebalance and its rivals.
func (h *historyCmd) evidenceLines(g *inspect.History, clock diagnose.Clock) []render.Line {
	var out []render.Line
	for _, r := range g.Rebalances {
		out = append(out, render.L("%s  gen %s  %s, %s  (record %s)", clock(r.Time), diagnose.GenerationText(r), r.Cause.Label(), diagnose.Likelihood(&r), r.ID))
		for _, e := range r.Evidence {
			out = append(out, render.L("      %s", e))
		}
		for _, v := range r.Rivals {
			if v.WhyNot == "" {
				out = append(out, render.L("      could also be: %s", v.Cause.Info().Name))
				continue
			}
			out = append(out, render.L("      ruled out: %s (%s)", v.Cause.Info().Name, v.WhyNot))
		}
		for _, n := range r.Notes {
			out = append(out, render.L("      %s", n))
		}
	}
	return out
}

// whatIfBlock shows a replay.
func (a *app) whatIfBlock(w *inspect.Replay, clock diagnose.Clock) []render.Block {
	if w == nil {
		return nil
	}
	most := 5
	if a.flags.verbose {
		most = math.MaxInt
	}
	var lines []render.Line
	for i, l := range diagnose.ReplayLines(w, clock, most) {
		word := ""
		if i == 0 {
			word = "what if"
		}
		lines = append(lines, a.page().Label(word, l))
	}
	return []render.Block{{Lines: lines, NoTSV: true}}
}

// historyTSV is one row a rebalance of all groups.
func historyTSV(groups []inspect.History) *render.Table {
	t := &render.Table{Columns: render.Cols("GROUP", "TIME", "GENERATION", "BEFORE", "AFTER", "WHO", "CAUSE", "CONFIDENCE", "BASIS", "RETURNED", "STOPPED-MS", "ID", "STOPPED-AT-MOST-MS")}
	for _, h := range groups {
		for _, r := range h.Rebalances {
			t.Rows = append(t.Rows, render.Row(h.Group, r.Time.UTC().Format("2006-01-02T15:04:05.000Z"), fmt.Sprint(r.Generation),
				diagnose.BeforeText(r), fmt.Sprint(r.Members.After), diagnose.Who(&r), string(r.Cause), string(r.Confidence), string(r.Basis),
				string(r.Returned), msOf(r.Stopped), r.ID, msOf(r.StoppedAtMost)))
		}
	}
	return t
}

// msOf is a number of milliseconds; "" unknown.
func msOf(m *inspect.Millis) string {
	if m == nil {
		return ""
	}
	return fmt.Sprint(m.Duration().Milliseconds())
}
