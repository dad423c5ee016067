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
	least, most := dur(round(lo)), dur(round(hi))
	if hi-lo < 50*time.Millisecond || least == most {
		return most
	}
	return least + " to " + most
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
