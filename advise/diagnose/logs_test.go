package diagnose_test

import (
	"slices"
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
