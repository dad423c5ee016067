package render

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/kgdiag/kgdiag/internal/outsider"
	"github.com/kgdiag/kgdiag/internal/term"
)

// hostile is a view of which every text that comes from outside is another one.
func hostile(seed uint64) View {
	n := 100 * seed
	name := func() string { n++; return outsider.Text(n) }
	v := View{Head: L("%s (%s, 3 brokers)", name(), name()), Data: map[string]any{name(): name(), "groups": []string{name(), name()}}}
	for range 2 {
		b := Block{Title: name(), Lines: []Line{{P("%s  ", name()), S(term.Bad, "UNSTABLE %s", name())}}, After: []Line{L("%s", name())},
			Table: &Table{Columns: Cols("GROUP", ">#PARTITIONS", "HOST", ">LAG", "CURRENT-ASSIGNMENT")}}
		for i := range 4 {
			b.Table.Rows = append(b.Table.Rows, Row(name(), fmt.Sprint(10*i*i*i), name(), "-", name()))
		}
		v.Blocks = append(v.Blocks, b)
	}
	return v
}

// TestTextFromOutside: whatever names there are, a view in each form keeps its lines, its
// columns and its colours.
func TestTextFromOutside(t *testing.T) {
	seeds := uint64(20)
	if os.Getenv("KGDIAG_TEST_FULL") != "" {
		seeds = 1000
	}
	texts := 0
	for seed := range seeds {
		v := hostile(seed)
		for _, form := range []string{"table", "colours", "tsv", "markdown", "json"} {
			var b strings.Builder
			as := form
			if form == "colours" {
				as = "table"
			}
			if err := Render(&b, as, v, term.NewPainter(form == "colours")); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, form, err)
			}
			if h := outsider.Harm(form, b.String()); h != "" {
				t.Errorf("seed %d: %s: %s", seed, form, h)
			}
			if form == "table" {
				if l, want := strings.Count(b.String(), "\n"), 1+2*(1+1+1+4+1)+1; l != want {
					t.Errorf("seed %d: %s: %d lines, want %d:\n%s", seed, form, l, want, b.String())
				}
				columns(t, seed, b.String())
			}
			texts++
		}
	}
	t.Logf("%d views of 36 texts each", texts)
}

// columns holds the tables of a view to their columns: between two of them there is a place
// that is blank in every row.
func columns(t *testing.T, seed uint64, out string) {
	t.Helper()
	lines := strings.Split(out, "\n")
	for i, head := range lines {
		if !strings.HasPrefix(head, "GROUP ") {
			continue
		}
		rows := make([]map[int]bool, 4) // the places that are blank
		for j := range rows {
			rows[j] = blanks(lines[i+1+j])
		}
		start := 0
		for _, name := range []string{"GROUP", "#PARTITIONS", "HOST", "LAG"} {
			end := start + strings.Index(head[start:], name) + len(name)
			next := end + strings.IndexFunc(head[end:], func(r rune) bool { return r != ' ' })
			if !blankBetween(rows, end, next) {
				t.Errorf("seed %d: the column behind %s does not hold:\n%.3000s", seed, name, strings.Join(lines[i:i+5], "\n"))
			}
			start = end
		}
	}
}

// blanks are the places of a line that hold a space, as a terminal shows it that joins
// no runes to one picture, as xterm does: those that do, differ among each other.
func blanks(line string) map[int]bool {
	out, at := map[int]bool{}, 0
	for _, r := range line {
		if r == ' ' {
			out[at] = true
		}
		at += displaywidth.Rune(r)
	}
	return out
}

func blankBetween(rows []map[int]bool, from, to int) bool {
	for at := from; at < to; at++ {
		all := true
		for _, r := range rows {
			all = all && r[at]
		}
		if all {
			return true
		}
	}
	return false
}
