package cmd

import (
	"strings"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
)

// textWidth is where explain breaks its prose.
const textWidth = 100

func explainListView(env envelope) render.View {
	rules := &render.Table{Columns: render.Cols("RULE", "NAME", "SEVERITY", "SUMMARY")}
	var docs []*ruleDoc
	for _, r := range advise.Rules() {
		docs = append(docs, ruleDocOf(r))
		rules.Rows = append(rules.Rows, render.Row(r.ID, r.Name, string(r.Severity), r.Doc.Summary))
	}
	causes := &render.Table{Columns: render.Cols("CAUSE", "SEEN")}
	var causeList []causeDoc
	for _, c := range inspect.Causes() {
		d := causeDocOf(c)
		causeList = append(causeList, d)
		causes.Rows = append(causes.Rows, render.Row(string(c), d.Seen))
	}
	var words []string
	for _, g := range glossary {
		words = append(words, g.Word)
	}
	return render.View{
		Blocks: []render.Block{{Title: "Rules", Table: rules}, {Title: "Causes of a rebalance", Table: causes},
			{Title: "Words", Lines: wrap(strings.Join(words, ", "), ""), NoTSV: true},
			{Lines: []render.Line{render.L("next   kgdiag explain KGD105")}, NoTSV: true}},
		Data: struct {
			envelope
			Rules  []*ruleDoc    `json:"rules"`
			Causes []causeDoc    `json:"causes"`
			Terms  []glossaryDoc `json:"terms"`
		}{env, docs, causeList, glossary},
	}
}

func explainView(env envelope, topics []topic) render.View {
	v := render.View{Data: struct {
		envelope
		Topics []topic `json:"topics"`
	}{env, topics}}
	for _, t := range topics {
		switch {
		case t.Rule != nil:
			v.Blocks = append(v.Blocks, ruleBlock(t.Rule))
		case t.Cause != nil:
			v.Blocks = append(v.Blocks, causeBlock(t.Cause))
		default:
			v.Blocks = append(v.Blocks, termBlock(t.Term))
		}
	}
	return v
}

func ruleBlock(r *ruleDoc) render.Block {
	b := render.Block{Title: r.ID + " " + r.Name}
	var needs []string
	for _, n := range r.Needs {
		needs = append(needs, string(n))
	}
	b.Lines = append(b.Lines, wrap(r.Summary, "what   ")...)
	b.Lines = append(b.Lines, wrap(r.Why, "why    ")...)
	b.Lines = append(b.Lines, wrap(r.Fix, "fix    ")...)
	b.Lines = append(b.Lines, wrap(r.Price, "price  ")...)
	b.Lines = append(b.Lines, wrap(strings.Join(needs, ", "), "needs  ")...)
	b.Lines = append(b.Lines, wrap(strings.Join(r.Refs, "; "), "refs   ")...)
	b.Lines = append(b.Lines, render.L("at most %s, since %s", r.Severity, r.Since))
	return b
}

func causeBlock(c *causeDoc) render.Block {
	b := render.Block{Title: string(c.Cause)}
	b.Lines = append(b.Lines, wrap(c.Seen, "seen   ")...)
	b.Lines = append(b.Lines, wrap(c.Means, "means  ")...)
	b.Lines = append(b.Lines, wrap(c.Do, "do     ")...)
	return b
}

func termBlock(t *glossaryDoc) render.Block {
	b := render.Block{Title: t.Word}
	b.Lines = append(b.Lines, wrap(t.Text, "")...)
	if len(t.Also) > 0 {
		b.Lines = append(b.Lines, wrap(strings.Join(t.Also, ", "), "also   ")...)
	}
	if len(t.See) > 0 {
		b.Lines = append(b.Lines, wrap(strings.Join(t.See, ", "), "see    ")...)
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
