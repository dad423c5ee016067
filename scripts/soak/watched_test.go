package main

import (
	"strings"
	"testing"
	"time"
)

// TestFlat holds the verdict on a curve to curves: those that level off pass, those that
// still climb in the last quarter fail, whichever number it is.
func TestFlat(t *testing.T) {
	curve := func(number func(minute int) int) []taken {
		var out []taken
		for m := range 60 {
			n := number(m)
			out = append(out, taken{at: time.Duration(m) * time.Minute, rss: int64(n) << 20, heap: int64(n) << 19, files: n / 4, goroutines: n / 3})
		}
		return out
	}
	for name, c := range map[string]struct {
		number func(int) int
		grew   []string
	}{
		"levels off after half an hour": {func(m int) int { return 33 + min(m, 33) }, nil},
		"saws":                          {func(m int) int { return 66 + m%4 }, nil},
		"falls":                         {func(m int) int { return 90 - m/2 }, nil},
		"climbs by a MiB a minute":      {func(m int) int { return 33 + m }, []string{"memory", "open files", "goroutines"}},
		"climbs at the end":             {func(m int) int { return 60 + 20*max(0, m-40) }, []string{"heap", "memory", "open files", "goroutines"}},
	} {
		err := (&watched{name: name, samples: curve(c.number)}).flat()
		if (err != nil) != (len(c.grew) > 0) {
			t.Errorf("%s: %v", name, err)
		}
		for _, what := range c.grew {
			if !strings.Contains(err.Error(), what+" grew") {
				t.Errorf("%s: says nothing of %s: %v", name, what, err)
			}
		}
	}
	if err := (&watched{}).flat(); err != nil {
		t.Errorf("without a sample: %v", err)
	}
}
