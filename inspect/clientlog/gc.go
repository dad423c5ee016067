package clientlog

import (
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var (
	unifiedPause = pattern.New(`GC\(\d+\) (Pause .*?)(?: \d+[KMG]->\d+[KMG]\(\d+[KMG]\))? (\d+(?:[.,]\d+)?)ms$`)
	safepoint    = pattern.New(`Safepoint "([^"]+)",.*Total: +(\d+) ns`)
	stoppedLine  = pattern.New(`Total time for which application threads were stopped: (\d+[.,]\d+) seconds`)
	jdk8Pause    = pattern.New(`\[(GC|Full GC)\b ?(\([^)]*\))?.*?, (\d+[.,]\d+) secs\]`)
	uptimeOnly   = pattern.New(`^\[(\d+[.,]\d+)s\]`)
)

// pause reads a stop of the whole process out of a JVM log: unified GC and safepoint
// logs (JDK 9+), and the forms of JDK 8. Concurrent phases stop nothing and are not
// pauses.
func pause(l *logLine) (inspect.LogEvent, bool) {
	t := l.text
	what, length := "", time.Duration(0)
	switch {
	case strings.Contains(t, "Pause "):
		if m := unifiedPause.FindStringSubmatch(t); m != nil {
			what, length = strings.TrimSpace(m[1]), fraction(m[2], time.Millisecond)
		}
	case strings.Contains(t, `Safepoint "`):
		if m := safepoint.FindStringSubmatch(t); m != nil {
			ns, err := strconv.ParseInt(m[2], 10, 64)
			if err != nil {
				return inspect.LogEvent{}, false
			}
			what, length = "safepoint "+m[1], time.Duration(ns)
		}
	case strings.Contains(t, "application threads were stopped"):
		if m := stoppedLine.FindStringSubmatch(t); m != nil {
			what, length = "application threads stopped", fraction(m[1], time.Second)
		}
	case strings.Contains(t, "[GC") || strings.Contains(t, "[Full GC"):
		if m := jdk8Pause.FindStringSubmatch(t); m != nil && !strings.Contains(m[0], "concurrent") {
			what, length = strings.TrimSpace(m[1]+" "+m[2]), fraction(m[3], time.Second)
		}
	}
	if what == "" || length <= 0 {
		return inspect.LogEvent{}, false
	}
	return inspect.LogEvent{Kind: inspect.LogPause, Family: inspect.Java, Reason: what, Length: inspect.Ms(length)}, true
}

// fraction reads a decimal number of units; JVMs of some locales write a comma.
func fraction(s string, unit time.Duration) time.Duration {
	f, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	if err != nil || f < 0 || f > 1e9 {
		return 0
	}
	return time.Duration(f * float64(unit))
}
