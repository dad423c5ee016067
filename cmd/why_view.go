package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/show"
	"github.com/kgdiag/kgdiag/internal/term"
)

const whySchema = "kgdiag.why/v1"

// whyDoc is the document kgdiag.why/v1.
type whyDoc struct {
	envelope
	diagnose.Triage // Shared is empty where groups were named
}

// view is a page a group.
func (w *whyCmd) view(c *inspect.Case, t diagnose.Triage) render.View {
	ds := t.Groups
	more := fmt.Sprintf("last %s to %s", prose.Span(c.Window.Length().Round(time.Second)), w.clock(c.Window).Head(c.Window.To.Time))
	read := ""
	if len(ds) == 1 && c.LogIsWhole(ds[0].Group) {
		read = "log complete"
	} else if len(ds) == 1 && !ds[0].Complete.IsZero() {
		read = "log complete since " + w.clock(c.Window).Minute(ds[0].Complete)
	}
	v := render.View{Head: w.clusterLine(c.Cluster, more), Data: whyDoc{w.envelopeOf(whySchema, c), t}}
	switch {
	case read == "":
	case prose.Width(v.Head.Plain())+len(", "+read) <= w.width():
		v.Head = append(v.Head, render.P(", %s", read))
	default:
		v.Blocks = append(v.Blocks, render.Block{Lines: []render.Line{render.L("%s", read)}, NoTSV: true})
	}
	for i := range ds {
		lines := w.whyLines(c, &ds[i])
		if i > 0 {
			lines = append([]render.Line{nil}, lines...)
		}
		v.Blocks = append(v.Blocks, render.Block{Lines: lines, NoTSV: true})
	}
	if len(ds) == 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: []render.Line{noGroupLine(c.Gaps)}, NoTSV: true})
	}
	v.Blocks = append(v.Blocks, render.Block{Table: whyTSV(ds), TSVOnly: true})
	return v
}

// whyTSV is one row a group.
func whyTSV(ds []diagnose.Diagnosis) *render.Table {
	t := &render.Table{Columns: render.Cols("GROUP", "VERDICT", "STATE", "GENERATION", "MEMBERS", "LAG", "REBALANCES", "EVICTIONS", "CAUSE", "CONFIDENCE", "BASIS", "MEMBER", "HOST", "SET")}
	for i := range ds {
		d := &ds[i]
		gen, members, lag, set := "", "", "", ""
		if d.Generation != nil {
			gen = fmt.Sprint(*d.Generation)
		}
		if d.Members != nil {
			members = fmt.Sprint(*d.Members)
		}
		if d.Lag != nil {
			lag = fmt.Sprint(*d.Lag)
		}
		if f := d.Fix(); f != nil && !d.AtRecord {
			set = strings.Join(diagnose.Settings(f.Fix.Set), " ")
		}
		t.Rows = append(t.Rows, render.Row(d.Group, string(d.Verdict), d.State, gen, members, lag, d.Summary.Count(d.Summary.Rebalances),
			d.Summary.Count(d.Summary.Evictions), string(d.Cause), string(d.Confidence), string(d.Basis), d.Member, d.Host, set))
	}
	return t
}

// whyLines are the page of one group.
func (w *whyCmd) whyLines(c *inspect.Case, d *diagnose.Diagnosis) []render.Line {
	p := w.page()
	lines := w.verdictLines(d, w.clock(c.Window).Moment)
	if d.Waiting != nil {
		lines = append(lines, p.Paragraph("NOW", d.Waiting.Text(w.clock(c.Window).Moment))...)
	}
	if d.Calm() {
		lines = append(lines, w.calmLines(c, d)...)
	} else {
		lines = append(lines, w.causeLines(c, d)...)
		lines = append(lines, p.Paragraph("COST", d.Cost.String())...)
		lines = append(lines, cureLines(p, d)...)
	}
	if d.WhatIf != nil {
		for _, b := range w.whatIfBlock(d.WhatIf, w.clock(c.Window).Moment) {
			lines = append(lines, b.Lines...)
		}
	}
	lines = append(lines, w.checkLines(c, d)...)
	return append(lines, w.nextLines(c, d)...)
}

