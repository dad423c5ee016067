package clientconf

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// entry is one key of any dialect with its full path as the file spells it.
type entry struct {
	path  string // dotted
	value string
	line  int
	list  bool // an element of a list: the path ends in [i]
}

// entriesOf flattens a tree into entries, as Spring and SmallRye do: nested keys are
// joined by dots, and a key in brackets stands for itself.
func entriesOf(n *node) []entry {
	var out []entry
	n.walk(func(path []string, n *node) {
		if n.kind != scalar || len(path) == 0 {
			return
		}
		out = append(out, entry{path: join(path), value: n.value, line: n.line, list: isIndex(path[len(path)-1])})
	})
	return out
}

// isIndex tells a list's [3] from a bracketed key.
func isIndex(p string) bool {
	return len(p) > 2 && p[0] == '[' && p[1] >= '0' && p[1] <= '9' && p[len(p)-1] == ']'
}

func join(path []string) string {
	var b strings.Builder
	for i, p := range path {
		index := isIndex(p)
		if strings.HasPrefix(p, "[") && strings.HasSuffix(p, "]") && !index {
			p = p[1 : len(p)-1]
		}
		if i > 0 && !index {
			b.WriteByte('.')
		}
		b.WriteString(p)
	}
	return b.String()
}

// entriesOfProperties are the entries of .properties text.
func entriesOfProperties(f *properties.File) []entry {
	out := make([]entry, len(f.Entries))
	for i, e := range f.Entries {
		out[i] = entry{path: strings.NewReplacer(`"[`, "", `]"`, "").Replace(e.Key), value: e.Value, line: e.Line}
	}
	return out
}

// builder gathers the settings of one consumer; a later setting of the same rank or
// a higher one replaces an earlier one, which is remembered.
type builder struct {
	c    inspect.ClientConfig
	rank map[string]int
}

func newBuilder(name, dialect string, family inspect.Family, o Options, line int) *builder {
	b := &builder{rank: map[string]int{}, c: inspect.ClientConfig{
		Where: inspect.Position{File: name, Line: line}, Dialect: dialect, Family: family, Version: o.Version,
		Assumed: o.Version == "", Settings: []inspect.Setting{},
	}}
	if o.Family != "" {
		b.c.Family = o.Family
	}
	return b
}

// The ranks of sources: a wider one yields to a narrower one wherever it stands.
const (
	rankInherited = 1
	rankTyped     = 2
	rankOwn       = 3
)

// set adds a setting under its Java name. A value that is a placeholder keeps its
// default, or is a problem and no setting.
func (b *builder) set(key, spelled, value string, line, rank int) {
	b.setUnit(key, spelled, value, line, rank, "")
}

// unitUnknown is the unit of plain numbers in a file whose program is not known: they are
// not judged, only durations with a unit are.
const unitUnknown = "?"

