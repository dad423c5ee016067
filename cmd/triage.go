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
	rebalanced, times := t.Rebalanced()
	more := fmt.Sprintf("%s, last %s to %s: %d rebalanced, %s", prose.Plural(len(t.Groups), "group"), prose.Span(c.Window.Length().Round(time.Second)),
		w.clockZone(c.Window.To.Time), rebalanced, prose.Plural(times, "time"))
	v := render.View{Head: w.clusterLine(c.Cluster, more), Data: whyDoc{w.envelopeOf(whySchema, c), t}}
	block := render.Block{NoTSV: true}
	if rebalanced > 0 {
		block.Table = w.triageTable(t.Groups)
		if n := rebalanced - len(block.Table.Rows); n > 0 {
			block.After = append(block.After, render.L("and %s more (-v)", prose.Plural(n, "group")))
		}
		block.After = append(block.After, w.sharedLines(t)...)
		block.After = append(block.After, label("next", "kgdiag why %s", prose.ShellWord(t.Groups[0].Group)+w.connectWords()+w.past.pastWords()))
	} else {
		block.Lines = []render.Line{render.L("no group rebalanced")}
	}
	v.Blocks = append(v.Blocks, block)
	if lines := show.Gaps(inspect.HistoryGaps(c.Gaps)); len(lines) > 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: lines, NoTSV: true})
	}
	v.Blocks = append(v.Blocks, render.Block{Table: whyTSV(t.Groups), TSVOnly: true})
	return v
}

// triageTable has one row a group that rebalanced.
func (w *whyCmd) triageTable(groups []diagnose.Diagnosis) *render.Table {
	t := &render.Table{Columns: render.Cols("GROUP", ">REBALANCES", ">EVICTIONS", "NOT CONSUMED", "WORST CAUSE", "COORDINATOR")}
	for i := range groups {
		d := &groups[i]
		if len(d.Rebalances) > 0 || d.Waiting != nil {
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
		render.P("%s", d.Cost.NotConsumed()), render.P("%s", d.Worst()), render.P("%s", coordinator)}
}

// mostShared is how many shared causes the triage shows.
const mostShared = 4

// sharedLines say "theirs" or "ours".
func (w *whyCmd) sharedLines(t diagnose.Triage) []render.Line {
	var out []render.Line
	for i := range t.Shared {
		s := &t.Shared[i]
		if i == mostShared {
			return append(out, render.L("and %s of several groups", prose.Plural(len(t.Shared)-mostShared, "more time")))
		}
		text := fmt.Sprintf("shared cause: within %s at %s %s", prose.Span(s.To.Sub(s.From.Time).Round(100*time.Millisecond)), w.clock(s.From), s.Means())
		for j, l := range prose.Wrap(text, textRoom) {
			if j > 0 {
				l = pageIndent + l
			}
			out = append(out, render.L("%s", l))
		}
	}
	if t.Unrelated() {
		return []render.Line{render.L("no shared cause: different hosts and times")}
	}
	return out
}
