package diagnose

import (
	"fmt"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// moment is so many seconds after noon of 21 November 2026.
func moment(at float64) inspect.Time {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return inspect.At(noon.Add(time.Duration(at * float64(time.Second))).Round(time.Millisecond))
}

// troubled is a group of one broker and host whose member is put out at some moments
// of the window, in seconds.
func troubled(name string, broker int32, host string, cause inspect.Cause, at ...float64) Diagnosis {
	d := Diagnosis{Group: name, Coordinator: &inspect.BrokerRef{ID: broker}}
	for _, s := range at {
		d.Rebalances = append(d.Rebalances, inspect.Rebalance{Time: moment(s), Cause: cause, Confidence: inspect.High,
			Members: inspect.Change{Left: []inspect.Departure{{ClientID: "c-" + name, Host: host, Cause: cause, Confidence: inspect.High,
				LeftBetween: [2]inspect.Time{moment(s), moment(s)}}}}})
	}
	return d
}

// every is a moment each so many seconds of an hour.
func every(step, from float64) (out []float64) {
	for at := from; at < 3600; at += step {
		out = append(out, at)
	}
	return out
}

func TestSharedCauseIsNoCoincidence(t *testing.T) {
	other := troubled("calm", 9, "h9", inspect.SessionExpired, 3000)
	for name, c := range map[string]struct {
		ds   []Diagnosis
		want string
	}{
		"a broker": {[]Diagnosis{troubled("a", 2, "h1", inspect.SessionExpired, 100), troubled("b", 2, "h2", inspect.SessionExpired, 101),
			troubled("c", 2, "h3", inspect.SessionExpired, 103), other}, "broker 2 [a b c]"},
		"a machine": {[]Diagnosis{troubled("a", 1, "h1", inspect.SessionExpired, 100), troubled("b", 2, "h1", inspect.SessionExpired, 130),
			troubled("c", 3, "h1", inspect.SessionExpired, 145), other}, "host h1 [a b c]"},
		"coordinators that moved": {[]Diagnosis{troubled("a", 1, "h1", inspect.CoordinatorMoved, 100), troubled("b", 2, "h2", inspect.CoordinatorMoved, 120),
			troubled("c", 3, "h3", inspect.CoordinatorMoved, 135), other}, "coordinator  [a b c]"},
		"groups that are always in trouble": {[]Diagnosis{troubled("a", 2, "h1", inspect.SessionExpired, every(30, 1)...),
			troubled("b", 2, "h2", inspect.SessionExpired, every(40, 2)...), troubled("c", 2, "h3", inspect.SessionExpired, every(50, 3)...), other}, ""},
		"everybody on one host": {[]Diagnosis{troubled("a", 1, "h1", inspect.SessionExpired, 100), troubled("b", 2, "h1", inspect.SessionExpired, 130),
			troubled("c", 3, "h1", inspect.SessionExpired, 145)}, ""},
		"three of a broker's twenty": {append(healthyOf(2, 17), troubled("a", 2, "h1", inspect.SessionExpired, 100), troubled("b", 2, "h2", inspect.SessionExpired, 101),
			troubled("c", 2, "h3", inspect.SessionExpired, 103), other), "moment  [a b c]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, s := range correlate(c.ds, time.Hour) {
				got += fmt.Sprintf("%s %s %v", s.Kind, s.Name, s.Groups)
			}
			if got != c.want {
				t.Errorf("shared %q, want %q", got, c.want)
			}
		})
	}
}

func healthyOf(broker int32, n int) (out []Diagnosis) {
	for i := range n {
		out = append(out, Diagnosis{Group: fmt.Sprintf("ok-%d", i), Coordinator: &inspect.BrokerRef{ID: broker}})
	}
	return out
}

// Who holds a rebalance up shows in who stopped committing when.
func TestWaitingForWhom(t *testing.T) {
	pace := func(name string, at, before float64) committer {
		return committer{name, commitTimes{moment(at), moment(before)}}
	}
	for name, c := range map[string]struct {
		seen  []committer
		whom  string
		began float64
	}{
		"the only one that goes on":            {[]committer{pace("a", 100, 99), pace("b", 130, 129), pace("c", 101, 100)}, "b", 101},
		"the one that had stopped before":      {[]committer{pace("a", 100, 99), pace("b", 112, 111), pace("c", 112.4, 111.4)}, "a", 112.4},
		"all at once":                          {[]committer{pace("a", 100, 99), pace("b", 100.5, 99.5), pace("c", 101, 100)}, "", 101},
		"a slow timer has not stopped earlier": {[]committer{pace("a", 96, 91), pace("b", 100.5, 95.5), pace("c", 101, 96)}, "", 101},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Waiting{}
			w.suspect(c.seen)
			got := ""
			if len(w.For) > 0 {
				got = w.For[0]
			}
			if got != c.whom || len(w.For) > 1 || !w.Began.Equal(moment(c.began).Time) {
				t.Errorf("waits for %v since %v, want %q since %v", w.For, w.Began, c.whom, moment(c.began))
			}
		})
	}
}

// TestATriageCounts holds how many rebalances of how many groups a triage says, and that
// what was not read is not counted as calm.
func TestATriageCounts(t *testing.T) {
	sick := func(name string, n int) Diagnosis {
		d := troubled(name, 1, "h1", inspect.SessionExpired, every(3600/float64(n), 0)...)
		d.Cause, d.Verdict = inspect.SessionExpired, Unstable
		return d
	}
	started := Diagnosis{Group: "new", Cause: inspect.MemberJoined, Verdict: OK, Rebalances: make([]inspect.Rebalance, 2)}
	calm := Diagnosis{Group: "calm", Verdict: OK}
	unread := Diagnosis{Group: "hidden", Summary: inspect.Summary{Unread: true}}
	for want, groups := range map[string][]Diagnosis{
		"58 rebalances in 2 of 4 groups; in 1 more, members only joined (2 rebalances)": {sick("a", 50), sick("b", 8), started, calm, unread},
		"1 rebalance in 1 of 1 group":             {sick("a", 1)},
		"none of 2 groups rebalanced":             {calm, {Group: "calm too", Verdict: OK}, unread},
		"of 1 group nothing of the past was read": {unread},
		"1 of 2 groups now rebalancing":           {calm, {Group: "waits", Verdict: Stuck, Waiting: &Waiting{}}},
	} {
		tr := Triage{Groups: groups}
		if got := tr.Counts(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
