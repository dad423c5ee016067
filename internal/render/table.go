package render

import (
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/kgdiag/kgdiag/internal/term"
)

var _ = register("table", renderTable)

// renderTable writes the text for people: the same on a terminal and in a pipe, where
// nothing is shortened.
func renderTable(w io.Writer, v View, p *term.Painter) error {
	var b strings.Builder
	if len(v.Head) > 0 {
		b.WriteString(v.Head.Text(p) + "\n")
	}
	for i, bl := range v.Blocks {
		if bl.TSVOnly {
			continue
		}
		if i > 0 && bl.Title != "" {
			b.WriteString("\n")
		}
		if bl.Title != "" {
			b.WriteString(p.Paint(term.Bold, Clean(bl.Title)) + "\n")
		}
		writeLines(&b, bl.Lines, p)
		if bl.Table != nil {
			text, err := tableText(fitted(bl.Table, v.Width, v.Whole), p)
			if err != nil {
				return err
			}
			b.WriteString(text)
		}
		writeLines(&b, bl.After, p)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeLines(b *strings.Builder, lines []Line, p *term.Painter) {
	for _, l := range lines {
		b.WriteString(l.Text(p))
		b.WriteByte('\n')
	}
}

// tableText lays a table out: two blanks between columns, each as wide as its
// longest cell, numbers to the right, line ends trimmed.
func tableText(t *Table, p *term.Painter) (string, error) {
	var b strings.Builder
	tbl := newTable(&b, t, renderer.NewBlueprint(tw.Rendition{
		Borders: tw.BorderNone,
		Symbols: tw.NewSymbols(tw.StyleNone),
		Settings: tw.Settings{
			Lines: tw.LinesNone, Separators: tw.SeparatorsNone,
		},
	}), tw.Padding{Left: tw.Empty, Right: "  ", Overwrite: true})
	return finish(tbl, &b, t, func(s Span) string { return p.Paint(s.Style, Clean(s.Text)) })
}

// newTable is a tablewriter that changes nothing in the cells: no wrapping, no
// upper-casing, no merging.
func newTable(b *strings.Builder, t *Table, r tw.Renderer, pad tw.Padding) *tablewriter.Table {
	align := make([]tw.Align, len(t.Columns))
	for i, c := range t.Columns {
		align[i] = tw.AlignLeft
		if c.Right {
			align[i] = tw.AlignRight
		}
	}
	cell := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoWrap: tw.WrapNone, AutoFormat: tw.Off},
		Alignment:  tw.CellAlignment{Global: tw.AlignLeft, PerColumn: align},
		Padding:    tw.CellPadding{Global: pad},
	}
	return tablewriter.NewTable(b,
		tablewriter.WithRenderer(r),
		tablewriter.WithHeaderConfig(cell),
		tablewriter.WithRowConfig(cell),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithTrimSpace(tw.Off),
	)
}

func finish(tbl *tablewriter.Table, b *strings.Builder, t *Table, cell func(Span) string) (string, error) {
	head := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = c.Name
	}
	tbl.Header(head)
	for _, row := range t.Rows {
		cells := make([]string, len(t.Columns))
		for i := range cells {
			s := Span{}
			if i < len(row) {
				s = row[i]
			}
			if s.Text == "" {
				s = Span{Text: "-"}
			}
			cells[i] = cell(s)
		}
		if err := tbl.Append(cells); err != nil {
			return "", err
		}
	}
	if err := tbl.Render(); err != nil {
		return "", err
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimLeft(strings.Join(lines, "\n"), "\n"), nil
}
