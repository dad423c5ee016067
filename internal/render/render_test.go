package render

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

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

func TestReportFormatsNeedAReport(t *testing.T) {
	if names := ReportNames(); len(names) != 1 || names[0] != "sarif" {
		t.Fatalf("report formats %v", names)
	}
	v := sample()
	var b strings.Builder
	if err := Render(&b, "sarif", v, term.NewPainter(false)); err == nil || b.Len() > 0 {
		t.Errorf("a view without a report: %v\n%s", err, b.String())
	}
	v.Report = &Report{Tool: "kgdiag", Results: []ReportResult{{Rule: "KGD105", Level: "note", File: "/etc/a b.properties", Line: 3}}}
	if err := Render(&b, "sarif", v, term.NewPainter(false)); err != nil || !strings.Contains(b.String(), `"uri": "file:///etc/a%20b.properties"`) {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// Lanes with nothing but calm in them are the first to go where there is no room.
func TestLanesKeepWhatWentWrong(t *testing.T) {
	from := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := Lanes{From: from, To: from.Add(time.Hour), MarkName: "rebalance", Legend: "= commits", Rest: "more",
		Edge: func(t time.Time) string { return t.Format("15:04") }, Marks: []time.Time{from.Add(30 * time.Minute)}}
	for i := range mostLanes + 2 {
		c.Spans = append(c.Spans, LaneSpan{Lane: fmt.Sprintf("m%02d", i), From: from, To: from.Add(time.Hour), Mark: Calm})
	}
	c.Spans = append(c.Spans, LaneSpan{Lane: "m13", From: from.Add(30 * time.Minute), To: from.Add(31 * time.Minute), Mark: 'x'})
	lines := c.Lines()
	text := ""
	for _, l := range lines {
		text += l.Plain() + "\n"
	}
	if len(lines) != mostLanes+4 || !strings.HasPrefix(lines[0].Plain(), "           12:00") || strings.Contains(text, "m12") || !strings.HasSuffix(text, "= commits\n(2 more)\n") {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
	if want := "m13        " + strings.Repeat("=", 30) + "xx" + strings.Repeat("=", 28); lines[mostLanes].Plain() != want {
		t.Errorf("%q, want %q", lines[mostLanes].Plain(), want)
	}
	if (&Lanes{}).Lines() != nil {
		t.Error("a chart of nothing has lines")
	}
}

// Marks that fall on one column are counted, and the legend says so only then.
func TestLanesCountMarksThatShareAColumn(t *testing.T) {
	from := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := Lanes{From: from, To: from.Add(time.Hour), MarkName: "rebalance", Legend: "= commits", Edge: func(t time.Time) string { return t.Format("15:04") },
		Spans: []LaneSpan{{Lane: "m", From: from, To: from.Add(time.Hour), Mark: Calm}}, Marks: []time.Time{from.Add(10 * time.Minute)}}
	if lines := c.Lines(); strings.TrimRight(lines[2].Plain(), " ") != "rebalance            |" || lines[len(lines)-1].Plain() != "= commits" {
		t.Errorf("%q, then %q", lines[2].Plain(), lines[len(lines)-1].Plain())
	}
	c.Marks = append(c.Marks, from.Add(10*time.Minute+20*time.Second))
	for range 12 {
		c.Marks = append(c.Marks, from.Add(30*time.Minute))
	}
	lines := c.Lines()
	if want := "rebalance            2                   9"; strings.TrimRight(lines[2].Plain(), " ") != want {
		t.Errorf("%q, want %q", lines[2].Plain(), want)
	}
	if got := lines[len(lines)-1].Plain(); got != "a digit: that many rebalances in one column; 9: nine or more" {
		t.Errorf("the legend ends with %q", got)
	}
}
