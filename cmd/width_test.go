package cmd

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/term"
)

// onTerminal is screenOf on a terminal of so many columns; 0 is a pipe.
func onTerminal(columns int, args ...string) string {
	var out, errs bytes.Buffer
	a := &app{streams: &term.Streams{In: strings.NewReader(""), Out: &out, Err: &errs, OutTTY: columns > 0, Width: columns},
		now: func() time.Time { return noon.Add(2 * time.Hour) }, getenv: func(string) string { return "" }}
	a.run(context.Background(), append(args, "--utc"))
	return out.String() + errs.String()
}

// longNames is a cluster of groups and clients whose names are long, and alike but for
// their ends.
func longNames() *story {
	s := tell()
	for i := range 3 {
		g := fmt.Sprintf("com.example.payments.settlement.reconciliation-service-v%d", i)
		p, q := player{id: g + "p", client: "p", host: "10.1.0.1", parts: []int32{0}},
			player{id: g + "q", client: fmt.Sprintf("consumer-%s-7f9c5d8b4-x%d", g, i), host: fmt.Sprintf("10.2.0.%d", i), parts: []int32{1}}
		both := p
		both.parts = []int32{0, 1}
		s.generation(g, -60, 2, p, q)
		end := s.commits(g, 1, -50, 900+float64(i)*300, 100)
		s.commits(g, 0, -50, 3600, 100)
		s.generation(g, 946+float64(i)*300, 3, both)
		s.commits(g, 1, 947+float64(i)*300, 3600, end+300)
		s.now(g, "Stable", 3, int32(i), 1, both)
	}
	return s
}

var painted = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestWidth holds that no line is wider than the terminal, up to 120 columns and without
// losing the ends of names; and that a pipe has every name whole.
func TestWidth(t *testing.T) {
	file := longNames().file(t)
	short := len("kgdiag") // commands to copy are never broken
	for _, columns := range []int{80, 100, 200} {
		text := painted.ReplaceAllString(onTerminal(columns, "why", "--from", file), "")
		widest := 0
		for _, l := range strings.Split(text, "\n") {
			if !strings.Contains(l, "kgdiag ") && len(l) > short {
				widest = max(widest, prose.Width(l))
			}
		}
		if limit := min(columns, mostWidth); widest > limit || columns > 80 && widest <= 80 {
			t.Errorf("%d columns are used of %d:\n%s", widest, limit, text)
		}
		for i := range 3 {
			if !strings.Contains(text, fmt.Sprintf("-v%d ", i)) {
				t.Errorf("%d columns: the end of the name of group %d is lost:\n%s", columns, i, text)
			}
		}
		if !strings.Contains(text, "…") {
			t.Errorf("%d columns: nothing is shortened:\n%s", columns, text)
		}
	}
	for _, args := range [][]string{{"why"}, {"why", "-o", "tsv"}, {"history", "-o", "tsv"}, {"describe", "-v"}} {
		text := onTerminal(0, append(args, "--from", file)...)
		if strings.Contains(text, "…") || !strings.Contains(text, "com.example.payments.settlement.reconciliation-service-v2") {
			t.Errorf("%q in a pipe: a name is shortened:\n%s", args, text)
		}
	}
}

// TestLongWindowsHaveDates holds that no time of a window of several days stands without
// its day.
func TestLongWindowsHaveDates(t *testing.T) {
	file := slowOrders().file(t)
	for _, args := range [][]string{{"why", "orders"}, {"history", "orders", "-v"}, {"history", "orders", "--what-if", "max.poll.interval.ms=600000"}} {
		text, _, _ := screenOf(append(args, "--from", file, "--since", "2d")...)
		_, page, _ := strings.Cut(strings.Join(strings.Fields(text), " "), "rebalance") // past the first line
		for _, m := range regexp.MustCompile(`(\S+ \S+ \S+ )\d\d:\d\d:\d\d`).FindAllStringSubmatch(page, -1) {
			if !strings.Contains(m[0], "21 Nov ") {
				t.Errorf("%q: no date: %q:\n%s", args, m[0], text)
			}
		}
		if !strings.Contains(text, "21 Nov 12:13:04") {
			t.Errorf("%q: the first departure is missing:\n%s", args, text)
		}
	}
}

// TestNoZeroUnits holds that no transcript writes a duration with units that are zero.
func TestNoZeroUnits(t *testing.T) {
	zero := regexp.MustCompile(`\b\d+(h0m|m0s)\b`)
	file := slowOrders().file(t)
	for _, args := range [][]string{{"history", "orders", "--what-if", "max.poll.interval.ms=600000", "--what-if", "session.timeout.ms=60000"}, {"why", "orders", "-v"}, {"describe", "-v"}, {"advise", "-v"}} {
		text, _, _ := screenOf(append(args, "--from", file)...)
		if found := zero.FindString(text); found != "" {
			t.Errorf("%q: %s", args, found)
		}
	}
}

// TestColourCarriesNoMeaning holds of every page that it says the same with and without
// colour, and that NO_COLOR is heeded.
func TestColourCarriesNoMeaning(t *testing.T) {
	for name, p := range pages() {
		args := append(p.args, "--from", p.s.file(t))
		plain := onTerminal(80, append(args, "--color", "never")...)
		painting := onTerminal(80, append(args, "--color", "always")...)
		if got := painted.ReplaceAllString(painting, ""); got != plain {
			t.Errorf("%s: with colour it says\n%s\nwithout\n%s", name, got, plain)
		}
		if machine := p.args[len(p.args)-1] == "tsv" || p.args[len(p.args)-1] == "markdown"; machine == (painting != plain) {
			t.Errorf("%s: painted: %t", name, painting != plain)
		}
		if strings.Contains(plain, "\x1b") {
			t.Errorf("%s: escapes without colour", name)
		}
	}
}
