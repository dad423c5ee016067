package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Rebalance is one rebalance of the window.
type Rebalance struct {
	Number                                         int // in the window, from 1
	Anchor, Time, Generation, Members, Who         string
	Cause, Tone, Sure, Paused, Means, Moved, Notes string
	Evidence, Rivals                               []string
}

// Fix is a finding with what to change.
type Fix struct {
	ID, Name, Severity, Message, Where, Docs string
	Evidence                                 []string
	Set                                      Shell // settings to copy, one a line; "" for none
	Notes                                    []string
	Or                                       []Alternative
	Summary, Avoided, Tradeoff, BecauseOf    string
}

// Alternative is what would do instead of a fix.
type Alternative struct {
	Set  Shell
	Note string
}

// group writes down one group.
func (w *writer) group(d *diagnose.Diagnosis, anchor string, cut *cuts) Group {
	g := Group{ID: d.Group, Anchor: anchor, Lead: w.lead(d)}
	word, _, _ := d.Headline(w.o.Now, w.clock)
	g.Verdict, g.Tone = string(word), tone(word)
	g.Epochs = d.Type != inspect.Classic && d.Type != inspect.UnknownType
	if d.Waiting != nil {
		g.Waiting = d.Waiting.Text(w.clock)
	}
	if d.Calm() {
		g.Calm = w.calm(d)
	} else {
		w.cause(&g, d)
		g.Cost = d.Cost.String()
	}
	w.fixes(&g, d)
	if d.WhatIf != nil {
		g.Replay = diagnose.ReplayLines(d.WhatIf, w.clock, w.l.evidence)
	}
	g.Chart = w.chart(d, anchor, cut)
	w.rebalances(&g, d)
	g.Config = w.config(d, cut)
	g.Checks = d.NotChecked()
	g.Unchecked, g.Gaps = w.unchecked(d.Unchecked, cut), gapsOf(inspect.GapsOf(w.c.Gaps, d.Group))
	for _, c := range d.Commands(w.o.Given) {
		g.Next = append(g.Next, Command{Shell(c.Line), c.Why})
	}
	cut.courses += g.CoursesCut
	cut.rebalances += g.RebalancesCut
	cut.findings += g.UnrelatedCut
	return g
}

// lead says how much happened, and the state now.
func (w *writer) lead(d *diagnose.Diagnosis) string {
	_, text, more := d.Headline(w.o.Now, w.clock)
	if more != "" {
		text += "; " + more
	}
	if w.o.Kept && d.Live != nil && d.State != "" {
		text += " (read at " + w.clock(d.Live.At) + ")"
	}
	return text
}

// calm is said of a group in which nothing is to be explained.
func (w *writer) calm(d *diagnose.Diagnosis) string {
	switch {
	case len(d.Rebalances) > 0:
		r := d.Rebalances[len(d.Rebalances)-1]
		return fmt.Sprintf("last rebalance %s, %s: %s", w.clock(r.Time), diagnose.CauseText(r), diagnose.Who(&r))
	case d.Last != nil:
		return fmt.Sprintf("no rebalance in this time; the last one was at %s, generation %d, %s", w.day(d.Last.Time), d.Last.Generation, d.Last.Cause.Label())
	case d.NoHistory != "":
		return "its history was not read: " + d.NoHistory
	}
	return "no rebalance is known since " + w.day(w.c.Window.From)
}

// cause says why, with the evidence.
func (w *writer) cause(g *Group, d *diagnose.Diagnosis) {
	if d.AtRecord {
		g.Why = append(g.Why, d.AtWhich())
	}
	g.Why = append(g.Why, d.Why()+d.Since(w.clock))
	g.Sure, g.Evidence = d.Sure(), firstOf(d.Shown(false), w.l.evidence)
	g.Courses = d.Courses(w.clock)
	if n := len(g.Courses.List) - w.l.courses; n > 0 {
		g.CoursesCut, g.Courses.List = n, g.Courses.Newest(w.l.courses)
	}
	for _, text := range append([]string{d.Assumed(), d.CouldBe(), d.RuledOut(), d.Decide()}, d.Logs(w.c, w.clock)...) {
		if text != "" {
			g.Doubts = append(g.Doubts, text)
		}
	}
	if len(d.Records) == 0 {
		if text := d.MemberAlone(); text != "" {
			g.Evidence = append(g.Evidence, text)
		}
		return
	}
	if !d.AtRecord {
		g.Evidence = append(g.Evidence, fmt.Sprintf("%d of the departures happened at one record: %s", d.Records[0].Times, d.Records[0].Place))
	}
	first, _, _ := strings.Cut(w.c.Cluster.Bootstrap, ",")
	if read := d.Records[0].Command(first); read != "" {
		g.Read = &Command{Shell(read), "shows that record"}
	}
}

