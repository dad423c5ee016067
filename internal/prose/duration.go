package prose

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Span is a duration as a reader says it, in at most two units, cut and not rounded:
// 350ms, 2.0s, 45s, 5m, 7m29s, 9d02h.
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Span(-d)
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return units(d.Truncate(time.Second))
	case d < 24*time.Hour:
		return units(d.Truncate(time.Minute))
	}
	return units(d.Truncate(time.Hour))
}

// Between is a duration that is known to lie between two, as a reader says it: 1–30ms,
// 350ms–2.1s. The least is cut and the most rounded up, so that it holds what they do.
func Between(least, most time.Duration) string {
	from, to := Span(least), Span(upward(most))
	switch {
	case from == to:
		return to
	case strings.HasSuffix(from, "ms") == strings.HasSuffix(to, "ms") && most < time.Minute:
		return strings.TrimRight(from, "ms") + "–" + to
	}
	return from + "–" + to
}

// AtMost is Span, rounded up.
func AtMost(d time.Duration) string { return Span(upward(d)) }

// upward rounds up to what Span shows.
func upward(d time.Duration) time.Duration {
	unit := time.Hour
	switch {
	case d < time.Second:
		unit = time.Millisecond
	case d < 10*time.Second:
		unit = 100 * time.Millisecond
	case d < time.Hour:
		unit = time.Second
	case d < 24*time.Hour:
		unit = time.Minute
	}
	return (d + unit - 1) / unit * unit
}

// Rounded is a duration in whole seconds, with a tenth below ten of them.
func Rounded(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// Measured is a duration that was measured and is compared with others, rounded as
// everywhere on a page: 400ms, 1.8s, 12.5s, 45s, 5m02s.
func Measured(d time.Duration) string {
	switch d = max(0, d); {
	case d < time.Second:
		return Exact(d.Round(10 * time.Millisecond))
	case d < 20*time.Second:
		return Exact(d.Round(100 * time.Millisecond))
	}
	return Exact(d.Round(time.Second))
}

// Exact is a duration to the millisecond, as a setting is compared with it: 350ms,
// 2.5s, 45s, 5m, 7m48s, 1h30m, 2d03h.
func Exact(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Exact(-d)
	case d%time.Second == 0 && d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return strconv.FormatFloat(float64(d.Milliseconds())/1000, 'f', -1, 64) + "s"
	}
	return units(d)
}

// units writes a duration of a minute or more from the largest unit down, without
// those that are zero.
func units(d time.Duration) string {
	var b strings.Builder
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		n := d / u.unit
		d %= u.unit
		switch {
		case n == 0:
		case b.Len() == 0:
			fmt.Fprintf(&b, "%d%s", n, u.name)
		default:
			fmt.Fprintf(&b, "%02d%s", n, u.name)
		}
	}
	if d >= time.Millisecond {
		fmt.Fprintf(&b, "%03dms", d.Milliseconds())
	}
	return b.String()
}

// WholeSeconds is d rounded up to seconds, so that a limit of that length covers it.
func WholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// ToCover is d as people compare it with a limit that has to cover it: whole seconds,
// from ten on, tenths below, rounded up.
func ToCover(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return upward(d)
	}
	return WholeSeconds(d)
}