// setUnit is set for a dialect whose plain numbers are of another unit: "ns", "s", or
// "ms" to read Go and Spring durations as well.
func (b *builder) setUnit(key, spelled, value string, line, rank int, unit string) {
	where := inspect.Position{File: b.c.Where.File, Line: line}
	value, open := fillPlaceholders(value)
	if open {
		b.problem("placeholder", where, spelled, "", spelled+" is filled in from outside ("+shorten(value)+"): its value is unknown here")
		b.unknown(key)
		return
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil && unit == unitUnknown && IsDuration(key) {
		b.problem("placeholder", where, spelled, "", fmt.Sprintf("%s=%s has no unit, and the program that reads it is not known: it is not judged", spelled, value))
		b.unknown(key)
		return
	}
	raw, tiny := "", false
	if unit != "" && IsDuration(key) {
		d, ok := duration(value, unit)
		if !ok {
			b.problem("not_a_number", where, spelled, "", fmt.Sprintf("%s=%s is not a duration", spelled, shorten(value)))
			b.unknown(key)
			return
		}
		raw, value = strings.TrimSpace(value), strconv.FormatInt(d.Milliseconds(), 10)
		tiny = d < time.Millisecond && d > 0
	}
	s, problem := NewSetting(key, spelled, value, where)
	switch {
	case tiny: // its own number says more than no milliseconds
		s.Value = raw
	case raw != value:
		s.Raw = raw
	}
	if problem != nil {
		problem.Key = spelled
		b.c.Problems = append(b.c.Problems, *problem)
	}
	if rank == rankInherited {
		s.Origin = inspect.OriginInherited
	}
	b.put(s, rank)
}

func (b *builder) put(s inspect.Setting, rank int) {
	for i, old := range b.c.Settings {
		if old.Key != s.Key {
			continue
		}
		if b.rank[s.Key] > rank {
			return
		}
		if where := old.Where; where != s.Where {
			s.Overrides = &where
		}
		if b.rank[s.Key] == rank && old.Spelled == s.Spelled && old.Where.Line != s.Where.Line && old.Origin == inspect.OriginSet {
			b.problem("duplicate_key", s.Where, s.Spelled, "", fmt.Sprintf("%s is set on line %d and again on line %d; the last one counts, %s",
				s.Spelled, old.Where.Line, s.Where.Line, inForce(s)))
		}
		b.c.Settings = append(b.c.Settings[:i], b.c.Settings[i+1:]...)
		break
	}
	b.rank[s.Key] = rank
	b.c.Settings = append(b.c.Settings, s)
	if s.Key == "group.id" || s.Key == "application.id" {
		b.c.Group = s.Value
	}
}

func (b *builder) problem(kind string, where inspect.Position, key, nearest, message string) {
	b.c.Problems = append(b.c.Problems, inspect.ConfigProblem{Kind: kind, Where: where, Key: key, Nearest: nearest, Message: message})
}

// unknown notes that the last problem leaves a setting without a known value.
func (b *builder) unknown(key string) { b.c.Problems[len(b.c.Problems)-1].Of = key }

// own adds a key of the Java client found under a prefix, with what is odd about it.
func (b *builder) own(key, spelled, value string, line, rank int) {
	if p := classify(key, value, inspect.Position{File: b.c.Where.File, Line: line}); p != nil {
		p.Key = spelled
		b.c.Problems = append(b.c.Problems, *p)
		return
	}
	if _, ok := consumerKeys()[Canonical(key)]; ok {
		b.set(Canonical(key), spelled, value, line, rank)
	}
}

// some reports whether anything was found for this consumer.
func (b *builder) some() bool { return len(b.c.Settings) > 0 || len(b.c.Problems) > 0 }

// placeholder is ${VAR}, ${VAR:default} (Spring, SmallRye) or ${VAR:-default} (shell,
// compose), or a template of Helm.
var placeholder = pattern.New(`\$\{([^{}:]+)(:-?([^{}]*))?\}`)

// fillPlaceholders puts defaults in place and reports whether something is left open.
func fillPlaceholders(v string) (string, bool) {
	open := strings.Contains(v, "{{") || strings.HasPrefix(v, "%{")
	for range 8 { // defaults may hold placeholders in turn
		next := placeholder.ReplaceAllStringFunc(v, func(m string) string {
			p := placeholder.FindStringSubmatch(m)
			if p[2] == "" {
				open = true
				return "\x00" + p[1] + "\x01"
			}
			return p[3]
		})
		if next == v {
			break
		}
		v = next
	}
	return strings.NewReplacer("\x00", "${", "\x01", "}").Replace(v), open
}

var (
	springDuration = pattern.New(`^([+-]?\d+)(ns|us|ms|s|m|h|d)?$`)
	isoDuration    = pattern.New(`(?i)^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)
	timeSpan       = pattern.New(`^(?:(\d+)\.)?(\d{1,2}):(\d\d):(\d\d)(?:\.(\d{1,7}))?$`)
)

// duration reads a plain number of the unit, a Go or Spring duration (300s, 5m), an
// ISO 8601 one (PT5M) or a .NET TimeSpan (00:05:00).
func duration(v, unit string) (time.Duration, bool) {
	units := map[string]time.Duration{"ns": 1, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	v = strings.TrimSpace(v)
	if m := springDuration.FindStringSubmatch(v); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if m[2] != "" {
			unit = m[2]
		}
		u := units[unit]
		if err != nil || u == 0 || n > int64(1<<63-1)/int64(u) || n < -int64(1<<63-1)/int64(u) {
			return 0, false
		}
		return time.Duration(n) * u, true
	}
	if d, err := time.ParseDuration(v); err == nil {
		return d, true
	}
	if m := isoDuration.FindStringSubmatch(v); m != nil && len(v) > 2 {
		return sum(m[1], units["d"], m[2], time.Hour, m[3], time.Minute, m[4], time.Second)
	}
	if m := timeSpan.FindStringSubmatch(v); m != nil {
		return sum(m[1], units["d"], m[2], time.Hour, m[3], time.Minute, m[4], time.Second)
	}
	return 0, false
}

func sum(parts ...any) (time.Duration, bool) {
	total := 0.0
	for i := 0; i < len(parts); i += 2 {
		s, _ := parts[i].(string)
		u, _ := parts[i+1].(time.Duration)
		if s == "" {
			continue
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return 0, false
		}
		total += f * float64(u)
	}
	if total > float64(365*24*time.Hour) {
		return 0, false
	}
	return time.Duration(total), true
}
