package inspect

import (
	"encoding/json"
	"fmt"
	"time"
)

// timeLayout is RFC 3339 with exactly three decimals, the form of every time in
// kgdiag's JSON.
const timeLayout = "2006-01-02T15:04:05.000Z07:00"

// Time is a moment that JSON shows in UTC with milliseconds; the zero Time is
// unknown and becomes null.
type Time struct{ time.Time }

// At wraps t.
func At(t time.Time) Time { return Time{t} }

// AtMillis is the Time of a Kafka timestamp: milliseconds since the Unix epoch.
// Values of zero and below are unknown, as Kafka writes -1 for "no timestamp", and so
// are those after the year 9999, which no clock has shown and RFC 3339 cannot write.
func AtMillis(ms int64) Time {
	if ms <= 0 || ms > maxTime {
		return Time{}
	}
	return Time{time.UnixMilli(ms).UTC()}
}

// maxTime is the last millisecond of the year 9999.
const maxTime = 253402300799999

// MarshalJSON writes RFC 3339 with milliseconds in UTC, or null when unknown.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.UTC().Format(timeLayout) + `"`), nil
}

// UnmarshalJSON reads any RFC 3339 time, or null.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = Time{}
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("time: %w", err)
	}
	parsed, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		if len(s) > 40 {
			s = s[:40] + "…"
		}
		return fmt.Errorf("time %q: want RFC 3339, such as 2026-11-21T14:05:00Z", s)
	}
	*t = Time{parsed.UTC()}
	return nil
}

// Millis is a duration that JSON shows as whole milliseconds; fields that hold
// one end in _ms. A nil *Millis is unknown.
type Millis time.Duration

// Ms points to d as Millis, for the optional fields.
func Ms(d time.Duration) *Millis { m := Millis(d); return &m }

// Duration is m as Go's own duration.
func (m Millis) Duration() time.Duration { return time.Duration(m) }

// MarshalJSON writes whole milliseconds.
func (m Millis) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(m).Milliseconds())
}

// UnmarshalJSON reads whole milliseconds.
func (m *Millis) UnmarshalJSON(b []byte) error {
	var n int64
	if err := json.Unmarshal(b, &n); err != nil {
		return fmt.Errorf("duration: want whole milliseconds: %w", err)
	}
	if n > maxMillis || n < -maxMillis {
		return fmt.Errorf("duration: %d ms is out of range", n)
	}
	*m = Millis(time.Duration(n) * time.Millisecond)
	return nil
}

// maxMillis is the largest millisecond count that time.Duration can hold.
const maxMillis = int64(1<<63-1) / int64(time.Millisecond)

// Or is the value behind p, or def where p is nil.
func Or(p *Millis, def time.Duration) time.Duration {
	if p == nil {
		return def
	}
	return time.Duration(*p)
}
