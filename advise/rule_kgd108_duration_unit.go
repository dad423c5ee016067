package advise

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

const (
	minSession   = time.Second            // a session below is a slip: no broker has so low a minimum
	minHeartbeat = 100 * time.Millisecond // a heartbeat below is a slip
	minPoll      = time.Second            // a poll interval or rebalance timeout below is a slip
	maxTimeout   = 24 * time.Hour         // a timeout from here on is a slip, but for Integer.MAX_VALUE
)

// leastOf gives the shortest plausible value of the settings whose unit people get
// wrong; zero where only the upper limit counts.
var leastOf = map[string]time.Duration{
	keySession: minSession, keyHeartbeat: minHeartbeat, keyPoll: minPoll, keyRebalance: minPoll,
	keyRequest: 0, keyAPI: 0, keySocket: 0,
}

// unitSlip reports whether a value can only be meant in another unit.
func unitSlip(v Value) bool {
	least, watched := leastOf[v.Key]
	if !watched || !v.Timed || v.Origin == inspect.OriginDefault {
		return false
	}
	return v.D < least || v.D >= maxTimeout && !meantLong(v.D)
}

// meantLong reports whether a timeout of a day or more is one that somebody wrote on
// purpose: the largest number of the setting, or whole days of a month at most. A slip of
// the unit has the digits of a shorter time.
func meantLong(d time.Duration) bool {
	return d == maxInt || d == maxInt-time.Millisecond || d%maxTimeout == 0 && d <= 30*maxTimeout
}

var _ = register(Rule{
	ID: "KGD108", Name: "duration-unit", Severity: Error, Since: "v0.1.0", Scope: PerClient,
	Needs:    []inspect.Fact{inspect.FactTimeouts},
	Uses:     []inspect.Fact{inspect.FactBrokerConfig, inspect.FactDeclared, inspect.FactHistory, inspect.FactClientLog},
	Explains: map[inspect.Cause]int{inspect.PollIntervalExceeded: 4},
	Doc: Doc{
		Summary: "A duration looks as if it were written in another unit.",
		Why: "Kafka's settings that end in .ms are milliseconds; Go libraries take nanoseconds, some frameworks seconds. A session of 45 ms " +
			"is refused by every broker, and a poll interval of a day or more means that a stuck consumer is never noticed.",
		Fix:   "Write the value in the unit of the setting.",
		Price: "none",
		Refs:  []string{"ConsumerConfig", "time.Duration"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, key := range sortedKeys(leastOf) {
			v, ok := s.Timed(key)
			if !ok || !unitSlip(v) {
				continue
			}
			if s.ServerSide() && (key == keySession || key == keyHeartbeat) {
				continue // KGD401 wants it gone
			}
			sev := Error
			if key == keyHeartbeat || v.D >= maxTimeout {
				sev = Warning
			}
			to, why := s.meant(key, v)
			f := s.Finding(sev, fmt.Sprintf("%s=%s is %s: %s", v.Spelled, v.Text, tiny(v.D), why), v)
			f.Fix = &Fix{}
			if to > 0 {
				f.Fix.Set = map[string]string{key: ms(to)}
			}
			report(f)
		}
	},
})

func tiny(d time.Duration) string {
	if d >= 0 && d < time.Millisecond {
		return "under a millisecond"
	}
	return span(d)
}

// meant guesses the duration behind a slip: the same number in a larger or smaller
// unit where that is a usual value, else the client's default; zero for none.
func (s *Subject) meant(key string, v Value) (time.Duration, string) {
	least, most := 2*time.Second, time.Hour
	if key == keySession {
		least = defaultSessionMin + defaultSessionMin/2
		most = 30 * time.Minute
	}
	if key == keyHeartbeat {
		least, most = 500*time.Millisecond, time.Minute
	}
	if key == keyPoll {
		least = 10 * time.Second
	}
	scales := []struct {
		by   float64
		unit string
	}{{1e3, "seconds"}}
	if v.D >= maxTimeout {
		scales[0].by, scales[0].unit = 1e-3, "microseconds"
		scales = append(scales, scales[0])
		scales[1].by, scales[1].unit = 1e-6, "nanoseconds"
	}
	if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil && n > 0 && v.D < time.Millisecond {
		// A Go program read the number as nanoseconds.
		if d := time.Duration(n) * time.Millisecond; d >= least && d <= most {
			return d, fmt.Sprintf("as milliseconds it would be %s", span(d))
		}
	}
	for _, sc := range scales {
		if d := time.Duration(float64(v.D) * sc.by).Truncate(time.Millisecond); d >= least && d <= most {
			return d, fmt.Sprintf("as %s it would be %s", sc.unit, span(d))
		}
	}
	d := s.DefaultOf(key)
	if d == 0 || unitSlip(Value{Key: key, D: d, Timed: true}) || d == maxInt {
		return 0, "no consumer works with that"
	}
	return d, "no consumer works with that; the default is " + span(d)
}
