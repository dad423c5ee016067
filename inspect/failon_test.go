package inspect

import (
	"testing"
	"time"
)

// The last member's eviction empties the group, and is an eviction all the same.
func TestEvictionThatEmptiesTheGroupCounts(t *testing.T) {
	r := Rebalance{Cause: GroupEmptied, Basis: Stated, Confidence: High,
		Members: Change{Left: []Departure{{ClientID: "c-a", Cause: SessionExpired, Confidence: High}}}}
	if s := Summarise([]Rebalance{r}, time.Hour); s.Evictions != 1 {
		t.Errorf("%d evictions, want 1", s.Evictions)
	}
	for word, want := range map[FailOn]bool{"never": false, "rebalance": true, "eviction": true, "session_expired": true, "group_emptied": true, "poll_interval_exceeded": false} {
		if !word.Known() {
			t.Errorf("--fail-on %s is not known", word)
		}
		if got := word.Rebalance(&r); got != want {
			t.Errorf("--fail-on %s trips: %v, want %v", word, got, want)
		}
		unsure := r
		unsure.Confidence = Low
		unsure.Members.Left = []Departure{{Cause: SessionExpired, Confidence: Low}}
		if word != FailRebalance && word.Rebalance(&unsure) {
			t.Errorf("--fail-on %s trips on a low confidence", word)
		}
	}
	for word, want := range map[string]FailOn{"eviction": FailEviction, "session_expired": FailOn(SessionExpired), "expired session": FailOn(SessionExpired)} {
		if got, ok := ParseFailOn(word); !ok || got != want {
			t.Errorf("--fail-on %s is read as %q, want %q", word, got, want)
		}
	}
	if _, ok := ParseFailOn("bogus"); ok || FailOn("bogus").Known() {
		t.Error("--fail-on bogus is known")
	}
}

func TestOverridesRefuseWhatNoSettingTakes(t *testing.T) {
	for value, want := range map[string]string{"0": "want 1 to 2147483647 milliseconds", "3000000000": "want 1 to 2147483647 milliseconds",
		"500x": "want milliseconds, or a duration such as 10m", "": "want milliseconds, or a duration such as 10m", "+5": "want milliseconds, or a duration such as 10m",
		"1us": "want milliseconds, or a duration such as 10m"} {
		if err := (&Overrides{}).Set("session.timeout.ms", value); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %q", value, err, want)
		}
	}
	var o Overrides
	if err := o.Set("max.poll.interval.ms", "10m"); err != nil || o.PollInterval.Duration() != 10*time.Minute {
		t.Errorf("10m: %v %v", o.PollInterval, err)
	}
	if err := o.Set("fetch.min.bytes", "1"); err != ErrNotReplayed {
		t.Errorf("fetch.min.bytes: %v", err)
	}
}
