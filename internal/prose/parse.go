package prose

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// longUnits are those that a Go duration has not.
var longUnits = map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour}

// ParseSpan reads a Go duration that may also use d and w: 90s, 1h30m, 2d, 1w. It is
// more than zero.
func ParseSpan(s string) (time.Duration, error) {
	rest, total := s, time.Duration(0)
	for rest != "" {
		digits := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if digits <= 0 {
			break
		}
		end := digits
		for end < len(rest) && (rest[end] < '0' || rest[end] > '9') && rest[end] != '.' {
			end++
		}
		d, ok := parsePart(rest[:digits], rest[digits:end])
		if !ok {
			break
		}
		if total > math.MaxInt64-d {
			break // a span that no duration holds is none
		}
		total += d
		rest = rest[end:]
	}
	if s == "" || rest != "" || total <= 0 {
		return 0, fmt.Errorf("%q: want a duration such as 90s, 8m, 1h30m, 2d or 1w", s)
	}
	return total, nil
}

// parsePart reads one number with its unit.
func parsePart(number, unit string) (time.Duration, bool) {
	scale, long := longUnits[unit]
	if !long {
		d, err := time.ParseDuration(number + unit)
		return d, err == nil
	}
	n, err := strconv.ParseFloat(number, 64)
	return time.Duration(n * float64(scale)), err == nil && n <= 10000
}
