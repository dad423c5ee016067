package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/show"
	"github.com/kgdiag/kgdiag/internal/term"
)

// adviseDocument is the JSON of advise.
type adviseDocument struct {
	envelope
	Findings  []advise.Finding           `json:"findings"`
	Hidden    map[string]int             `json:"hidden"` // findings below --min-severity, by severity
	Checked   int                        `json:"checked"`
	Rules     int                        `json:"rules"`
	Unchecked []advise.UncheckedByReason `json:"unchecked"`
}

// showAdvice shows a report on what was asked about.
func (o *adviseCmd) showAdvice(c *inspect.Case, r advise.Report, asked []string) error {
	doc := adviseDocument{envelope: o.envelopeOf("kgdiag.advise/v1", c), Findings: []advise.Finding{}, Hidden: map[string]int{},
		Checked: r.Checked, Rules: r.Rules, Unchecked: advise.ByReason(r.Unchecked)}
	for _, f := range r.Findings {
		if f.Severity.Rank() < o.floor.Rank() {
			doc.Hidden[string(f.Severity)]++
			continue
		}
		doc.Findings = append(doc.Findings, f)
	}
	v := render.View{Data: doc, Report: reportOf(doc.Findings), Blocks: findingBlocks(o.page(), doc.Findings, o.flags.verbose, avoidedIn(c))}
	if c.Cluster != (inspect.Cluster{}) {
		v.Head = o.clusterLine(c.Cluster, o.clockOf(c.GeneratedAt.Time).Head(c.GeneratedAt.Time))
	}
	lines, word := summaryLines(o.page(), doc, r.Unchecked, c, asked), "next"
	for _, next := range diagnose.AfterAdvice(c, doc.Findings, diagnose.Advised{Run: o.again, Logs: flagWords("--log", o.logs...), Files: o.files}) {
		lines, word = append(lines, o.page().Command(word, next.Line, next.Why)...), ""
	}
	v.Blocks = append(v.Blocks, render.Block{NoTSV: true, Lines: lines})
	if o.flags.verbose && len(r.Unchecked) > 0 {
		v.Blocks = append(v.Blocks, uncheckedBlock(doc.Unchecked))
	}
	v.Blocks = append(v.Blocks, findingTable(doc.Findings))
	return o.show(v)
}

// indent is the width of the severity column.
const indent = "       "

// findingBlocks draws findings, each with its symptoms below it; those of one rule are
// told once where there are many, but for -v.
func findingBlocks(p show.Page, fs []advise.Finding, verbose bool, effect func(*advise.Finding) string) []render.Block {
	var out []render.Block
	for _, s := range advise.Together(fs, verbose) {
		lines := findingLines(p, &s.Finding, verbose, effect(&s.Finding))
		if others := s.Others(); others != "" {
			lines = append(lines, wrapped(p, term.Plain, fmt.Sprintf("the same for %s (-v shows each)", others))...)
		}
		for _, f := range s.Symptoms {
			lines = append(lines, wrapped(p, term.Plain, fmt.Sprintf("`- %s %s: %s, a symptom of this fault", f.ID, f.Name, f.Message))...)
		}
		out = append(out, render.Block{NoTSV: true, Lines: lines})
	}
	return out
}

// avoidedIn says what the fix of a finding would have prevented in a case's window, as why
// does.
func avoidedIn(c *inspect.Case) func(*advise.Finding) string {
	x := c.Index()
	return func(f *advise.Finding) string {
		if f.Fix == nil || f.Group == "" {
			return ""
		}
		return diagnose.AvoidedOf(c.Window.Rebalances(x.Timeline(f.Group)), f).String()
	}
}

func findingLines(p show.Page, f *advise.Finding, verbose bool, effect string) []render.Line {
	lines := append([]render.Line{findingHead(f)}, wrapped(p, term.Plain, f.Message)...)
	if verbose || f.Confidence != inspect.High {
		for _, e := range f.Evidence {
			lines = append(lines, wrapped(p, term.Dim, e)...)
		}
	}
	if f.Fix != nil {
		lines = append(lines, fixLines(f.Fix, f.Where, effect)...)
	}
	return lines
}

