package inspect

import (
	"math"
	"testing"
	"time"
)

// FuzzOverrides: a setting of --what-if is taken whole or refused, and never taken for
// another one.
func FuzzOverrides(f *testing.F) {
	for _, s := range [][2]string{{"max.poll.interval.ms", "600000"}, {"session.timeout.ms", "45s"}, {"group.instance.id", "yes"}, {"session.timeout.ms", "+5"}, {"max.poll.interval.ms", "-1"},
		{"session.timeout.ms", "2147483648"}, {"session.timeout.ms", "1ns"}, {"heartbeat.interval.ms", "1"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		var o Overrides
		err := o.Set(key, value)
		set := 0
		for _, m := range []*Millis{o.PollInterval, o.Session} {
			if m != nil {
				set++
				if d := m.Duration(); d < time.Millisecond || d > math.MaxInt32*time.Millisecond {
					t.Errorf("%s=%q: %v", key, value, d)
				}
			}
		}
		if o.Static {
			set++
		}
		if err != nil && set > 0 || set > 1 || err == nil && set == 0 && key != "group.instance.id" {
			t.Errorf("%s=%q: %+v, %v", key, value, o, err)
		}
	})
}
