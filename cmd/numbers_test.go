package cmd

import (
	"encoding/json"
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// recorded are the cases of real and hand-made groups that the repository keeps.
var recorded = []string{"../docs/runbooks/cases/crashed.kgcase", "../docs/runbooks/cases/paused.kgcase", "../docs/runbooks/cases/orders.kgcase",
	"../docs/runbooks/cases/hidden.kgcase", "../inspect/watch/testdata/overrun-observed.kgcase", "../inspect/judge/testdata/cases/killed-kip848-45s.kgcase",
	"../inspect/judge/testdata/cases/overrun-75s-commit-per-record.kgcase", "../inspect/judge/testdata/cases/paused-45s-session.kgcase"}

// TestOneDepartureHasOneSetOfNumbers compares what each screen says of a departure, and of
// all of them, with the JSON of history: one departure has one set of numbers.
func TestOneDepartureHasOneSetOfNumbers(t *testing.T) {
	departures := 0
	for _, file := range recorded {
		t.Run(filepath.Base(file), func(t *testing.T) {
			departures += sameNumbers(t, file)
		})
	}
	if departures < 30 {
		t.Errorf("only %d departures were compared", departures)
	}
}

var (
	notConsumed  = regexp.MustCompile(`not consumed for ([^;]*)`)
	pausedFor    = regexp.MustCompile(`members paused for ([^;]*?) in all`)
	avoids       = regexp.MustCompile(`would have avoided (?:up to )?\d+ of \d+ evictions?(?: if the process paused, \d+ if it crashed)?(?:[,;] [^;]*if the cause is right)?(?:; \d+ undecided)?`)
	tableCells   = regexp.MustCompile(`<td class="t">([^<]*)</td>`)
	wasOut       = regexp.MustCompile(`was out (\S+)`)
	evictedTimes = regexp.MustCompile(`was evicted (\d+) times`)
)

// sameNumbers compares the screens of the one group of a case, and returns how many
// departures stood on them.
func sameNumbers(t *testing.T, file string) int {
	screen := func(args ...string) string {
		out, errs, code := screenOf(append(args, "--from", file)...)
		if code == exitUsage || code == exitIncomplete {
			t.Fatalf("%v: exit code %d: %s", args, code, errs)
		}
		return out
	}
	var doc struct{ Groups []inspect.History }
	var why struct {
		Groups []struct {
			Group, Member string
			Cause         inspect.Cause
			Summary       inspect.Summary
			Findings      []struct {
				Fix *struct{ Set map[string]string }
			}
		}
	}
	for args, into := range map[string]any{"history": &doc, "why": &why} {
		if err := json.Unmarshal([]byte(screen(args, "-o", "json")), into); err != nil {
			t.Fatal(err)
		}
	}
	h, d := doc.Groups[0], why.Groups[0]
	page, past := oneLine(screen("why", d.Group, "-v")), oneLine(screen("history", d.Group))
	rows := courseRows(screen("why", d.Group, "-v"))
	clock := func(at inspect.Time) string { return at.UTC().Format("15:04:05") }

	i := 0
	for _, r := range h.Rebalances {
		for _, l := range r.Members.Left {
			if l.Cause != d.Cause || inspect.MemberName(l.ClientID, l.MemberID, l.InstanceID) != d.Member {
				continue
			}
			if i == len(rows) {
				t.Fatalf("why -v has %d rows, and history more departures", len(rows))
			}
			row := rows[i]
			i++
			want := map[int]string{1: clock(l.LeftBetween[1])}
			if l.Silent != nil {
				want[0] = clock(l.LastCommit)
				want[2] = prose.Measured(l.Silent[1].Duration())
				lo := prose.Measured(min(l.Silent[1].Duration(), l.Silent[0].Duration()+inspect.Or(l.Common, 0)))
				if strings.Contains(row[2], "–") {
					want[2] = lo + "–" + want[2]
				}
			}
			if l.Out != nil && l.Silent != nil {
				want[4] = prose.Span(prose.Rounded(l.Out.Duration()))
				want[5] = prose.Span(prose.ToCover(inspect.Or(l.BackAfter, 0)))
				if l.Cause.Info().Prevented == inspect.ByPollInterval && l.Stall != nil {
					want[5] = prose.Span(prose.ToCover(l.Stall.Duration()))
				}
			}
			for column, cell := range want {
				if row[column] != cell {
					t.Errorf("%s, column %d of why: %s; history's JSON says %s", clock(r.Time), column, row[column], cell)
				}
			}
		}
	}
	if i != len(rows) {
		t.Errorf("why -v has %d rows, history %d such departures", len(rows), i)
	}
	for _, r := range h.Rebalances { // a return is as long away as its departure says
		for _, j := range r.Members.Joined {
			for _, from := range h.Rebalances {
				for _, l := range from.Members.Left {
					if j.Out != nil && l.BackAs == j.MemberID && l.BackIn == r.ID && from.ID == j.Back && (l.Out == nil || *l.Out != *j.Out || *l.BackAfter != *j.BackAfter) {
						t.Errorf("%s: back after %v, out %v; its departure says %v, %v", clock(r.Time), j.BackAfter, j.Out, l.BackAfter, l.Out)
					}
				}
			}
		}
	}
	outs := wasOut.FindAllStringSubmatch(past, -1)
	for _, row := range rows {
		if row[4] != "-" && !slices.ContainsFunc(outs, func(m []string) bool { return m[1] == row[4] }) {
			t.Errorf("OUT FOR %s of why is nowhere in history", row[4])
		}
	}
	message, report := courseRows(screen("why", d.Group, "-o", "markdown")), htmlRows(screen("why", d.Group, "-o", "html"))
	for name, list := range map[string][][]string{"markdown": message, "html": report} {
		if len(list) == 0 && len(rows) > 0 {
			t.Errorf("%s has no row", name)
		}
		for _, row := range list {
			if !slices.ContainsFunc(rows, func(other []string) bool { return slices.Equal(row, other) }) {
				t.Errorf("%s has the row %q, why has none like it", name, row)
			}
		}
	}

	if h.Summary.Rebalances != d.Summary.Rebalances || h.Summary.Evictions != d.Summary.Evictions {
		t.Errorf("why counts %d and %d, history %d and %d", d.Summary.Rebalances, d.Summary.Evictions, h.Summary.Rebalances, h.Summary.Evictions)
	}
	for _, s := range []string{page, past} {
		if !strings.Contains(s, prose.Plural(h.Summary.Rebalances, "rebalance")) {
			t.Errorf("%d rebalances are not on the screen", h.Summary.Rebalances)
		}
	}
	advice := oneLine(screen("advise", d.Group))
	if went := h.Summary.Went(); went != "" && h.Summary.Departures > 1 { // one count of departures on all screens
		for name, s := range map[string]string{"why": page, "history": past, "html": screen("why", d.Group, "-o", "html"), "markdown": screen("why", d.Group, "-o", "markdown")} {
			if !strings.Contains(oneLine(s), went) {
				t.Errorf("%s does not say %q", name, went)
			}
		}
		if m := evictedTimes.FindStringSubmatch(advice); m != nil && h.Summary.Causes[inspect.SessionExpired] == h.Summary.Evictions && m[1] != fmt.Sprint(h.Summary.Evictions) {
			t.Errorf("advise says %q; %d were evicted", m[0], h.Summary.Evictions)
		}
	}
	for what, re := range map[string]*regexp.Regexp{"not consumed": notConsumed, "paused": pausedFor} {
		a, b := re.FindStringSubmatch(page), re.FindStringSubmatch(past)
		if a != nil && (b == nil || a[1] != b[1]) {
			t.Errorf("%s: why says %q, history %q", what, a, b)
		}
	}
	if a := avoids.FindString(page); a != "" && !strings.Contains(advice, a) {
		t.Errorf("why says %q, advise does not:\n%s", a, advice)
	}
	for _, f := range d.Findings {
		if f.Fix == nil {
			continue
		}
		for key, value := range f.Fix.Set {
			if set := key + "=" + value; strings.Contains(page, "FIX "+set) && !strings.Contains(advice, "set "+set) {
				t.Errorf("why sets %s, advise does not", set)
			}
		}
	}
	if n := len(rows); n > 1 && !strings.Contains(page, "last "+rows[n-1][1]) {
		t.Errorf("the last departure, %s, is not what the sentence calls the last", rows[n-1][1])
	}
	return len(rows)
}

// oneLine undoes the wrapping of a screen.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// courseRows are the rows of the table of departures on a page, cell by cell.
func courseRows(page string) [][]string {
	var out [][]string
	inside := false
	for line := range strings.SplitSeq(page, "\n") {
		cells := regexp.MustCompile(` {2,}`).Split(strings.TrimSpace(line), -1)
		switch {
		case strings.Contains(line, "LAST COMMIT"):
			inside = true
		case inside && len(cells) >= 6:
			if _, err := time.Parse("15:04:05", cells[0]); err != nil && cells[0] != "-" {
				return out
			}
			out = append(out, cells[:6])
		case inside:
			return out
		}
	}
	return out
}

// htmlRows are those of the page that a browser shows.
func htmlRows(page string) [][]string {
	_, rest, _ := strings.Cut(page, "Last commit")
	table, _, _ := strings.Cut(rest, "</table>")
	var out [][]string
	for row := range strings.SplitSeq(table, "<tr>") {
		var cells []string
		for _, m := range tableCells.FindAllStringSubmatch(row, -1) {
			cells = append(cells, strings.TrimSuffix(html.UnescapeString(m[1]), "  longest"))
		}
		if len(cells) == 6 {
			out = append(out, cells)
		}
	}
	return out
}
