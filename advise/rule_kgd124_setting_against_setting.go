package advise

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
)

var _ = register(Rule{
	ID: "KGD124", Name: "setting-against-setting", Severity: Error, Since: "v0.2.0", Scope: PerClient,
	Needs:     []inspect.Fact{inspect.FactClientConfig},
	Uses:      []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD108"},
	Doc: Doc{
		Summary: "Two settings contradict what the library asks of them.",
		Why: "Libraries state which setting must be larger than which other: a request must be waited for longer than the broker may hold it back, a backoff's maximum must not be below " +
			"its start. Some check it and refuse to start, others give up a wait before its answer can arrive. The commonest form: one value was raised, the other left at its default.",
		Fix:   "Change the one of the two that is wrong.",
		Price: "the wait or the limit that the setting names changes",
		Refs:  []string{"inspect/settings/data/constraints.tsv"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if s.Config == nil {
			return
		}
		for _, c := range settings.Constraints(s.Family, s.Version) {
			left, right, ok := s.pair(c)
			if c.Rule == "" && ok && s.compares(c) && !c.Holds(left.number(), right.number()) {
				report(s.contradiction(c, left, right))
			}
		}
	},
})

// pair gives the two values of a constraint, of which the file sets one at least.
func (s *Subject) pair(c settings.Constraint) (left, right Value, ok bool) {
	left, okLeft := s.orDefault(c.Left)
	right, okRight := s.orDefault(c.Right)
	if !okLeft || !okRight || left.number() < 0 || right.number() < 0 || unitSlip(left) || unitSlip(right) {
		return left, right, false
	}
	return left, right, left.Origin != inspect.OriginDefault || right.Origin != inspect.OriginDefault
}

// compares reports whether the library compares the pair, which some do only for settings
// that the file sets.
func (s *Subject) compares(c settings.Constraint) bool {
	set := func(key string) bool {
		v, ok := s.Get(key)
		return ok && v.Origin != inspect.OriginDefault
	}
	return !slices.ContainsFunc(c.Set, func(k string) bool { return !set(k) }) && !slices.ContainsFunc(c.Unset, set)
}

// orDefault is Get, with the client's default of settings that no other rule compares.
func (s *Subject) orDefault(key string) (Value, bool) {
	if v, ok := s.Get(key); ok {
		return v, true
	}
	d, ok := defaultOf(s.Family, s.Version, key)
	if !ok {
		return Value{}, false
	}
	return s.defaultValue(key, d), true
}

// number is the value as the client compares it, -1 where it is no number.
func (v Value) number() int64 {
	if v.Timed {
		return v.D.Milliseconds()
	}
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func (s *Subject) contradiction(c settings.Constraint, left, right Value) Finding {
	sev, what := Info, "it has no effect beyond the other setting"
	switch c.Effect {
	case settings.Refused:
		sev, what = s.refusal(left, right)
	case settings.Cut:
		sev, what = Warning, "the client gives up before the answer can arrive"
	case settings.Warned:
		what = "the library only logs a warning"
	}
	relation := map[string]string{"<": "not below", "<=": "above", ">": "not above", ">=": "below"}[c.Op]
	plus := ""
	if c.Plus != 0 {
		plus = fmt.Sprintf(" + %d", c.Plus)
	}
	f := s.Finding(sev, fmt.Sprintf("%s is %s, %s %s%s (%s%s): %s", left.Spelled, left.say(), relation, right.Spelled, plus, right.say(), plus, what), left, right)
	f.Evidence = append(f.Evidence, "asked for in "+c.Source)
	f.Fix = s.reconcile(c, left, right)
	return f
}

// say is the value as a reader says it.
func (v Value) say() string {
	if v.Timed {
		return span(v.D)
	}
	return v.Text
}

// refusal says what a client does that checks a pair: nothing worse than a warning may be
// said of one that the logs show running, or whose version is not known.
func (s *Subject) refusal(values ...Value) (Severity, string) {
	leansOnDefault := false
	for _, v := range values {
		leansOnDefault = leansOnDefault || v.Origin == inspect.OriginDefault
	}
	switch {
	case s.runs():
		return Warning, fmt.Sprintf("%s would not start with that, yet it runs: the file is not in force, or the version differs", s.client())
	case s.Assumed && leansOnDefault:
		return Warning, s.client() + " does not accept that; defaults differ from version to version"
	}
	return Error, s.client() + " refuses to start"
}

// runs reports whether a log shows the consumer at work.
func (s *Subject) runs() bool {
	for _, e := range s.Case.LogEvents {
		switch e.Kind {
		case inspect.LogConfig, inspect.LogVersion, inspect.LogPause, inspect.LogError:
		default:
			if s.logsOf(e) {
				return true
			}
		}
	}
	return false
}

// reconcile makes a constraint hold by raising the lower one of the two; the alternative
// takes back what was set, where the default of the other holds.
func (s *Subject) reconcile(c settings.Constraint, left, right Value) *Fix {
	x := &Fix{}
	low, high := left, right
	if c.Op == "<" || c.Op == "<=" {
		low, high = right, left
	}
	strict := c.Op == "<" || c.Op == ">"
	if to := s.raised(low, high, strict, c.Plus); to != "" {
		x.Set = map[string]string{low.Key: to}
		x.Notes = notesFor(low.Key, "above "+high.Spelled+", rounded up")
	}
	for _, v := range []Value{high, low} {
		d, ok := defaultOf(s.Family, s.Version, v.Key)
		if !ok || v.Origin == inspect.OriginDefault {
			continue
		}
		back := s.defaultValue(v.Key, d)
		if holds := c.Holds(back.number(), right.number()); v.Key == c.Left && holds || v.Key == c.Right && c.Holds(left.number(), back.number()) {
			alternative := map[string]string{v.Key: d.Value}
			if x.Set == nil {
				x.Set = alternative
			} else if x.Set[v.Key] != d.Value {
				x.Alternatives = []map[string]string{alternative}
			}
			return x
		}
	}
	return x
}

// raised is a value above another one and what is added to it, not below the default; ""
// where the client does not accept it.
func (s *Subject) raised(v, above Value, strict bool, plus int64) string {
	to := above.number() + plus
	switch {
	case v.Timed:
		d := inspect.RoundUp(above.D)
		if strict && d <= above.D {
			d = inspect.RoundUp(above.D + max(above.D/4, time.Second))
		}
		to = max(d, s.DefaultOf(v.Key)).Milliseconds()
	case strict:
		to++
	}
	text := strconv.FormatInt(to, 10)
	if set, known := settings.Lookup(s.Family, s.Version, v.Key); known && set.Refuses(text) != "" {
		return ""
	}
	return text
}
