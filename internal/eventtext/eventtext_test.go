package eventtext

import (
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/watch"
)

// A time that has passed when the line is written is no forecast.
func TestAMemberAtRiskIsOverdueAfterItsTime(t *testing.T) {
	clock := func(t inspect.Time) string { return t.UTC().Format("15:04:05") }
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	moment := func(s time.Duration) inspect.Time { return inspect.At(noon.Add(s * time.Second)) }
	for out, want := range map[time.Duration]string{
		20: "AT RISK a silent 24s of 20s: leaves the group at about 12:00:20",
		-4: "OVERDUE a silent 24s of 20s: overdue since 11:59:56",
	} {
		e := &watch.Event{Type: watch.MemberAtRisk, Member: "a", Time: moment(0), OutAt: moment(out),
			Silent: inspect.Ms(24 * time.Second), Limit: inspect.Ms(20 * time.Second)}
		if word, _, text := (Teller{Clock: clock}).Event(e); word+" "+text != want {
			t.Errorf("got %q, want %q", word+" "+text, want)
		}
	}
}
