package diagnose_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
)

// TestLogsReadSaysWhatAFileHeld: how much of it is about the member, the group and the
// window; a file that a finding names is told only where part of it is another time's.
func TestLogsReadSaysWhatAFileHeld(t *testing.T) {
	now := time.Date(2026, 11, 30, 21, 0, 0, 0, time.UTC)
	event := func(file, group, client string, at time.Time) inspect.LogEvent {
		e := inspect.LogEvent{Group: group, ClientID: client, From: inspect.Position{File: file, Line: 1}}
		if !at.IsZero() {
			e.Time = inspect.At(at)
		}
		return e
	}
	c := &inspect.Case{
		Window:   inspect.Window{From: inspect.At(now.Add(-time.Hour)), To: inspect.At(now)},
		Groups:   []inspect.Group{{ID: "payments", Members: []inspect.Member{{ClientID: "payments-1"}, {ClientID: "payments-2"}}}},
		LogFiles: []inspect.LogFile{{Name: "now.log", Lines: 412, Events: 3}, {Name: "old.log", Lines: 2, Events: 1}, {Name: "none.log", Lines: 1}},
		LogEvents: []inspect.LogEvent{event("now.log", "", "payments-1", now.Add(-time.Minute)), event("now.log", "", "payments-2", time.Time{}),
			event("now.log", "orders", "orders-1", now), event("old.log", "payments", "", now.AddDate(-1, 0, 0))},
	}
	const (
		old  = "old.log: 2 lines read, 1 event: none about client payments-1, 1 about the rest of payments, 1 outside the window"
		none = "none.log: 1 line read, 0 events"
	)
	all := diagnose.LogsRead(c, []string{"payments"}, "payments-1", func(string) bool { return false })
	want := []string{"now.log: 412 lines read, 3 events: 1 about client payments-1, 1 about the rest of payments, none outside the window, 1 without a time", old, none}
	if !slices.Equal(all, want) {
		t.Errorf("got %q\nwant %q", all, want)
	}
	if got := diagnose.LogsRead(c, []string{"payments"}, "payments-1", func(file string) bool { return file != "none.log" }); !slices.Equal(got, []string{old, none}) {
		t.Errorf("of used files %q", got)
	}
	if got := diagnose.LogsRead(c, []string{"payments"}, "", func(file string) bool { return file != "old.log" }); len(got) != 1 || got[0] != "old.log: 2 lines read, 1 event: 1 about payments, 1 outside the window" {
		t.Errorf("without a member %q", got)
	}
}

// TestLogsThatMissTheDepartures: lines on departures that fall on none of those that the
// group's records show are told so, with the nearest, and the log that decides is still asked for.
func TestLogsThatMissTheDepartures(t *testing.T) {
	at := func(clock string) inspect.Time {
		tm, err := time.Parse(time.TimeOnly, clock)
		if err != nil {
			t.Fatal(err)
		}
		return inspect.At(time.Date(2026, 12, 1, tm.Hour(), tm.Minute(), tm.Second(), 0, time.UTC))
	}
	clock := func(t inspect.Time) string { return t.Format(time.TimeOnly) }
	line := func(when string, cause inspect.Cause) inspect.LogEvent {
		return inspect.LogEvent{ClientID: "orders-2", Time: at(when), Cause: cause, From: inspect.Position{File: "app.log", Line: 3}}
	}
	d := &diagnose.Diagnosis{Group: "orders", Member: "orders-2", Cause: inspect.PollIntervalExceeded, Confidence: inspect.Medium, Basis: inspect.Inferred,
		Rivals: []inspect.Rival{{Cause: inspect.SessionExpired, WhyNot: "its session is 45s"}}}
	for _, left := range [][2]string{{"02:05:00", "02:05:04"}, {"02:09:52", "02:09:56"}} {
		l := &inspect.Departure{LeftBetween: [2]inspect.Time{at(left[0]), at(left[1])}}
		d.Occurrences = append(d.Occurrences, diagnose.Occurrence{Rebalance: &inspect.Rebalance{}, Departure: l})
	}
	for _, tt := range []struct {
		name  string
		lines []inspect.LogEvent
		want  string // after what was read of the file
	}{
		{"after", []inspect.LogEvent{line("02:10:11", inspect.PollIntervalExceeded), line("02:10:12", inspect.UnknownCause)},
			"no line of a log falls on a departure of orders-2: of 1 line on one, the nearest is app.log:3, at 02:10:11, 15s after the departure of 02:09:56; is that another departure, clock or time zone?"},
		{"before", []inspect.LogEvent{line("02:04:00", inspect.PollIntervalExceeded), line("01:09:54", inspect.PollIntervalExceeded)},
			"no line of a log falls on a departure of orders-2: of 2 lines on one, the nearest is app.log:3, at 02:04:00, 1m before the departure of 02:05:04; is that another departure, clock or time zone?"},
		{"on it", []inspect.LogEvent{line("02:09:54", inspect.PollIntervalExceeded)}, ""},
		{"on nothing", []inspect.LogEvent{line("02:10:12", inspect.UnknownCause)}, ""},
	} {
		c := &inspect.Case{LogFiles: []inspect.LogFile{{Name: "app.log", Lines: 4, Events: 4}}, LogEvents: tt.lines}
		got := d.Logs(c, clock)
		if more := len(got) > 1; more != (tt.want != "") || more && got[1] != tt.want {
			t.Errorf("%s: %q, want %q after what was read", tt.name, got, tt.want)
		}
		if ask := d.Decide(); !strings.Contains(ask, "the log of client orders-2") {
			t.Errorf("%s: asks %q, want the log of the client", tt.name, ask)
		}
	}
}
