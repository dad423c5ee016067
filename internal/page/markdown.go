package page

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/render"
)

// forChat is what a message has room for: the page has the rest.
var forChat = limits{groups: 5, overview: 20, lanes: 1, rebalances: 1, courses: 5, spans: 1, members: 1, files: 1, findings: 1, evidence: 4, unchecked: 1, step: 1}

// Markdown writes the groups of a triage as a message for a chat or a ticket: the same
// words as the page in the same order, without the parts that only a page has room for.
func Markdown(out io.Writer, c *inspect.Case, t diagnose.Triage, o Options) error {
	r := reportOf(c, t, o, forChat)
	tidy(reflect.ValueOf(&r).Elem())
	var m message
	m.text(r.Cluster + ", " + r.Window)
	for i := range r.Groups {
		if i > 0 {
			m.b.WriteString("\n---\n\n")
		}
		m.group(&r, &r.Groups[i])
	}
	if len(r.Groups) == 0 {
		m.text("no group matches")
	}
	if n := len(t.Groups) - len(r.Groups); n > 0 {
		m.text(fmt.Sprintf("and %d more groups: name fewer to see them", n))
	}
	_, err := io.WriteString(out, strings.TrimRight(m.b.String(), "\n")+"\n")
	return err
}

// message is Markdown under construction.
type message struct{ b strings.Builder }

// group writes one group.
func (m *message) group(r *Report, g *Group) {
	fmt.Fprintf(&m.b, "**%s %s**: %s\n\n", render.EscapeMarkdown(g.ID), g.Verdict, render.EscapeMarkdown(g.Lead))
	if g.Waiting != "" {
		m.part("Now", g.Waiting)
	}
	if g.Calm != "" {
		m.text(g.Calm)
	}
	if len(g.Why) > 0 {
		m.part("Why", strings.Join(g.Why, "; ")+" ("+g.Sure+")")
	}
	m.courses(g)
	m.list(append(g.Evidence, g.Doubts...))
	if g.Cost != "" {
		m.part("Cost", g.Cost)
	}
	m.change(g)
	m.list(g.Replay)
	m.part("Not checked", g.Checks)
	for _, x := range append(g.Gaps, r.Gaps...) {
		text := x.Label + ": " + x.What + ": " + x.Why
		if x.Needs != "" {
			text += "; needs " + x.Needs
		}
		m.text(text)
	}
	var next []string
	for _, c := range g.Next {
		next = append(next, string(c.Text)+"   # "+c.Why)
	}
	if len(next) > 0 {
		m.part("Next", "")
		m.fence("sh", next)
	}
}

// courses is the table of departures; fenced, so that every chat keeps its columns.
func (m *message) courses(g *Group) {
	if len(g.Courses.List) == 0 {
		return
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(g.Courses.Heads, "\t"))
	for i := range g.Courses.List {
		fmt.Fprintln(w, strings.Join(g.Courses.List[i].Cells(), "\t"))
	}
	_ = w.Flush() // into memory
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	if g.CoursesCut > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", g.CoursesCut))
	}
	m.fence("text", lines)
	for _, note := range g.Courses.Notes {
		m.text(note)
	}
}

// change is what to change: the first finding with its settings, and the names of the
// others.
func (m *message) change(g *Group) {
	if g.Read != nil {
		m.part("Read", g.Read.Why)
		m.fence("sh", []string{string(g.Read.Text)})
	}
	if g.Remedy != "" {
		m.part("Fix", g.Remedy)
	}
	for i := range g.Fixes {
		f := &g.Fixes[i]
		if f.BecauseOf != "" {
			continue // it goes away with the other
		}
		if f.Set == "" {
			m.part("Fix", f.Summary+" ("+f.ID+")")
		} else {
			m.part("Fix", f.Message+" ("+f.ID+")")
			m.fence("properties", strings.Split(string(f.Set), "\n"))
		}
		more := append([]string{}, f.Notes...)
		for _, or := range f.Or {
			more = append(more, strings.TrimSpace("or "+strings.ReplaceAll(string(or.Set), "\n", " and ")+" "+bracketed(or.Note)))
		}
		if f.Avoided != "" {
			more = append(more, f.Avoided)
		}
		if f.Tradeoff != "" {
			more = append(more, "trade-off: "+f.Tradeoff)
		}
		m.list(more)
	}
}

func bracketed(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

// part is a paragraph under a word.
func (m *message) part(word, text string) {
	m.b.WriteString(strings.TrimRight("**"+word+"**: "+render.EscapeMarkdown(text), " ") + "\n\n")
}

// text is a paragraph.
func (m *message) text(s string) { m.b.WriteString(render.EscapeMarkdown(s) + "\n\n") }

// list has one item a text.
func (m *message) list(items []string) {
	for _, s := range items {
		m.b.WriteString("- " + render.EscapeMarkdown(s) + "\n")
	}
	if len(items) > 0 {
		m.b.WriteString("\n")
	}
}

// fence keeps lines as they are.
func (m *message) fence(language string, lines []string) {
	m.b.WriteString(render.Fenced(language, lines) + "\n")
}
