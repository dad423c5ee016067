package advise

import (
	"maps"
	"strings"
)

// agree gives one setting of one consumer one value on a page: where two findings raise it
// to different values, both get the higher one, and where both lower it the lower one, as
// long as no rule objects to it.
func agree(o Options, fs []Finding, trials map[string]*trial) {
	type place struct{ about, name, key string }
	first := map[place]int{}
	for i := range fs {
		f := &fs[i]
		if f.Fix == nil || f.BecauseOf != "" || f.subject == nil {
			continue
		}
		for _, k := range sortedKeys(f.Fix.Set) {
			at := place{f.target.key(), f.subject.Name, k}
			j, told := first[at]
			if !told {
				first[at] = i
				continue
			}
			g := &fs[j]
			one, ok := further(f, g, k)
			if !ok || !sameTarget(f.target, g.target) {
				continue
			}
			for _, x := range []*Finding{f, g} {
				if x.Fix.Set[k] != one {
					x.take(o, trials, k, one)
				}
			}
		}
	}
}

// further is the value, of two to which two findings change a duration, that is further
// from the present one; false where they agree, or change it in different directions.
func further(f, g *Finding, key string) (string, bool) {
	a, okA := parseMillis(f.Fix.Set[key])
	b, okB := parseMillis(g.Fix.Set[key])
	v, ok := f.subject.Timed(key)
	switch {
	case !okA || !okB || !ok || a == b:
		return "", false
	case a > v.D && b > v.D:
		return ms(max(a, b)), true
	case a < v.D && b < v.D:
		return ms(min(a, b)), true
	}
	return "", false
}

// take puts another value into a fix, unless a rule objects to it.
func (f *Finding) take(o Options, trials map[string]*trial, key, value string) {
	set := maps.Clone(f.Fix.Set)
	set[key] = value
	if tr := trials[f.target.key()]; tr != nil {
		t := f.target
		t.config = tr.target.config
		objected := func(set map[string]string) int {
			after := apply(&tr.small, t, set, f.Fix.Delete)
			return len(objections(*f, t, tr.before, run(&after, o).Findings))
		}
		if objected(set) > objected(f.Fix.Set) {
			return
		}
	}
	was, _ := parseMillis(f.Fix.Set[key])
	now, _ := parseMillis(value)
	f.Fix.Price = strings.ReplaceAll(f.Fix.Price, span(was), span(now))
	f.Fix.Set = set
	f.Fix.Notes = maps.Clone(f.Fix.Notes)
	delete(f.Fix.Notes, key)
	f.Fix.Edits = editsOf(f, set)
}
