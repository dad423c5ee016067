package cmd

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/show"
	"github.com/kgdiag/kgdiag/internal/term"
)

// mostTriage is how many groups the triage table shows without -v.
const mostTriage = 30

// triageView shows all groups, worst first, and whether they share a cause.
func (w *whyCmd) triageView(c *inspect.Case, t diagnose.Triage) render.View {
	rebalanced, _ := t.Rebalanced()
	more := fmt.Sprintf("last %s to %s", prose.Span(c.Window.Length().Round(time.Second)), w.clock(c.Window).Head(c.Window.To.Time))
	v := render.View{Head: w.clusterLine(c.Cluster, more), Data: whyDoc{w.envelopeOf(whySchema, c), t}}
	block := render.Block{NoTSV: true, Lines: []render.Line{render.L("%s", t.Counts())}}
	if rebalanced > 0 {
		block.Table = w.triageTable(t.Groups)
		if n := rebalanced - len(block.Table.Rows); n > 0 && !w.flags.verbose {
			block.After = append(block.After, render.L("and %s more (-v)", prose.Plural(n, "group")))
		}
		block.After = append(block.After, w.sharedLines(t, w.clock(c.Window).Moment)...)
		block.After = append(block.After, w.cures(t)...)
	} else if block.Lines = []render.Line{noGroupLine(c.Gaps)}; len(t.Groups) > t.Unread() {
		block.Lines = []render.Line{render.L("%s", t.Counts())}
	}
	if n := t.Unread(); n > 0 {
		block.Lines = append(block.Lines, render.L("of %s nothing of the past was read: whether they rebalanced is not known", prose.Plural(n, "group")))
	}
	v.Blocks = append(v.Blocks, block)
	if lines := show.Gaps(inspect.HistoryGaps(c.Gaps)); len(lines) > 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: lines, NoTSV: true})
	}
	v.Blocks = append(v.Blocks, render.Block{Table: whyTSV(t.Groups), TSVOnly: true})
	return v
}

// triageTable has one row a group that rebalanced, those in which members only joined
// with -v alone.
func (w *whyCmd) triageTable(groups []diagnose.Diagnosis) *render.Table {
	t := &render.Table{Columns: render.Cols("~GROUP", ">REBALANCES", ">EVICTIONS", "WORST CAUSE", "~MEMBER", "?>NOT CONSUMED", "?COORDINATOR")}
	for i := range groups {
		d := &groups[i]
		if len(d.Rebalances) > 0 && (w.flags.verbose || !d.OnlyJoined()) || d.Waiting != nil {
			t.Rows = append(t.Rows, triageRow(d))
		}
		if len(t.Rows) == mostTriage && !w.flags.verbose {
			break
		}
	}
	return t
}

func triageRow(d *diagnose.Diagnosis) []render.Span {
	style := term.Plain
	if d.Summary.Evictions > 0 {
		style = term.Bad
	}
	coordinator := "-"
	if d.Coordinator != nil {
		coordinator = fmt.Sprint(d.Coordinator.ID)
	}
	return []render.Span{render.P("%s", d.Group), render.P("%d", len(d.Rebalances)), render.S(style, "%d", d.Summary.Evictions),
		render.P("%s", d.WorstCause()), render.P("%s", d.Member), render.P("%s", d.Cost.NotConsumed()), render.P("%s", coordinator)}
}

// mostCures is for how many groups the triage says what to set.
const mostCures = 3

// cures say what to set for the worst groups, where anything is, and how to see why.
func (w *whyCmd) cures(t diagnose.Triage) []render.Line {
	worst := t.Sick()
	if len(worst) == 0 {
		worst = []*diagnose.Diagnosis{&t.Groups[0]}
	}
	worst = worst[:min(len(worst), mostCures)]
	names, next, cured := 0, "", false
	for _, d := range worst {
		names = max(names, prose.Width(d.Group))
		next += " " + prose.ShellWord(d.Group)
		_, rule := d.InShort()
		cured = cured || rule != ""
	}
	next = "kgdiag why" + next + w.connectWords() + w.past.pastWords()
	if !cured {
		return []render.Line{w.page().Label("next", next)}
	}
	var lines []render.Line
	word := "FIX"
	for _, d := range worst {
		what, rule := d.InShort()
		lines = append(lines, w.page().Setting(word, fmt.Sprintf("%-*s  %s", names, d.Group, what), "", rule)...)
		word = ""
	}
	return append(lines, w.page().Command("next", next, "before you set it")...)
}

// mostShared is how many shared causes the triage shows.
const mostShared = 4

// sharedLines say "theirs" or "ours".
func (w *whyCmd) sharedLines(t diagnose.Triage, clock diagnose.Clock) []render.Line {
	var out []render.Line
	for i := range t.Shared {
		s := &t.Shared[i]
		if i == mostShared {
			return append(out, render.L("and %s of several groups", prose.Plural(len(t.Shared)-mostShared, "more time")))
		}
		text := "shared cause: at " + clock(s.From)
		if d := s.To.Sub(s.From.Time).Round(100 * time.Millisecond); d > 0 {
			text += ", within " + prose.Span(d)
		}
		text += ", " + s.Means()
		for j, l := range prose.Wrap(text, w.width()-len(show.Indent)) {
			if j > 0 {
				l = show.Indent + l
			}
			out = append(out, render.L("%s", l))
		}
	}
	if t.Unrelated() {
		return []render.Line{render.L("no shared cause found in their hosts, coordinators and times")}
	}
	return out
}
