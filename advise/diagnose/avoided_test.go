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
	if got, want := d.Avoided(fix).String(), "would have avoided 1 of 3 evictions"; got != want {
		t.Errorf("%q with one that took 20s, want %q", got, want)
	}
}
