package advise

import (
	"maps"
	"strings"
)

// agree gives one setting of one consumer one value on a page. Where two findings change it
// in one direction, the value that was measured stands for both, and of two that were, or of
// two that were not, the one further from the present value, as long as no rule objects to
// it. An alternative is raised to what another finding sets, and stands for the fix where
// the others set all of it: followed together, the advice on one consumer is one set.
func agree(o Options, fs []Finding, trials map[string]*trial) {
	first := map[settingPlace]int{}
	for i := range fs {
		f := &fs[i]
		if !f.proposes() {
			continue
		}
		for _, k := range sortedKeys(f.Fix.Set) {
			at := f.place(k)
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
		if !f.proposes() {
			continue
		}
		for n := range f.Fix.Alternatives {
			if same := f.alike(o, trials, n, fs, first); len(same) == len(f.Fix.Alternatives[n]) {
				f.follow(n, same)
				break
			}
		}
	}
}

// settingPlace is a setting of one consumer.
type settingPlace struct{ about, name, key string }

func (f *Finding) place(key string) settingPlace {
	return settingPlace{f.target.key(), f.subject.Name, key}
}

// proposes reports a finding that stands for itself and has something to change.
func (f *Finding) proposes() bool { return f.Fix != nil && f.BecauseOf == "" && f.subject != nil }

// alike raises an alternative to what others set, and returns those that set the same of
// it in any case, one for each of its keys in their order.
func (f *Finding) alike(o Options, trials map[string]*trial, n int, fs []Finding, first map[settingPlace]int) []*Finding {
	var same []*Finding
	a := f.Fix.Alternatives[n]
	for _, k := range sortedKeys(a) {
		j, told := first[f.place(k)]
		if !told || &fs[j] == f || !sameTarget(f.target, fs[j].target) {
			continue
		}
		f.raiseAlternative(o, trials, a, k, &fs[j])
		if fs[j].Fix.Set[k] == a[k] && fs[j].Fix.If == "" {
			same = append(same, &fs[j])
		}
	}
	return same
}

// follow makes an alternative the fix where others set all of it: what else would do fits
// to settings that will no longer be in force.
func (f *Finding) follow(alternative int, others []*Finding) {
	f.Fix.Set, f.Fix.Alternatives, f.Fix.Price = f.Fix.Alternatives[alternative], []map[string]string{}, others[0].Fix.Price
	f.Fix.Notes = maps.Clone(f.Fix.Notes)
	maps.DeleteFunc(f.Fix.Notes, func(key, _ string) bool { return f.Fix.Set[key] == "" })
	for i, k := range sortedKeys(f.Fix.Set) {
		f.Fix.Notes[k] = asOther(others[i].ID)
	}
	f.Fix.Edits = editsOf(f, f.Fix.Set)
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

// raiseAlternative puts another finding's value where an alternative of a finding raises a
// setting to a lower one, unless a rule objects to it.
func (f *Finding) raiseAlternative(o Options, trials map[string]*trial, a map[string]string, key string, other *Finding) {
	value := other.Fix.Set[key]
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
	f.Fix.Notes[key] = asOther(other.ID)
	f.Fix.Edits = editsOf(f, f.Fix.Set)
}

func asOther(id string) string { return "as " + id + " says" }

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
	f.Fix.Notes[key] = asOther(of)
	f.Fix.Edits = editsOf(f, set)
	return true
}
