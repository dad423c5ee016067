package inspect

import "testing"

// TestWentNamesEveryDeparture: whoever adds the numbers up finds all departures.
func TestWentNamesEveryDeparture(t *testing.T) {
	for want, causes := range map[string][]Cause{
		"":            {MemberLeft, MemberLeft},
		"2 evictions": {SessionExpired, PollIntervalExceeded},
		"3 departures: 2 evictions, 1 of unknown cause":         {SessionExpired, UnknownCause, SessionExpired},
		"4 departures: 1 eviction, 1 of unknown cause, 2 other": {SessionExpired, UnknownCause, MemberLeft, MemberLeft},
		"2 departures: 2 of unknown cause":                      {UnknownCause, UnknownCause},
	} {
		var list []Rebalance
		for _, c := range causes {
			list = append(list, Rebalance{Cause: c, Members: Change{Before: 2, After: 1, Left: []Departure{{ClientID: "a", Cause: c, Returned: ReturnedSameProcess}}}})
		}
		s := Summarise(list, 0)
		if got := s.Went(); got != want || s.Departures != len(causes) || s.Returned != len(causes) {
			t.Errorf("%v: %q, %d departures, %d came back; want %q", causes, got, s.Departures, s.Returned, want)
		}
	}
}