func findingHead(f *advise.Finding) render.Line {
	head := render.Line{render.S(severityStyle(f.Severity), "%-6s ", f.Severity), render.S(term.Bold, "%s %s", f.ID, f.Name)}
	var about []string
	switch {
	case f.Where != nil && f.Where.Line > 0:
		about = append(about, fmt.Sprintf("%s:%d", f.Where.File, f.Where.Line))
	case f.Where != nil:
		about = append(about, f.Where.File)
	case f.Group != "" && f.Subject != "group "+f.Group:
		about = append(about, f.Group+", "+f.Subject)
	case f.Group != "":
		about = append(about, f.Group)
	default:
		about = append(about, f.Subject)
	}
	if sure := map[inspect.Confidence]string{inspect.Medium: "likely", inspect.Low: "possible"}[f.Confidence]; sure != "" {
		about = append(about, sure)
	}
	return append(head, render.P("    %s", strings.Join(about, "    ")))
}

func severityStyle(s advise.Severity) term.Style {
	switch s {
	case advise.Error:
		return term.Bad
	case advise.Warning:
		return term.Warn
	}
	return term.Plain
}

// fixLines draws a fix: a table of what to set, or the words where there is nothing
// to set. A line of the file is said where it is not that of the finding, at. Effect is what the settings would have prevented, "" for unknown.
func fixLines(x *advise.Fix, at *inspect.Position, effect string) []render.Line {
	type row struct{ verb, what, note string }
	var rows []row
	last := 0
	for _, e := range x.Edits {
		r := row{verb: "set", what: e.Spelled + "=" + e.Value, note: x.Notes[e.Key]}
		switch {
		case e.Delete && e.Where != nil && e.Where.Line > 0:
			r = row{verb: "delete", what: fmt.Sprintf("%s (line %d)", e.Spelled, e.Where.Line)}
		case e.Delete:
			r = row{verb: "delete", what: e.Spelled}
		case e.Alternative > 0 && e.Alternative == last:
			r.verb = "and"
		case e.Alternative > 0:
			r.verb = "or"
		case len(rows) > 0 && rows[len(rows)-1].verb != "delete":
			r.verb = "and"
		}
		if e.Where != nil && at != nil && e.Where.Line > 0 && e.Where.Line != at.Line && !e.Delete {
			r.what += fmt.Sprintf(" (line %d)", e.Where.Line)
		}
		last = e.Alternative
		rows = append(rows, r)
	}
	if x.If != "" && len(x.Set) > 0 {
		rows = append([]row{{verb: "when", what: x.Condition()}}, rows...)
	}
	if len(rows) == 0 || rows[0].verb == "delete" {
		rows = append([]row{{verb: "fix", what: x.Summary}}, rows...)
	}
	if effect != "" {
		rows = append(rows, row{verb: "effect", what: effect})
	}
	if x.Price != "" && x.Price != "none" {
		rows = append(rows, row{verb: "trade-off", what: x.Price})
	}
	wide := 0
	for _, r := range rows {
		if r.note != "" {
			wide = max(wide, len(r.what))
		}
	}
	var lines []render.Line
	for _, r := range rows {
		text := fmt.Sprintf("%s%-9s %s", indent, r.verb, r.what)
		if r.note != "" {
			text = fmt.Sprintf("%s%-9s %-*s    %s", indent, r.verb, wide, r.what, r.note)
		}
		lines = append(lines, render.L("%s", text))
	}
	return lines
}

