package eventtext

import (
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// An evicted member that never came back is out of the group to the end of the chart;
// one that closed is not.
func TestLanesShowWhoWasEvictedForGood(t *testing.T) {
	at := func(m int) inspect.Time { return inspect.At(time.Date(2026, 11, 21, 12, m, 0, 0, time.UTC)) }
	left := func(m int, client string, cause inspect.Cause) inspect.Rebalance {
		return inspect.Rebalance{Time: at(m), Cause: cause, Members: inspect.Change{Left: []inspect.Departure{{ClientID: client, Host: "h", MemberID: client + "-1", Cause: cause}}}}
	}
	g := &inspect.History{
		Spans: []inspect.Span{{Lane: "a", From: at(0), To: at(60), Kind: "member"}, {Lane: "b@h", From: at(0), To: at(15), Kind: "member"},
			{Lane: "c", From: at(0), To: at(15), Kind: "member"}},
		Rebalances: []inspect.Rebalance{left(16, "b", inspect.SessionExpired), left(17, "c", inspect.MemberLeft)},
	}
	c := Lanes(g, inspect.Window{From: at(0), To: at(60)}, func(t inspect.Time) string { return t.Format("15:04") })
	c.Width = 12
	want := []string{"           12:00 12:30 13:00", "a          ============", "b@h        ===xxxxxxxxx", "c          ====        ", "rebalance     2        ", LaneLegend}
	for i, l := range c.Lines() {
		if i < len(want) && l.Plain() != want[i] {
			t.Errorf("%q, want %q", l.Plain(), want[i])
		}
	}
}
