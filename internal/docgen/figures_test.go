package docgen

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// read is a document of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// figures are the numbers that a pattern finds in a text, whose line breaks are blanks.
func figures(t *testing.T, text, pattern string) []float64 {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(strings.Join(strings.Fields(text), " "))
	if m == nil {
		t.Fatalf("nothing matches %q", pattern)
	}
	var out []float64
	for _, s := range m[1:] {
		n, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// row are the numbers of the first row of a table that begins so.
func row(t *testing.T, text, begins string) []float64 {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n| "+begins+" |")
	if !ok {
		t.Fatalf("no row %q", begins)
	}
	rest, _, _ = strings.Cut(rest, "\n")
	var out []float64
	for _, cell := range regexp.MustCompile(`\d+(\.\d+)?`).FindAllString(rest, -1) {
		n, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// same holds figures of the README to those of the document that they are taken from.
func same(t *testing.T, what string, got []float64, want ...float64) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: the README says %v, the document %v", what, got, want)
	}
}

// TestREADMEFigures: the README is read in one go, and its numbers are those of
// docs/performance.md and docs/accuracy.md.
func TestREADMEFigures(t *testing.T) {
	readme, performance, accuracy := read(t, "README.md"), read(t, "docs/performance.md"), read(t, "docs/accuracy.md")
	if n := strings.Count(readme, "\n"); n >= 200 {
		t.Errorf("the README has %d lines", n)
	}

	scan := row(t, performance, "kgdiag's scanner, four ranges")
	same(t, "a million records", figures(t, readme, `a million records in (\S+) s with (\d+) MiB on loopback`), math.Round(scan[0]/100)/10, math.Ceil(scan[2]/10)*10)
	load := func(command string) []float64 { return row(t, performance, "`kgdiag "+command+"`") }
	one := load("why group-00001")
	same(t, "requests", figures(t, readme, "`locate` is (\\d+) requests, `describe` of one (\\d+), `why` of one (\\d+) and (\\d+) MB"),
		load("locate group-00001")[0], load("describe group-00001")[0], one[0], math.Round(one[3]))

	older := figures(t, accuracy, `hold-outs, (\d+) departures as they were .*?, (\d+) verdicts by records alone had high confidence and none .*? With what polls saw, which the last two hold, (\d+) of (\d+) with high`)
	newer := figures(t, accuracy, `In the sixth to ninth, (\d+) more, (\d+) by records alone had high confidence and none was wrong; with what polls saw (\d+) of (\d+)`)
	sum := func(i int) float64 { return older[i] + newer[i] }
	high := figures(t, readme, `nine hold-outs, (\d+) departures, \*\*(\d+) verdicts from the records had high confidence and none was wrong\*\* \(at most (\S+) % wrong`)
	same(t, "hold-outs", high, sum(0), sum(1), math.Round(1000*(1-math.Pow(0.05, 1/sum(1))))/10)
	same(t, "with polls", figures(t, readme, `\*\*(\d+) of (\d+) at high confidence were wrong`), sum(2), sum(3))

	_, ninth, _ := strings.Cut(accuracy, "### Ninth hold-out")
	records, polls := row(t, ninth, "before, decided by records"), row(t, ninth, "before, decided by records, and what polls saw")
	decided := 0.0
	for _, n := range records {
		decided += n
	}
	open := func(r []float64) float64 { return r[3] + r[4] + r[5] + r[6] }
	same(t, "ninth hold-out", figures(t, readme, `ninth, .*?(\d+) of the (\d+) departures that the records can decide were right at high or medium confidence, none was wrong, and (\d+) were left open \(with polls: (\d+), none, (\d+)\)`),
		records[0]+records[1], decided, open(records), polls[0]+polls[1], open(polls))
	if wrong := records[7] + records[8] + records[9] + polls[7] + polls[8] + polls[9]; wrong != 0 {
		t.Errorf("ninth hold-out: %v wrong, the README says none", wrong)
	}

	said := figures(t, readme, `Of batches (\d+) to (\d+), (\d+) reports hold the evidence for their cause: it was named in full in (\d+), in part in (\d+), not at all in (\d+), and \*\*(\d+) were misled`)
	batches := make([]float64, 5)
	for n := said[0]; n <= said[1]; n++ {
		_, rows, _ := strings.Cut(accuracy, fmt.Sprintf("\n| batch%.0f | ", n)) // the first row is the code's that had not seen it
		_, cells, _ := strings.Cut(rows, " | ")
		for i, n := range row(t, "\n| x | "+cells, "x")[:5] {
			batches[i] += n
		}
	}
	same(t, "batches", said[2:], batches...)
}
