package judge

import (
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/internal/prose"
)

func itoa(n int32) string   { return strconv.FormatInt(int64(n), 10) }
func itoa64(n int64) string { return strconv.FormatInt(n, 10) }

// dur prints a duration to be compared with others.
func dur(d time.Duration) string { return prose.Measured(d) }

// between prints an interval of two durations.
func between(lo, hi time.Duration) string {
	if (hi - lo) < 50*time.Millisecond {
		return dur(round(hi))
	}
	return dur(round(lo)) + " to " + dur(round(hi))
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
