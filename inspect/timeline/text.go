package timeline

import (
	"fmt"
	"strconv"
	"time"
)

func itoa(n int32) string   { return strconv.FormatInt(int64(n), 10) }
func itoa64(n int64) string { return strconv.FormatInt(n, 10) }

// dur prints a duration as people compare it: 0.4 s, 15 s, 302 s.
func dur(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < 20*time.Second:
		return strconv.FormatFloat(float64(d.Round(10*time.Millisecond).Milliseconds())/1000, 'f', -1, 64) + " s"
	}
	return fmt.Sprintf("%d s", int64(d.Round(time.Second)/time.Second))
}

// between prints an interval of two durations.
func between(lo, hi time.Duration) string {
	if (hi - lo) < 50*time.Millisecond {
		return dur(round(hi))
	}
	return dur(round(lo)) + " to " + dur(round(hi))
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