// verdictLines head a group: the verdict, what happened, and the state now, which has
// a line of its own where one is too short.
func (w *whyCmd) verdictLines(d *diagnose.Diagnosis, clock diagnose.Clock) []render.Line {
	word, text, more := d.Headline(w.now(), clock)
	style := map[diagnose.Verdict]term.Style{diagnose.Healthy: term.Good, diagnose.OK: term.Good, diagnose.Unstable: term.Bad, diagnose.Stuck: term.Bad,
		diagnose.Unknown: term.Warn, diagnose.Gone: term.Warn, diagnose.Empty: term.Warn}[word]
	l := render.Line{render.S(term.Bold, "%s", d.Group), render.P("  "), render.S(style, "%s", word), render.P(": %s", text)}
	if more == "" {
		return []render.Line{l}
	}
	if whole := append(slices.Clone(l), render.P("; %s", more)); prose.Width(whole.Plain()) <= w.page().Width {
		return []render.Line{whole}
	}
	return append([]render.Line{l}, w.page().Paragraph("", more)...)
}

// calmLines are for groups in which nothing is to be explained.
func (w *whyCmd) calmLines(c *inspect.Case, d *diagnose.Diagnosis) []render.Line {
	switch {
	case len(d.Rebalances) > 0:
		r := d.Rebalances[len(d.Rebalances)-1]
		return w.page().Paragraph("", fmt.Sprintf("last rebalance %s, %s: %s", w.clock(c.Window).Moment(r.Time), diagnose.CauseText(r), diagnose.Who(&r)))
	case d.Last != nil:
		expected := ""
		switch {
		case d.Last.FirstKnown():
			expected = " (no record before it is left)"
		case d.Last.Expected():
			expected = " (expected)"
		}
		return []render.Line{render.L("%slast rebalance %s, gen %d, %s%s", show.Indent, w.clock(c.Window).Minute(d.Last.Time), d.Last.Generation, d.Last.Cause.Label(), expected)}
	case d.NoHistory != "":
		return nil
	}
	return []render.Line{render.L("%sno rebalance is known since %s", show.Indent, w.clock(c.Window).Minute(c.Window.From))}
}

// causeLines say why, with the evidence.
func (w *whyCmd) causeLines(c *inspect.Case, d *diagnose.Diagnosis) []render.Line {
	p, clock := w.page(), w.clock(c.Window).Moment
	why := d.Why() + d.Since(clock)
	lines := p.Paragraph("WHY", why)
	if d.AtRecord {
		lines = append(p.Paragraph("WHY", d.AtWhich()), p.Paragraph("", why)...)
	}
	lines = append(lines, p.Paragraph("", d.Sure())...)
	lines = append(lines, w.occurrenceLines(d, clock)...)
	if d.TellsEvidence() && !w.flags.verbose {
		return lines
	}
	for _, e := range d.Shown(w.flags.verbose) {
		lines = append(lines, p.Paragraph("", e)...)
	}
	for _, text := range append([]string{d.Assumed(), d.CouldBe(), d.RuledOut(), d.Decide()}, d.Logs(c, clock)...) {
		lines = append(lines, p.Paragraph("", text)...)
	}
	if len(d.Records) > 0 && !d.AtRecord {
		lines = append(lines, p.Paragraph("", fmt.Sprintf("%d of the departures happened at one record: %s", d.Records[0].Times, d.Records[0].Place))...)
	}
	if len(d.Records) > 0 {
		lines = append(lines, stuckLines(c, d)...)
	} else {
		lines = append(lines, p.Paragraph("", d.MemberAlone())...)
	}
	return lines
}

// mostOccurrences is how many occurrences a page shows without -v.
const mostOccurrences = 3

// occurrenceLines show when it happened: silent, out, back.
func (w *whyCmd) occurrenceLines(d *diagnose.Diagnosis, clock diagnose.Clock) []render.Line {
	c := d.Courses(clock)
	if len(c.List) == 0 {
		return nil
	}
	most := mostOccurrences
	if w.flags.verbose {
		most = len(c.List)
	}
	rows := [][]string{c.Heads}
	for _, course := range c.Newest(most) {
		rows = append(rows, course.Cells())
	}
	var out []render.Line
	for i, text := range show.Rows(rows) {
		style := term.Plain
		if i == 0 {
			style = term.Dim
		}
		out = append(out, render.Line{render.S(style, "%s%s", show.Indent, text)})
	}
	if more := len(c.List) - len(rows) + 1; more > 0 {
		out = append(out, render.L("%sand %d more (-v)", show.Indent, more))
	}
	for _, note := range c.Notes {
		out = append(out, w.page().Paragraph("", note)...)
	}
	return out
}

