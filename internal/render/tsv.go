package render

import (
	"io"
	"strings"

	"github.com/kgdiag/kgdiag/internal/term"
)

var _ = register("tsv", renderTSV)

// renderTSV writes tables with a header, cells separated by tabs. Clean has turned
// tabs and newlines inside cells into visible escapes, so a cell never splits.
func renderTSV(w io.Writer, v View, _ *term.Painter) error {
	var b strings.Builder
	tables := 0
	for _, bl := range v.Blocks {
		if bl.Table != nil && !bl.NoTSV {
			if tables > 0 {
				b.WriteByte('\n')
			}
			tsvTable(&b, bl.Table)
			tables++
		}
	}
	if tables == 0 {
		for _, bl := range v.Blocks {
			if bl.NoTSV {
				continue
			}
			for _, l := range append(append([]Line{}, bl.Lines...), bl.After...) {
				b.WriteString(strings.TrimRight(Clean(l.Plain()), " ") + "\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func tsvTable(b *strings.Builder, t *Table) {
	head := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = Clean(c.Name)
	}
	b.WriteString(strings.Join(head, "\t") + "\n")
	for _, row := range t.Rows {
		cells := make([]string, len(t.Columns))
		for i := range cells {
			cells[i] = "-"
			if i < len(row) && row[i].Text != "" {
				cells[i] = Clean(row[i].Text)
			}
		}
		b.WriteString(strings.Join(cells, "\t") + "\n")
	}
}
