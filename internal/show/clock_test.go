package show

import (
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// A reader can tell the day of every time: today's have none, the first line names the
// day of what is older, and times of another day carry it.
func TestClockNamesDays(t *testing.T) {
	at := func(day, hour int) inspect.Time { return inspect.At(time.Date(2026, 11, day, hour, 0, 0, 0, time.UTC)) }
	today := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		from, to, of                     inspect.Time
		today                            time.Time
		head, moment, minute, span, edge string
	}{
		"today":        {at(21, 12), at(21, 13), at(21, 12), today, "13:00:00 UTC", "12:00:00", "12:00", "12:00-13:00 UTC", "12:00"},
		"a case file":  {at(21, 12), at(21, 13), at(21, 12), time.Time{}, "21 Nov 2026 13:00:00 UTC", "12:00:00", "12:00", "21 Nov 2026 12:00-13:00 UTC", "12:00"},
		"past day":     {at(20, 12), at(20, 13), at(20, 12), today, "20 Nov 2026 13:00:00 UTC", "12:00:00", "12:00", "20 Nov 2026 12:00-13:00 UTC", "12:00"},
		"midnight":     {at(20, 23), at(21, 1), at(20, 23), today, "01:00:00 UTC", "20 Nov 23:00:00", "20 Nov 23:00", "20 Nov 23:00 - 21 Nov 01:00 UTC", "23:00"},
		"before it":    {at(21, 12), at(21, 13), at(19, 8), today, "13:00:00 UTC", "19 Nov 08:00:00", "19 Nov 08:00", "12:00-13:00 UTC", "08:00"},
		"several days": {at(18, 12), at(21, 13), at(19, 8), today, "13:00:00 UTC", "19 Nov 08:00:00", "19 Nov 08:00", "18 Nov 12:00-21 Nov 13:00 UTC", "19 Nov 08:00"},
	} {
		k := Clock{Zone: time.UTC, Today: c.today, Window: inspect.Window{From: c.from, To: c.to}}
		for _, x := range [][2]string{{k.Head(c.to.Time), c.head}, {k.Moment(c.of), c.moment}, {k.Minute(c.of), c.minute}, {k.Span(), c.span}, {k.Edge(c.of), c.edge}} {
			if x[0] != x[1] {
				t.Errorf("%s: %q, want %q", name, x[0], x[1])
			}
		}
	}
	if got := (Clock{Zone: time.UTC}).Moment(inspect.Time{}); got != "-" {
		t.Errorf("an unknown time: %q", got)
	}
}
