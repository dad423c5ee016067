package watch

import (
	"fmt"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

func TestCausesSettle(t *testing.T) {
	word := func(sec float64, record string, c inspect.Cause, conf inspect.Confidence) *Event {
		return &Event{Type: CauseFound, Time: at(sec), Group: "g", Record: record, Cause: c, Confidence: conf}
	}
	var s Settler
	due := func(sec float64, over bool) string {
		text := ""
		for _, x := range s.Due(at(sec).Time, over) {
			text += fmt.Sprintf("%s %s", x.Record, x.Cause)
			if x.Corrects != "" {
				text += " not " + string(x.Corrects)
			}
			text += "; "
		}
		return text
	}
	hold := func(sec float64, over bool, want string) {
		t.Helper()
		if got := due(sec, over); got != want {
			t.Errorf("at %g s: %q, want %q", sec, got, want)
		}
	}
	hold(0, false, "")
	s.Add(&Event{Type: CauseFound, Past: true, Group: "g", Record: "0", Cause: inspect.MemberLeft, Confidence: inspect.High}, at(0).Time)
	s.Add(&Event{Type: RebalanceDone, Group: "g", Record: "1"}, at(0).Time)
	s.Add(word(1, "1", inspect.SessionExpired, inspect.Medium), at(1).Time)
	s.Add(word(2, "2", inspect.MemberLeft, inspect.High), at(2).Time)
	hold(3, false, "2 member_left; ")
	s.Add(word(20, "1", inspect.PollIntervalExceeded, inspect.Medium), at(20).Time)
	hold(60, false, "")
	hold(61, false, "1 poll_interval_exceeded; ")
	s.Add(word(62, "1", inspect.PollIntervalExceeded, inspect.High), at(62).Time)
	hold(63, false, "")
	s.Add(word(70, "1", inspect.RejoinTimedOut, inspect.High), at(70).Time)
	hold(71, false, "1 rejoin_timed_out not poll_interval_exceeded; ")
	s.Add(word(80, "3", inspect.UnknownCause, inspect.Low), at(80).Time)
	hold(81, false, "")
	hold(82, true, "3 unknown; ")
	hold(83, true, "")
}
