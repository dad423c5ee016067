package clientlog

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
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
var timeAhead = regexp.MustCompile(`^(?:` + timeForms + `)`)

// timeWithin is a time behind something else, as names of pods and hosts.
var timeWithin = regexp.MustCompile(`(?:^|[\s\[(|=\x22])(` + timeForms + `)(?:[\s\])|,;:\x22]|$)`)