// stuckLines say how to read that record.
func stuckLines(c *inspect.Case, d *diagnose.Diagnosis) []render.Line {
	if read := d.Records[0].Command(firstBroker(c)); read != "" {
		return []render.Line{render.L("%s%s", show.Indent, read)} // one line, however long: it is there to be copied
	}
	return nil
}

// firstBroker is one address of the cluster, for commands to copy.
func firstBroker(c *inspect.Case) string {
	first, _, _ := strings.Cut(c.Cluster.Bootstrap, ",")
	return first
}

// cureLines say what to change, what else would do, and what that costs.
func cureLines(p show.Page, d *diagnose.Diagnosis) []render.Line {
	f := d.Fix()
	if stuck := d.StuckFix(); stuck != nil {
		return stuckFix(p, stuck, f)
	}
	if f == nil {
		words, rule := d.Remedy()
		if rule != "" {
			words += "  " + rule
		}
		return p.Paragraph("FIX", words)
	}
	var lines []render.Line
	word, when, whom := "FIX", "", d.ForWhom()
	if f.Fix.If != "" {
		when = f.Fix.If + ": "
	}
	for _, kv := range diagnose.Settings(f.Fix.Set) {
		key, _, _ := strings.Cut(kv, "=")
		lines = append(lines, p.Setting(word, when+kv, joinNotes(f.Fix.Notes[key], whom), f.ID)...)
		word, when, whom = "and", "", ""
	}
	for _, text := range []string{d.Avoided(f).String(), f.Fix.Else} {
		lines = append(lines, p.Paragraph("", text)...)
	}
	if f.Fix.Price != "" {
		lines = append(lines, p.Paragraph("", "trade-off: "+f.Fix.Price)...)
	}
	for _, alt := range f.Fix.Alternatives {
		for _, kv := range diagnose.Settings(alt) {
			key, _, _ := strings.Cut(kv, "=")
			lines = append(lines, p.Setting("", "or "+kv, f.Fix.Notes[key], "")...)
		}
	}
	return lines
}

// joinNotes puts what is said of a setting behind each other.
func joinNotes(notes ...string) string {
	return strings.Join(slices.DeleteFunc(notes, func(s string) bool { return s == "" }), "; ")
}

// stuckFix is what to do about a record that stops everybody.
func stuckFix(p show.Page, stuck, f *advise.Finding) []render.Line {
	lines := p.Setting("FIX", "read that record, handle it apart (dead letter topic, time limit)", "", stuck.ID)
	if f != nil && f.Fix.Set["max.poll.interval.ms"] != "" {
		lines = append(lines, p.Paragraph("", fmt.Sprintf("or max.poll.interval.ms=%s, if it is slow and not broken (%s)", f.Fix.Set["max.poll.interval.ms"], f.ID))...)
	}
	return append(lines, p.Paragraph("", "trade-off: "+stuck.Fix.Price)...)
}

// checkLines say what was not read and not checked.
func (w *whyCmd) checkLines(c *inspect.Case, d *diagnose.Diagnosis) []render.Line {
	text := d.NotChecked()
	p := w.page()
	lines := p.Paragraph("NOT CHECKED", text)
	told := func(g inspect.Gap) bool { return strings.Contains(text, "("+g.Why) }
	for _, l := range show.Gaps(slices.DeleteFunc(append(inspect.ClockGaps(c.Gaps), inspect.GapsOf(c.Gaps, d.Group)...), told)) {
		lines = append(lines, p.Paragraph("", l.Plain())...)
	}
	return lines
}

// nextLines are the commands to run next.
func (w *whyCmd) nextLines(c *inspect.Case, d *diagnose.Diagnosis) []render.Line {
	var lines []render.Line
	word := "next"
	for _, c := range d.Commands(w.given(c)) {
		lines = append(lines, w.page().Command(word, c.Line, c.Why)...)
		word = ""
	}
	return lines
}

// given are the flags of this run.
func (w *whyCmd) given(c *inspect.Case) diagnose.Given {
	live := w.connectWords()
	if live == "" && w.past.from != "" {
		live = flagWords("-b", c.Cluster.Bootstrap) // a case file names the cluster that it is of
	}
	return diagnose.Given{Connect: w.connectWords(), Live: live, Logs: flagWords("--log", w.past.logs...), Past: w.past.pastWords(), Advise: w.past.adviseWords(), Kept: w.past.from != ""}
}
