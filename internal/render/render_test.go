package render

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/internal/term"
)

func sample() View {
	return View{
		Head: L("prod-eu (Zk3xQ9, 3 brokers)"),
		Blocks: []Block{{
			Lines: []Line{{P("orders  "), S(term.Bad, "UNSTABLE"), P(": 6 rebalances  ")}},
			Table: &Table{
				Columns: Cols("GROUP", "#PARTITIONS", ">LAG", "HOST"),
				Rows: [][]Span{
					Row("orders", "4", "12,031", "10.0.0.1"),
					Row("bad\n\x1b[31mid\t|", "12", "", ""),
				},
			},
			After: []Line{L("1 note")},
		}},
		Data: map[string]string{"group": "a\x1b\u009b\u202e"},
	}
}

func render(t *testing.T, format string) string {
	t.Helper()
	var b strings.Builder
	if err := Render(&b, format, sample(), term.NewPainter(false)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	want := map[string]string{
		"table": `prod-eu (Zk3xQ9, 3 brokers)
orders  UNSTABLE: 6 rebalances
GROUP               #PARTITIONS     LAG  HOST
orders                        4  12,031  10.0.0.1
bad\n\x1b[31mid\t|           12       -  -
1 note
`,
		"tsv": "GROUP\t#PARTITIONS\tLAG\tHOST\norders\t4\t12,031\t10.0.0.1\nbad\\n\\x1b[31mid\\t|\t12\t-\t-\n",
	}
	for format, w := range want {
		if got := render(t, format); got != w {
			t.Errorf("%s:\n%s\nwant:\n%s", format, got, w)
		}
	}
}

func TestMarkdownKeepsPipesInsideCells(t *testing.T) {
	got := render(t, "markdown")
	if !strings.Contains(got, `bad\\n\\x1b\[31mid\\t\|`) {
		t.Errorf("cell not escaped:\n%s", got)
	}
	for _, l := range strings.Split(got, "\n") {
		if strings.HasPrefix(l, "|") && strings.Count(strings.ReplaceAll(l, `\|`, ""), "|") != 5 {
			t.Errorf("row splits: %s", l)
		}
	}
}

func TestJSONEscapesWhatATerminalActsOn(t *testing.T) {
	got := render(t, "json")
	for _, r := range got {
		if r != '\n' && harmful(r) {
			t.Errorf("raw %U in %q", r, got)
		}
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(got), &back); err != nil || back["group"] != "a\x1b\u009b\u202e" {
		t.Errorf("does not decode to the same: %q %v", back["group"], err)
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestColourDoesNotMoveColumns(t *testing.T) {
	v := sample()
	v.Blocks[0].Table.Rows[0][0].Style = term.Bad
	var b strings.Builder
	if err := Render(&b, "table", v, term.NewPainter(true)); err != nil {
		t.Fatal(err)
	}
	if !escapes.MatchString(b.String()) {
		t.Fatal("nothing is coloured")
	}
	if got := escapes.ReplaceAllString(b.String(), ""); got != render(t, "table") {
		t.Errorf("coloured text differs by more than escapes:\n%s", got)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"orders", "a\nb", "\x1b[2J", "\xff\xfe", "\u202e", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Clean(s) {
			if harmful(r) {
				t.Errorf("Clean(%q) still holds %U", s, r)
			}
		}
	})
}
