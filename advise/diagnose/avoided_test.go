package diagnose

import (
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
)

// TestNothingIsClaimedOfWhatIsUndecided: how much longer a member would have needed is not
// in the records, so no number of evictions is said to have been avoided, not even none.
func TestNothingIsClaimedOfWhatIsUndecided(t *testing.T) {
	gone := func(stall *inspect.Millis) inspect.Rebalance {
		return inspect.Rebalance{Cause: inspect.PollIntervalExceeded, Confidence: inspect.Medium, Stall: stall, Members: inspect.Change{Left: []inspect.Departure{{
			ClientID: "payments-1", Cause: inspect.PollIntervalExceeded, Confidence: inspect.Medium, Rebalance: inspect.Ms(12 * time.Second), Stall: stall}}}}
	}
	fix := &advise.Finding{Fix: &advise.Fix{Set: map[string]string{"max.poll.interval.ms": "300000"}}}
	d := Diagnosis{Rebalances: []inspect.Rebalance{gone(nil), gone(nil)}}
	if got := d.Avoided(fix); got != (Avoided{}) {
		t.Errorf("%+v (%q) of departures that nothing measured, want nothing", got, got)
	}
	d.Rebalances = append(d.Rebalances, gone(inspect.Ms(20*time.Second)))
	if got, want := d.Avoided(fix).String(), "would have avoided 1 of 3 evictions, if the cause is right; 2 undecided: how long it needed is not known"; got != want {
		t.Errorf("%q with one that took 20s, want %q", got, want)
	}
}

// TestWhatIsAvoidedDependsOnWhatTheProcessDid: of a member that came back as nobody knows
// what, the number of a pause and that of a crash stand in one sentence, and one that is not
// back yet is counted in neither.
func TestWhatIsAvoidedDependsOnWhatTheProcessDid(t *testing.T) {
	silent, session := &[2]inspect.Millis{9000, 10000}, inspect.Ms(10*time.Second)
	gone := func(back *inspect.Millis, as inspect.Returned, sure inspect.Confidence) inspect.Rebalance {
		return inspect.Rebalance{Cause: inspect.SessionExpired, Members: inspect.Change{Left: []inspect.Departure{{
			ClientID: "p-1", Cause: inspect.SessionExpired, Confidence: sure, Session: session, Silent: silent, BackAfter: back, Returned: as}}}}
	}
	back := inspect.Ms(21 * time.Second)
	for _, c := range []struct {
		session string
		list    []inspect.Rebalance
		want    string
	}{
		{"30000", []inspect.Rebalance{gone(back, inspect.ReturnedUnknown, inspect.High), gone(back, inspect.ReturnedUnknown, inspect.High), gone(nil, inspect.ReturnedUnknown, inspect.High)},
			"would have avoided 2 of 3 evictions if the process paused, 0 if it crashed; 1 undecided: how long it needed is not known"},
		{"30000", []inspect.Rebalance{gone(back, inspect.ReturnedUnknown, inspect.High), gone(back, inspect.ReturnedSameProcess, inspect.High)},
			"would have avoided 2 of 2 evictions if the process paused, 1 if it crashed"},
		{"22000", []inspect.Rebalance{gone(back, inspect.ReturnedUnknown, inspect.Medium)},
			"would have avoided up to 1 of 1 eviction if the process paused, 0 if it crashed; this, if the cause is right"},
		{"30000", []inspect.Rebalance{gone(back, inspect.ReturnedSameProcess, inspect.High)}, "would have avoided 1 of 1 eviction"},
		{"30000", []inspect.Rebalance{gone(back, inspect.ReturnedSameProcess, inspect.Medium)}, "would have avoided 1 of 1 eviction, if the cause is right"},
	} {
		fix := &advise.Finding{Fix: &advise.Fix{Set: map[string]string{"session.timeout.ms": c.session}}}
		if got := AvoidedOf(c.list, fix).String(); got != c.want {
			t.Errorf("session.timeout.ms=%s: %q, want %q", c.session, got, c.want)
		}
	}
}
