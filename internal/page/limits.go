package page

import (
	"reflect"
	"strings"

	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
)

// MostBytes bounds a page, so that any ticket system takes it.
const MostBytes = 2_000_000

// limits are how much of each thing a page shows.
type limits struct {
	groups, overview, lanes, rebalances, courses, spans, members, files, findings, evidence, unchecked int
	step                                                                                               float64 // the least distance of two marks in the chart
}

// full is what a page shows where it has the room.
var full = limits{groups: 25, overview: 1000, lanes: 60, rebalances: 500, courses: 100, spans: 500, members: 500, files: 50, findings: 100, evidence: 20, unchecked: 300, step: 0.5}

// half is half as much of everything, and at least one.
func (l limits) half() limits {
	h := func(n int) int { return max(1, n/2) }
	return limits{h(l.groups), h(l.overview), h(l.lanes), h(l.rebalances), h(l.courses), h(l.spans), h(l.members), h(l.files), h(l.findings), h(l.evidence), h(l.unchecked), 2 * l.step}
}

// cuts count what was left out.
type cuts struct{ lanes, rebalances, courses, spans, members, files, findings, unchecked int }

// lines say what was left out.
func (c *cuts) lines() []string {
	var out []string
	for _, x := range []struct {
		n          int
		what, rest string
	}{{c.rebalances, "older rebalance", ""}, {c.courses, "older departure", ""}, {c.lanes, "lane", " of members, those that never left first"},
		{c.spans, "row", " of the tables below the charts"}, {c.members, "member", " of the tables of configuration"},
		{c.files, "configuration file", ""}, {c.findings, "unrelated finding", ""}, {c.unchecked, "rule", " that could not be checked"}} {
		if x.n > 0 {
			out = append(out, prose.Plural(x.n, x.what)+x.rest)
		}
	}
	return out
}

// mostRunes is how long one text of a page may be; of a longer one the middle is left out.
const mostRunes = 1000

// tidy makes every text of a report harmless and bounds it. A command is not
// shortened: it would do something else.
func tidy(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() != reflect.TypeFor[Shell]() {
			v.SetString(render.Clean(shorten(v.String(), mostRunes)))
			return
		}
		lines := strings.Split(v.String(), "\n")
		for i := range lines {
			lines[i] = render.Clean(lines[i])
		}
		v.SetString(strings.Join(lines, "\n"))
	case reflect.Pointer:
		if !v.IsNil() {
			tidy(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			tidy(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() { // the others are not shown
				tidy(v.Field(i))
			}
		}
	}
}

// shorten leaves out the middle of a text that is longer than so many runes.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	head := (most - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(most-1-head):])
}
