package advise

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var (
	isoNotation   = pattern.New(`(?i)^P[\dDT]`)
	clockNotation = pattern.New(`^(?:\d+\.)?\d{1,2}:\d\d:\d\d`)
	unitNotation  = pattern.New(`^[\d.]+\s*(?:ns|us|ms|s|m|h|d|[a-z]+)`)
)

// write is a duration in the notation in which the reader's file writes it: that of the
// same setting, else of another duration of the file, else of the client or framework.
func (s *Subject) write(key, value string) string {
	d, ok := parseMillis(value)
	if !ok || !strings.HasSuffix(key, ".ms") {
		return value
	}
	if s.inGo() {
		return goDuration(d)
	}
	if v, have := s.values[key]; have && v.Where != nil && v.Timed {
		return likeValue(v, d, value)
	}
	if s.Config != nil {
		for _, set := range s.Config.Settings {
			if set.Raw != "" && set.Millis != nil {
				return likeValue(Value{Text: set.Value, Raw: set.Raw, D: set.Millis.Duration(), Timed: true}, d, value)
			}
		}
	}
	if f := s.framework(); f != nil {
		for _, x := range f.Fields() {
			if x.Key == key {
				return inUnit(d, x.Unit, value)
			}
		}
		return value
	}
	switch s.Family {
	case inspect.Sarama, inspect.FranzGo, inspect.KafkaGo:
		return goDuration(d)
	}
	own, _ := settings.Lookup(s.Family, "", key)
	return inUnit(d, own.Unit(), value)
}

// inGo reports whether the settings stand in the text of a Go program.
func (s *Subject) inGo() bool {
	return s.Config != nil && s.Config.Dialect == "source" && (s.Family == inspect.Sarama || s.Family == inspect.FranzGo || s.Family == inspect.KafkaGo)
}

// inUnit is a duration where a framework has a unit of its own: "ns" is Go's, which is
// written with units.
func inUnit(d time.Duration, unit, millis string) string {
	switch unit {
	case "ns":
		return goDuration(d)
	case "s":
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
	}
	return millis
}

// likeValue writes d as the value v is written.
func likeValue(v Value, d time.Duration, millis string) string {
	raw := v.Raw
	if raw == "" {
		raw = v.Text
	}
	switch {
	case isoNotation.MatchString(raw):
		return isoDuration(d)
	case clockNotation.MatchString(raw):
		return fmt.Sprintf("%02d:%02d:%02d", d/time.Hour, d%time.Hour/time.Minute, d%time.Minute/time.Second)
	case unitNotation.MatchString(raw):
		return goDuration(d)
	}
	plain := strings.ReplaceAll(raw, "_", "")
	n, err := strconv.ParseFloat(plain, 64)
	if err != nil {
		return millis
	}
	out := millis
	switch perMilli := n / float64(max(v.D, 1)) * float64(time.Millisecond); {
	case v.D < time.Millisecond && n > 0, perMilli > 900_000 && perMilli < 1_100_000:
		out = strconv.FormatInt(d.Nanoseconds(), 10)
	case perMilli < 0.0011 && perMilli > 0.0009:
		out = strconv.FormatFloat(d.Seconds(), 'f', -1, 64)
	}
	if plain != raw {
		return grouped(out)
	}
	return out
}

// goDuration is a duration that Go, Spring and HOCON all read: 45s, 12m, 1h30m.
func goDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// isoDuration is a duration as ISO 8601 has it: PT12M, PT1H30M.
func isoDuration(d time.Duration) string {
	out := "PT"
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "H"}, {time.Minute, "M"}} {
		if n := d / u.unit; n > 0 {
			out += fmt.Sprintf("%d%s", n, u.name)
			d %= u.unit
		}
	}
	if d > 0 || out == "PT" {
		out += strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "S"
	}
	return out
}

// grouped sets the thousands of a number apart by underscores.
func grouped(n string) string {
	for i := len(n) - 3; i > 0; i -= 3 {
		n = n[:i] + "_" + n[i:]
	}
	return n
}
