package render

import (
	"math"
	"slices"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// Names are shortened down to fairShort before a column is left out, and to leastShort
// after that: less of a name does not tell it from the next.
const fairShort, leastShort = 24, 12

// gap is what stands between two columns.
const gap = 2

// fitted is a table that takes at most width columns, as far as that can be had: with the
// middles of long names left out, unless they are to be whole, and without optional
// columns, the last first. It is t itself where there is nothing to do.
func fitted(t *Table, width int, whole bool) *Table {
	if width <= 0 || total(widths(t)) <= width {
		return t
	}
	least := fairShort
	if whole {
		least = math.MaxInt
	}
	t = &Table{Columns: slices.Clone(t.Columns), Rows: slices.Clone(t.Rows)}
	for i := len(t.Columns) - 1; i >= 0 && total(t.narrowed(width, least)) > width; i-- {
		if t.Columns[i].Optional {
			t.drop(i)
		}
	}
	if whole {
		return t
	}
	wide := t.narrowed(width, fairShort)
	if total(wide) > width {
		wide = t.narrowed(width, leastShort)
	}
	for i, row := range t.Rows {
		row = slices.Clone(row)
		for j := range row {
			if t.Columns[j].Shorten {
				row[j].Text = prose.Middle(Clean(row[j].Text), wide[j])
			}
		}
		t.Rows[i] = row
	}
	return t
}

// narrowed are the widths of the columns with those that may be shortened narrowed, the
// widest first, until the table fits or they are as narrow as least.
func (t *Table) narrowed(width, least int) []int {
	wide := widths(t)
	for over := total(wide) - width; over > 0; over-- {
		widest := -1
		for i, c := range t.Columns {
			if c.Shorten && wide[i] > max(least, prose.Width(c.Name)) && (widest < 0 || wide[i] > wide[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		wide[widest]--
	}
	return wide
}

// drop leaves out a column.
func (t *Table) drop(i int) {
	t.Columns = slices.Delete(t.Columns, i, i+1)
	for j, row := range t.Rows {
		if i < len(row) {
			t.Rows[j] = slices.Delete(slices.Clone(row), i, i+1)
		}
	}
}

// widths are those of the columns: of each its longest cell.
func widths(t *Table) []int {
	out := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = prose.Width(c.Name)
	}
	for _, row := range t.Rows {
		for i := range row {
			out[i] = max(out[i], prose.Width(Clean(row[i].Text)))
		}
	}
	return out
}

// total is how many columns a table of these takes.
func total(widths []int) int {
	n := gap * (len(widths) - 1)
	for _, w := range widths {
		n += w
	}
	return n
}