// fixes are the findings: those that are tied to the cause, and the others.
func (w *writer) fixes(g *Group, d *diagnose.Diagnosis) {
	for i := range d.Findings {
		f := w.fix(&d.Findings[i])
		if d.Findings[i].Fix != nil {
			f.Avoided = d.Avoided(&d.Findings[i]).String()
		}
		if text := d.ForWhom(); text != "" && &d.Findings[i] == d.Fix() {
			f.Notes = append(f.Notes, text)
		}
		g.Fixes = append(g.Fixes, f)
	}
	if len(g.Fixes) == 0 && !d.Calm() {
		g.Remedy, _ = d.Remedy()
	}
	for i := range d.Unrelated {
		if i == w.l.findings {
			g.UnrelatedCut = len(d.Unrelated) - i
			break
		}
		g.Unrelated = append(g.Unrelated, w.fix(&d.Unrelated[i]))
	}
}

// fix writes down a finding.
func (w *writer) fix(f *advise.Finding) Fix {
	out := Fix{ID: f.ID, Name: f.Name, Severity: string(f.Severity), Message: f.Message, Docs: f.Docs, Evidence: firstOf(f.Evidence, w.l.evidence), BecauseOf: f.BecauseOf}
	if f.Where != nil && f.Where.File != "" {
		out.Where = f.Where.File
		if f.Where.Line > 0 {
			out.Where += fmt.Sprintf(":%d", f.Where.Line)
		}
	}
	x := f.Fix
	if x == nil {
		return out
	}
	out.Summary, out.Tradeoff = x.Summary, x.Price
	if x.If != "" {
		out.Notes = append(out.Notes, x.Condition())
	}
	if out.Tradeoff == "none" {
		out.Tradeoff = ""
	}
	if len(x.Edits) == 0 {
		out.Set = Shell(strings.Join(diagnose.Settings(x.Set), "\n"))
	}
	for _, e := range x.Edits {
		w.edit(&out, e, x.Notes[e.Key])
	}
	return out
}

// edit adds one line to write or to delete to a fix, or to one of its alternatives.
func (w *writer) edit(f *Fix, e advise.Edit, note string) {
	set := Shell(e.Spelled + "=" + e.Value)
	switch {
	case e.Delete:
		f.Notes = append(f.Notes, "delete "+e.Spelled)
	case e.Alternative == 0:
		f.Set = joined(f.Set, set)
		if note != "" {
			f.Notes = append(f.Notes, e.Spelled+": "+note)
		}
	default:
		for len(f.Or) < e.Alternative {
			f.Or = append(f.Or, Alternative{})
		}
		or := &f.Or[e.Alternative-1]
		or.Set, or.Note = joined(or.Set, set), note
	}
}

// joined puts a line below others.
func joined(above, line Shell) Shell {
	if above == "" {
		return line
	}
	return above + "\n" + line
}

// rebalances are those of the window, the newest where there are too many.
func (w *writer) rebalances(g *Group, d *diagnose.Diagnosis) {
	g.RebalancesCut = max(0, len(d.Rebalances)-w.l.rebalances)
	for i := g.RebalancesCut; i < len(d.Rebalances); i++ {
		r := &d.Rebalances[i]
		x := Rebalance{Number: i + 1, Anchor: fmt.Sprintf("%s-r%d", g.Anchor, i+1), Time: w.clock(r.Time), Generation: diagnose.GenerationText(*r),
			Members: diagnose.MembersText(*r), Who: diagnose.Who(r), Cause: diagnose.CauseText(*r), Tone: causeTone(r), Sure: diagnose.Likelihood(r),
			Paused: diagnose.Paused(r.Stopped, r.StoppedAtMost), Means: r.Cause.Info().Seen, Evidence: firstOf(r.Evidence, w.l.evidence), Notes: strings.Join(firstOf(r.Notes, w.l.evidence), "; ")}
		if g.Epochs {
			x.Paused = or(span(r.Converged))
		}
		if r.Moved > 0 {
			x.Moved = fmt.Sprintf("%d of %s moved", r.Moved, prose.Plural(r.Assigned, "partition"))
		}
		for _, v := range r.Rivals {
			text := "could also be: " + v.Cause.Info().Name
			if v.WhyNot != "" {
				text = fmt.Sprintf("ruled out: %s (%s)", v.Cause.Info().Name, v.WhyNot)
			}
			x.Rivals = append(x.Rivals, text)
		}
		g.Rebalances = append(g.Rebalances, x)
	}
}

// causeTone marks evictions, and what is not explained.
func causeTone(r *inspect.Rebalance) string {
	switch {
	case r.Cause.Eviction():
		return "bad"
	case !r.Cause.Explained():
		return "warn"
	}
	return "plain"
}

func firstOf(list []string, most int) []string {
	if len(list) > most {
		return append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most))
	}
	return slices.Clone(list)
}
