package advise

import (
	"maps"
	"strings"
)

// agree gives one setting of one consumer one value on a page. Where two findings change it
// in one direction, the value that was measured stands for both, and of two that were, or of
// two that were not, the one further from the present value, as long as no rule objects to
// it. An alternative is raised to what was measured.
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
			if sameTarget(f.target, fs[j].target) {
				settleOn(o, trials, &fs[j], f, k)
			}
		}
	}
	for i := range fs {
		f := &fs[i]
		if f.Fix == nil || f.BecauseOf != "" || f.subject == nil {
			continue
		}
		for _, a := range f.Fix.Alternatives {
			for _, k := range sortedKeys(a) {
				if j, told := first[place{f.target.key(), f.subject.Name, k}]; told && j != i && fs[j].measured && sameTarget(f.target, fs[j].target) {
					f.raiseAlternative(o, trials, a, k, &fs[j])
				}
			}
		}
	}
}

// settleOn gives two findings one value for a setting.
func settleOn(o Options, trials map[string]*trial, f, g *Finding, key string) {
	for _, pair := range [][2]*Finding{{f, g}, {g, f}} {
		seen, other := pair[0], pair[1]
		if seen.measured && !other.measured && oneWay(f, g, key) {
			if other.take(o, trials, key, seen.Fix.Set[key], seen.ID) {
				return
			}
		}
	}
	one, ok := further(f, g, key)
	if !ok {
		return
	}
	for _, pair := range [][2]*Finding{{f, g}, {g, f}} {
		if x := pair[0]; x.Fix.Set[key] != one {
			x.take(o, trials, key, one, pair[1].ID)
		}
	}
}

// oneWay reports whether two findings change a duration in one direction, to different
// values.
func oneWay(f, g *Finding, key string) bool { _, ok := further(f, g, key); return ok }

// raiseAlternative puts a measured value where an alternative of a finding raises a setting
// to a lower one, unless a rule objects to it.
func (f *Finding) raiseAlternative(o Options, trials map[string]*trial, a map[string]string, key string, measured *Finding) {
	value := measured.Fix.Set[key]
	now, okNow := parseMillis(value)
	was, ok := parseMillis(a[key])
	v, known := f.subject.Timed(key)
	tr := trials[f.target.key()]
	if !ok || !okNow || !known || tr == nil || was <= v.D || now <= was {
		return
	}
	set, t := maps.Clone(a), f.target
	set[key], t.config = value, tr.target.config
	after := apply(&tr.small, t, set, nil)
	if len(objections(*f, t, tr.before, run(&after, o).Findings)) > 0 {
		return
	}
	a[key] = value
	f.Fix.Notes = maps.Clone(f.Fix.Notes)
	f.Fix.Notes[key] = asMeasured(measured.ID)
	f.Fix.Edits = editsOf(f, f.Fix.Set)
}

func asMeasured(id string) string { return "as " + id + " says" }

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

// take puts another finding's value into a fix, unless a rule objects to it more than to
// the fix's own, and reports whether it did.
func (f *Finding) take(o Options, trials map[string]*trial, key, value, of string) bool {
	was, _ := parseMillis(f.Fix.Set[key])
	now, _ := parseMillis(value)
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
			return false
		}
	}
	f.Fix.Price = strings.ReplaceAll(f.Fix.Price, span(was), span(now))
	f.Fix.Set = set
	f.Fix.Notes = maps.Clone(f.Fix.Notes)
	if f.Fix.Notes == nil {
		f.Fix.Notes = map[string]string{}
	}
	f.Fix.Notes[key] = asMeasured(of)
	f.Fix.Edits = editsOf(f, set)
	return true
}
