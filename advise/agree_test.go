package advise_test

import (
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
)

// TestOneValueForASetting holds the findings about one group or one file to one value for
// a setting, unless one of them names the other's as an alternative.
func TestOneValueForASetting(t *testing.T) {
	for _, f := range fixtures(t) {
		if clash := twoValues(advise.Evaluate(&f.Case, advise.Options{}).Findings); clash != "" {
			t.Errorf("%s: %s", f.Path, clash)
		}
	}
}

// TestAgreeOnTheSessionOfALiveGroup is a member at the broker's minimum that was evicted
// for ten seconds of silence: the eviction asks for 15 s, the minimum for 45 s.
func TestAgreeOnTheSessionOfALiveGroup(t *testing.T) {
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	session := inspect.Ms(6 * time.Second)
	m := inspect.Member{MemberID: "m-1", ClientID: "c", Protocol: inspect.Classic, Session: session, Client: inspect.ClientGuess{Family: inspect.Java, Confidence: inspect.High}}
	left := inspect.Departure{MemberID: "m-0", ClientID: "c", Cause: inspect.SessionExpired, Session: session, Client: m.Client, Returned: inspect.ReturnedSameProcess, BackAfter: inspect.Ms(10 * time.Second)}
	c := inspect.Case{
		Groups: []inspect.Group{{ID: "g", Type: inspect.Classic, State: "Stable", Members: []inspect.Member{m},
			Limits: inspect.Limits{SessionMin: inspect.Ms(6 * time.Second), SessionMax: inspect.Ms(30 * time.Minute), From: "broker 1"}}},
		Timelines: []inspect.Timeline{{Group: "g", Rebalances: []inspect.Rebalance{{Time: inspect.Time{Time: at}, Cause: inspect.SessionExpired, Confidence: inspect.High,
			Members: inspect.Change{Left: []inspect.Departure{left}}}}}},
	}
	var told []string
	findings := advise.Evaluate(&c, advise.Options{}).Findings
	for _, f := range findings {
		if f.Fix != nil && f.BecauseOf == "" && f.Fix.Set["session.timeout.ms"] != "" {
			told = append(told, f.ID+" "+f.Fix.Set["session.timeout.ms"])
		}
	}
	if len(told) < 2 || twoValues(findings) != "" {
		t.Errorf("%v, %s", told, twoValues(findings))
	}
}

func twoValues(fs []advise.Finding) string {
	names := func(f advise.Finding, k, v string) bool {
		for _, a := range f.Fix.Alternatives {
			if a[k] == v {
				return true
			}
		}
		return false
	}
	type place struct{ about, key string }
	told := map[place]advise.Finding{}
	for _, f := range fs {
		if f.Fix == nil || f.BecauseOf != "" {
			continue
		}
		for k, v := range f.Fix.Set {
			at := place{f.Group + "|" + f.Subject, k}
			g, again := told[at]
			if again && g.Fix.Set[k] != v && !names(f, k, g.Fix.Set[k]) && !names(g, k, v) {
				return f.ID + " sets " + k + "=" + v + ", " + g.ID + " sets " + g.Fix.Set[k]
			}
			told[at] = f
		}
	}
	return ""
}