// summaryLines count what was found, hidden and not checked.
func summaryLines(p show.Page, doc adviseDocument, unchecked []advise.Unchecked, c *inspect.Case, asked []string) []render.Line {
	hidden := ""
	if n := hiddenCount(doc.Hidden); n > 0 {
		hidden = "; " + prose.Plural(n, "lower-severity finding") + " hidden (show: --min-severity info)"
	}
	var lines []render.Line
	if len(doc.Findings) == 0 {
		fired := "none fired"
		if hidden != "" {
			fired = "no problem found"
		}
		text := fmt.Sprintf("%s: %d of kgdiag's %d rules checked, %s%s", askedText(asked, c), doc.Checked, doc.Rules, fired, hidden)
		for i, l := range prose.Wrap(text, p.Width-len(indent)) {
			if i == 0 {
				lines = append(lines, render.Line{render.S(term.Good, "ok     "), render.P("%s", l)})
			} else {
				lines = append(lines, render.L("%s%s", indent, l))
			}
		}
	} else {
		lines = append(lines, render.L("%s%s", countBySeverity(doc.Findings), hidden))
	}
	if len(c.Groups) > 0 {
		told := func(file string) bool {
			return slices.ContainsFunc(doc.Findings, func(f advise.Finding) bool { return f.Where != nil && f.Where.File == file })
		}
		for _, l := range diagnose.LogsRead(c, c.GroupIDs(), "", told) {
			lines = append(lines, p.Paragraph("LOG", l)...)
		}
	}
	if not := advise.NotChecked(unchecked); not != "" {
		lines = append(lines, p.Paragraph("NOT CHECKED", fmt.Sprintf("%d of kgdiag's %s: %s", doc.Rules-doc.Checked, prose.Plural(doc.Rules, "rule"), not))...)
	}
	return lines
}

// wrapped is a text below the head of a finding.
func wrapped(p show.Page, style term.Style, text string) []render.Line {
	var out []render.Line
	for _, l := range prose.Wrap(text, p.Width-len(indent)) {
		out = append(out, render.Line{render.S(style, "%s%s", indent, l)})
	}
	return out
}

func hiddenCount(hidden map[string]int) int {
	n := 0
	for _, k := range hidden {
		n += k
	}
	return n
}

func countBySeverity(fs []advise.Finding) string {
	n, symptoms := map[advise.Severity]int{}, 0
	for _, s := range advise.Together(fs, true) {
		n[s.Severity]++
		symptoms += len(s.Symptoms)
	}
	var parts []string
	for _, s := range []advise.Severity{advise.Error, advise.Warning, advise.Info} {
		if n[s] > 0 {
			parts = append(parts, prose.Plural(n[s], string(s)))
		}
	}
	text := strings.Join(parts, ", ")
	if symptoms > 0 {
		whose := "their"
		if symptoms == 1 {
			whose = "its"
		}
		text += fmt.Sprintf(" (and %s, under %s cause)", prose.Plural(symptoms, "symptom"), whose)
	}
	return text
}

// askedText names what was looked at: the groups and files, or the first few.
func askedText(asked []string, c *inspect.Case) string {
	if len(asked) == 0 {
		for _, g := range c.Groups {
			asked = append(asked, g.ID)
		}
	}
	switch {
	case len(asked) == 0 && len(c.LogEvents) > 0:
		return "the logs"
	case len(asked) == 0:
		return "the cluster"
	}
	return prose.Few(asked, 5)
}

// uncheckedBlock lists what was not checked, and why, for -v.
func uncheckedBlock(us []advise.UncheckedByReason) render.Block {
	t := &render.Table{Columns: render.Cols("UNCHECKED", "NAME", "GROUP", "REASON")}
	for _, u := range us {
		who := u.Group
		if len(u.Groups) > 0 {
			who = prose.Plural(len(u.Groups), "group")
		}
		t.Rows = append(t.Rows, render.Row(u.ID, u.Name, who, u.Reason))
	}
	return render.Block{NoTSV: true, Table: t}
}

// findingTable is the tsv of advise.
func findingTable(fs []advise.Finding) render.Block {
	t := &render.Table{Columns: render.Cols("SEVERITY", "ID", "NAME", "GROUP", "SUBJECT", "FILE", "LINE", "CONFIDENCE", "MESSAGE", "SET")}
	for _, f := range fs {
		file, line := "", ""
		if f.Where != nil {
			file = f.Where.File
			if f.Where.Line > 0 {
				line = fmt.Sprint(f.Where.Line)
			}
		}
		var set []string
		if f.Fix != nil {
			for _, e := range f.Fix.Edits {
				if e.Alternative == 0 && !e.Delete {
					set = append(set, e.Spelled+"="+e.Value)
				}
			}
		}
		t.Rows = append(t.Rows, render.Row(string(f.Severity), f.ID, f.Name, f.Group, f.Subject, file, line, string(f.Confidence), f.Message, strings.Join(set, " ")))
	}
	return render.Block{TSVOnly: true, Table: t}
}
