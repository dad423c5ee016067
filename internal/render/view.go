package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/internal/term"
)

// View is a result: text blocks for people, Data for machines.
type View struct {
	// Head is the first line of every text but tsv: the cluster that the result
	// speaks of.
	Head   Line
	Blocks []Block
	// Data is what -o json writes: a struct with json tags, envelope included.
	Data any
	// Width is how many columns a table may take before optional columns are left out and
	// the middles of names are; 0 for as many as it needs. Whole forbids the latter.
	Width int
	Whole bool
	// Wide asks for every column where there is no terminal.
	Wide bool
	// Report is what formats for code scanning write; nil where the view is none.
	Report *Report
}

// Block is a title, lines and a table, each optional, shown in this order.
type Block struct {
	Title string // a heading in markdown; a plain line elsewhere
	Lines []Line
	Table *Table
	After []Line // lines below the table
	// NoTSV leaves the block out of tsv; TSVOnly shows it nowhere else. tsv shows
	// tables alone where the view has any, else the lines.
	NoTSV, TSVOnly bool
}

// Line is a row of text made of styled pieces, with no newline.
type Line []Span

// Span is a piece of text with one style.
type Span struct {
	Text  string
	Style term.Style
}

// L makes a line of plain text from a format.
func L(format string, args ...any) Line {
	return Line{{Text: fmt.Sprintf(format, args...)}}
}

// S is a styled piece.
func S(style term.Style, format string, args ...any) Span {
	return Span{Text: fmt.Sprintf(format, args...), Style: style}
}

// P is a plain piece.
func P(format string, args ...any) Span { return S(term.Plain, format, args...) }

// Column is a column of a table. Right aligns numbers. Where the table is too wide,
// Optional columns are left out, the last first, and then the middles of the cells of
// those that allow to Shorten.
type Column struct {
	Name                     string
	Right, Shorten, Optional bool
}

// Table is a grid; rows may be shorter than the columns. An empty cell is shown as
// "-" because unknown is never blank.
type Table struct {
	Columns []Column
	Rows    [][]Span
}

// Cols makes columns from names; a leading "#" or ">" right-aligns, "~" allows cells to be
// shortened, and "?" the column to be left out (all but "#" are dropped).
func Cols(names ...string) []Column {
	out := make([]Column, len(names))
	for i, n := range names {
		name := strings.TrimLeft(n, ">~?")
		signs := n[:len(n)-len(name)]
		out[i] = Column{Name: name, Right: strings.Contains(signs, ">") || strings.HasPrefix(name, "#"), Shorten: strings.Contains(signs, "~"), Optional: strings.Contains(signs, "?")}
	}
	return out
}

// Row makes a row of plain cells.
func Row(cells ...string) []Span {
	out := make([]Span, len(cells))
	for i, c := range cells {
		out[i] = Span{Text: c}
	}
	return out
}

// Format writes a view. The painter is never nil.
type Format func(w io.Writer, v View, p *term.Painter) error

// formats are those of every view, reports those of views that have a Report.
var formats, reports = map[string]Format{}, map[string]Format{}

// register makes a format of every view known under a name, at package initialisation.
func register(name string, f Format) bool {
	formats[name] = f
	return true
}

// registerReport is register for a format of views that have a Report.
func registerReport(name string, f Format) bool {
	reports[name] = f
	return true
}

// Names lists the formats of every view: table first, then by name.
func Names() []string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(formats)), func(n string) bool { return n == "table" })
	return append([]string{"table"}, names...)
}

// ReportNames lists the formats beyond Names of views that have a Report.
func ReportNames() []string { return slices.Sorted(maps.Keys(reports)) }

// Render writes v in the named format, one of Names or, where v has a Report, of
// ReportNames.
func Render(w io.Writer, name string, v View, p *term.Painter) error {
	if f, ok := formats[name]; ok {
		return f(w, v, p)
	}
	if f, ok := reports[name]; ok && v.Report != nil {
		return f(w, v, p)
	}
	return fmt.Errorf("output format %q: not known, want %s", name, strings.Join(Names(), ", "))
}

// Plain is the text of a line without style.
func (l Line) Plain() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Text is the line as the table format shows it, cleaned and painted.
func (l Line) Text(p *term.Painter) string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(p.Paint(s.Style, Clean(s.Text)))
	}
	return strings.TrimRight(b.String(), " ")
}
