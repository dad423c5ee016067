package clientlog

import (
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// timeForms are the forms of a time that stand in lines, with their layouts. The
// order matters: a longer form stands before those that begin like it.
var timeForms = `\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?` +
	`|\d\d/[A-Z][a-z]{2}/\d{4}[: ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: [+-]\d{4})?` +
	`|\d\d[- ][A-Z][a-z]{2}[- ]\d{4}(?:::| )\d\d:\d\d:\d\d(?:[.,]\d{1,9})?` +
	`|[A-Z][a-z]{2} \d{1,2}, \d{4} \d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})? ?(?:[AP]M)?` +
	`|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:[.,]\d{1,9})?` +
	`|\d{8} \d\d:\d\d:\d\d(?:[.,]\d{1,9})?` +
	`|\d\d:\d\d:\d\d(?:[.,]\d{1,9})?|\d{10}[.,]\d{1,9}|\d{13}`

// layouts with and without zone; Go reads fractions after either comma or point.
var zoned = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700",
	"2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05 Z0700", "2006-01-02 15:04:05 MST", "2006-01-02T15:04:05 MST", "2006-01-02 15:04:05MST",
	"02/Jan/2006:15:04:05 -0700", "2006/01/02 15:04:05 Z0700", "2006/01/02 15:04:05 Z07:00"}
var unzoned = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006/01/02 15:04:05", "2006/01/02T15:04:05", "02/Jan/2006:15:04:05", "02/Jan/2006 15:04:05",
	"02-Jan-2006::15:04:05", "02-Jan-2006 15:04:05", "02 Jan 2006 15:04:05", "Jan 2, 2006 3:04:05 PM", "Jan 2, 2006 15:04:05", "20060102 15:04:05"}

// parseTime reads one of the known time forms: ISO 8601, log4j's comma, Go's
// slashes, epoch seconds, milli- or microseconds, syslog, and times of day. Zoned
// says whether the text itself tells the zone.
func parseTime(s string, o Options) (t inspect.Time, zonedToo, ok bool) {
	if s == "" {
		return inspect.Time{}, false, false
	}
	if n, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64); err == nil {
		return epoch(n)
	}
	if t, z, ok := iso(s, o.Zone); ok {
		return t, z, true
	}
	for _, layout := range zoned {
		if t, err := time.Parse(layout, s); err == nil {
			return inspect.At(t.UTC()), true, true
		}
	}
	for _, layout := range unzoned {
		if t, err := time.ParseInLocation(layout, s, o.Zone); err == nil {
			return inspect.At(t.UTC()), false, true
		}
	}
	if o.Day.IsZero() {
		return inspect.Time{}, false, false
	}
	if t, err := time.ParseInLocation("Jan _2 15:04:05", s, o.Zone); err == nil {
		return inspect.At(t.AddDate(o.Day.Year(), 0, 0).UTC()), false, true
	}
	if t, err := time.ParseInLocation("15:04:05", s, o.Zone); err == nil {
		y, mon, d := o.Day.In(o.Zone).Date()
		return inspect.At(time.Date(y, mon, d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), o.Zone).UTC()), false, true
	}
	return inspect.Time{}, false, false
}

// epoch reads a number of seconds, milliseconds, microseconds or nanoseconds since
// 1970, which its size tells apart.
func epoch(n float64) (inspect.Time, bool, bool) {
	switch {
	case n < 1e8 || n > 1e20:
		return inspect.Time{}, false, false
	case n > 1e17:
		n /= 1e6
	case n > 1e14:
		n /= 1e3
	case n < 1e11:
		n *= 1e3
	}
	return inspect.AtMillis(int64(n)), true, true
}

// timeAhead is a time at the very beginning.
var timeAhead = pattern.New(`^(?:` + timeForms + `)`)

// timeWithin is a time behind something else, as names of pods and hosts.
var timeWithin = pattern.New(`(?:^|[\s\[(|=\x22])(` + timeForms + `)(?:[\s\])|,;:\x22]|$)`)

// iso reads the commonest form, 2026-11-29 14:43:13,123 with T, a point or a Z as it
// may be, without trying layouts one by one.
func iso(s string, zone *time.Location) (inspect.Time, bool, bool) {
	if len(s) < 19 || s[4] != '-' || s[7] != '-' || s[10] != ' ' && s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return inspect.Time{}, false, false
	}
	var n [6]int
	for i, at := range [6][2]int{{0, 4}, {5, 7}, {8, 10}, {11, 13}, {14, 16}, {17, 19}} {
		v, err := strconv.Atoi(s[at[0]:at[1]])
		if err != nil || v < 0 {
			return inspect.Time{}, false, false
		}
		n[i] = v
	}
	rest, nanos := s[19:], 0
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') {
		scale, i := 100_000_000, 1
		for ; i < len(rest) && rest[i] >= '0' && rest[i] <= '9'; i++ {
			nanos += int(rest[i]-'0') * scale
			scale /= 10
		}
		rest = rest[i:]
	}
	zoned := rest == "Z"
	if rest != "" && !zoned || n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > 31 || n[3] > 23 || n[4] > 59 || n[5] > 60 {
		return inspect.Time{}, false, false // the layouts read other zones, and refuse what is no time
	}
	if zoned {
		zone = time.UTC
	}
	return inspect.At(time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], nanos, zone).UTC()), zoned, true
}

// timeAtFront is the text of a time that s begins with; "" for none.
func timeAtFront(s string) string {
	if n := isoLength(s); n > 0 {
		return s[:n]
	}
	return timeAhead.FindString(s)
}

// isoLength is the length of the commonest form of a time at the front, if nothing
// follows it that may be a zone; 0 otherwise.
func isoLength(s string) int {
	if len(s) < 19 || s[4] != '-' || s[7] != '-' || s[13] != ':' || s[16] != ':' {
		return 0
	}
	n := 19
	if n < len(s) && (s[n] == ',' || s[n] == '.') {
		for n++; n < len(s) && s[n] >= '0' && s[n] <= '9'; n++ {
		}
	}
	if n < len(s) && s[n] == 'Z' {
		return n + 1
	}
	if n == len(s) || s[n] == ']' || s[n] == ' ' && n+1 < len(s) && s[n+1] != '+' && s[n+1] != '-' && s[n+1] != 'U' && s[n+1] != 'G' {
		return n
	}
	return 0
}
