package cmd

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/advise/explain"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
)

// textWidth is where explain breaks its prose.
const textWidth = usualWidth

// explainListView lists all that can be explained.
func explainListView(env envelope) render.View {
	rules := &render.Table{Columns: render.Cols("RULE", "NAME", "SEVERITY", "SUMMARY")}
	for _, r := range explain.Rules() {
		rules.Rows = append(rules.Rows, render.Row(r.ID, r.Name, string(r.Severity), r.Summary))
	}
	causes := &render.Table{Columns: render.Cols("CAUSE", "SEEN")}
	for _, c := range explain.Causes() {
		causes.Rows = append(causes.Rows, render.Row(string(c.Cause), c.Seen))
	}
	var words []string
	for _, t := range explain.Terms() {
		words = append(words, t.Word)
	}
	return render.View{
		Blocks: []render.Block{{Title: "Rules", Table: rules}, {Title: "Causes of a rebalance", Table: causes},
			{Title: "Words", Lines: wrap(strings.Join(words, ", "), ""), NoTSV: true},
			{Lines: []render.Line{render.L("next   kgdiag explain KGD105")}, NoTSV: true}},
		Data: struct {
			envelope
			Rules  []*explain.Rule `json:"rules"`
			Causes []explain.Cause `json:"causes"`
			Terms  []explain.Term  `json:"terms"`
		}{env, explain.Rules(), explain.Causes(), explain.Terms()},
	}
}

// topicBlock is the text of one topic.
func topicBlock(t explain.Topic) render.Block {
	switch {
	case t.Rule != nil:
		return ruleBlock(t.Rule)
	case t.Cause != nil:
		return causeBlock(t.Cause)
	}
	return termBlock(t.Term)
}

func ruleBlock(r *explain.Rule) render.Block {
	b := render.Block{Title: r.ID + " " + r.Name}
	var needs []string
	for _, n := range r.Needs {
		needs = append(needs, string(n))
	}
	b.Lines = append(b.Lines, wrap(r.Summary, "what      ")...)
	b.Lines = append(b.Lines, wrap(r.Why, "why       ")...)
	b.Lines = append(b.Lines, wrap(r.Fix, "fix       ")...)
	b.Lines = append(b.Lines, wrap(r.Price, "trade-off ")...)
	b.Lines = append(b.Lines, wrap(strings.Join(needs, ", "), "needs     ")...)
	b.Lines = append(b.Lines, wrap(strings.Join(r.Refs, "; "), "refs      ")...)
	b.Lines = append(b.Lines, render.L("severity  up to %s; in kgdiag since %s", r.Severity, r.Since))
	return b
}

func causeBlock(c *explain.Cause) render.Block {
	b := render.Block{Title: fmt.Sprintf("%s (on screens: %s)", c.Cause, c.Cause.Label())}
	b.Lines = append(b.Lines, wrap(c.Seen, "seen      ")...)
	b.Lines = append(b.Lines, wrap(c.Means, "means     ")...)
	b.Lines = append(b.Lines, wrap(c.Do, "do        ")...)
	return b
}

func termBlock(t *explain.Term) render.Block {
	b := render.Block{Title: t.Word}
	b.Lines = append(b.Lines, wrap(t.Text, "")...)
	if len(t.Also) > 0 {
		b.Lines = append(b.Lines, wrap(strings.Join(t.Also, ", "), "also      ")...)
	}
	if len(t.See) > 0 {
		b.Lines = append(b.Lines, wrap(strings.Join(t.See, ", "), "see       ")...)
	}
	return b
}

// wrap breaks text at textWidth, the first line after a label, the others below it.
func wrap(text, label string) []render.Line {
	lines := []render.Line{render.L("%s", label)}
	for i, s := range prose.Wrap(text, textWidth-len(label)) {
		if i == 0 {
			lines[0] = render.L("%s%s", label, s)
			continue
		}
		lines = append(lines, render.L("%*s%s", len(label), "", s))
	}
	return lines
}
