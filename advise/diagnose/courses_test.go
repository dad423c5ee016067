package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
)

// The number that a fix builds on is in the table, and where it is more than the times
// beside it add up to, the page says what it is made of.
func TestCoursesAddUp(t *testing.T) {
	at := func(s float64) inspect.Time {
		return inspect.At(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(time.Duration(s * float64(time.Second))))
	}
	clock := func(t inspect.Time) string { return t.Format("15:04:05") }
	departure := func(cause inspect.Cause, back, stall, interval float64) *Diagnosis {
		l := &inspect.Departure{ClientID: "a", Cause: cause, LastCommit: at(0), LastAdvance: at(0), LeftBetween: [2]inspect.Time{at(20), at(27)},
			Silent: &[2]inspect.Millis{20_000e6, 27_000e6}, BackAfter: inspect.Ms(time.Duration(back * 1e9))}
		if stall > 0 {
			l.Stall = inspect.Ms(time.Duration(stall * 1e9))
		}
		if interval > 0 {
			l.Interval = inspect.Ms(time.Duration(interval * 1e9))
		}
		return &Diagnosis{Cause: cause, Occurrences: []Occurrence{{Departure: l}}}
	}
	for name, c := range map[string]struct {
		d                 *Diagnosis
		head, silent, sum string
	}{
		"a timer commits":   {departure(inspect.PollIntervalExceeded, 39.2, 45, 5), "BETWEEN POLLS", "45s", "45s between polls: 39s from its last commit to its return + its commit interval of 5s, as the work may have begun right after a commit; rounded up"},
		"each batch":        {departure(inspect.PollIntervalExceeded, 39, 39, 0), "BETWEEN POLLS", "39s", ""},
		"session expired":   {departure(inspect.SessionExpired, 39, 45, 5), "WITHOUT COMMIT", "39s", ""},
		"no return, a poll": {departure(inspect.PollIntervalExceeded, 39, 0, 0), "BETWEEN POLLS", "39s", ""},
		"rounded":           {departure(inspect.SessionExpired, 39.4, 0, 0), "WITHOUT COMMIT", "40s", ""},
	} {
		got, sum := c.d.Courses(clock), ""
		if n := len(got.Notes); n > 1 {
			sum = got.Notes[1] // below what the range of the silence means
		}
		if head := got.Heads[len(got.Heads)-1]; head != c.head || got.List[0].Silent != c.silent || sum != c.sum {
			t.Errorf("%s: %s %s %q, want %s %s %q", name, head, got.List[0].Silent, sum, c.head, c.silent, c.sum)
		}
	}
}

// A silence shorter than the timeout that is said to have ended it, or a range, says why.
func TestSilenceSaysWhatItCountsFrom(t *testing.T) {
	const counts, before = "SILENT counts from its last commit, ", "SILENT is a range: LEFT is when the others had rejoined, up to "
	for name, c := range map[string]struct {
		cause        inspect.Cause
		least, most  time.Duration
		session, max time.Duration
		want         string
	}{
		"as long as the session": {inspect.SessionExpired, 46 * time.Second, 46 * time.Second, 45 * time.Second, time.Hour, ""},
		"shorter":                {inspect.SessionExpired, 42 * time.Second, 42 * time.Second, 45 * time.Second, time.Hour, counts + "session.timeout.ms from its last heartbeat, which would be 3s older at least"},
		"a range":                {inspect.SessionExpired, 46 * time.Second, 55 * time.Second, 45 * time.Second, time.Hour, before + "9s late"},
		"a range about it":       {inspect.SessionExpired, 41 * time.Second, 46 * time.Second, 45 * time.Second, time.Hour, before + "5s late; session.timeout.ms (45s) lies in each"},
		"a poll interval":        {inspect.PollIntervalExceeded, 15 * time.Second, 19 * time.Second, 10 * time.Second, 20 * time.Second, counts + "max.poll.interval.ms from its last poll, which would be 1s older at least; " + before + "4s late"},
		"others silent too":      {inspect.SessionExpired, 12 * time.Second, 46 * time.Second, 45 * time.Second, time.Hour, "for 32s of SILENT nobody else committed either (an idle topic, or a paused broker): its own silence is 12s at least"},
		"a close":                {inspect.MemberLeft, time.Second, time.Second, 10 * time.Second, 20 * time.Second, ""},
	} {
		l := &inspect.Departure{Cause: c.cause, Silent: &[2]inspect.Millis{inspect.Millis(c.least), inspect.Millis(c.most)}, Session: inspect.Ms(c.session), Rebalance: inspect.Ms(c.max)}
		if name == "others silent too" {
			l.Common = inspect.Ms(32 * time.Second)
		}
		d := &Diagnosis{Cause: c.cause, Occurrences: []Occurrence{{Departure: l}}}
		if got := strings.Join(d.Courses(func(inspect.Time) string { return "-" }).Notes, "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A rebalance of which nothing tells when it began is not called stuck, and its end is
// not given as a time that moves with the clock of whoever asks.
func TestARebalanceJustSeenIsNotStuck(t *testing.T) {
	now := inspect.At(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	of := func(state string, seen ...time.Duration) Diagnosis {
		c := &inspect.Case{Window: inspect.Window{From: inspect.At(now.Add(-time.Hour)), To: now},
			Groups: []inspect.Group{{ID: "g", Type: inspect.Classic, State: state, At: now, Members: []inspect.Member{{MemberID: "a-1", ClientID: "a", Rebalance: inspect.Ms(5 * time.Minute)}}}}}
		for _, ago := range seen {
			c.Observations = append(c.Observations, inspect.Observation{Group: "g", State: state, From: inspect.At(now.Add(-ago)), To: inspect.At(now.Add(-ago))})
		}
		return Group(c, "g", Options{})
	}
	clock := func(t inspect.Time) string { return t.Format("15:04:05") }
	d := of("PreparingRebalance")
	if text := d.Waiting.Text(clock); d.Verdict == Stuck || strings.Contains(text, ":0") || !strings.Contains(text, "since when is not known; it takes the longest rebalance timeout of its members (5m) at most") {
		t.Errorf("%s: %s", d.Verdict, text)
	}
	d = of("PreparingRebalance", 40*time.Second, 20*time.Second)
	if text := d.Waiting.Text(clock); d.Verdict != Stuck || !strings.Contains(text, "since about 11:59:20") || !strings.Contains(text, "ends by about 12:04:20") {
		t.Errorf("%s: %s", d.Verdict, text)
	}
}

// A group without members says so first, whatever happened before.
func TestAnEmptyGroupSaysSoFirst(t *testing.T) {
	at := inspect.At(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	lag := int64(1250)
	d := Diagnosis{Verdict: Unstable, State: "Empty", Lag: &lag, Live: &inspect.Group{Lag: &lag}, Rebalances: []inspect.Rebalance{{Time: at}}, Summary: inspect.Summary{Evictions: 1}}
	word, text, more := d.Headline(at.Time, func(t inspect.Time) string { return t.Format("15:04:05") })
	if word != Empty || text != "no members since 12:00:00, lag 1,250" || more != "UNSTABLE before: 1 rebalance, 1 eviction" {
		t.Errorf("%s: %s / %s", word, text, more)
	}
}

// A member that needs longer each time is pointed out where that was measured, and not
// where its times only vary, are few, or are assumed.
func TestAGapThatRisesIsPointedOut(t *testing.T) {
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	clock := func(t inspect.Time) string { return t.Format("15:04") }
	of := func(cause inspect.Cause, assumed string, seconds ...float64) *Diagnosis {
		d := &Diagnosis{Cause: cause}
		for i, s := range seconds {
			at := inspect.At(start.Add(time.Duration(i) * 4 * time.Minute))
			l := &inspect.Departure{ClientID: "a", Cause: cause, LastCommit: at, LeftBetween: [2]inspect.Time{at, at},
				BackAfter: inspect.Ms(time.Duration(s * 1e9)), Stall: inspect.Ms(time.Duration(s * 1e9))}
			if assumed != "" {
				l.Assumed = []string{assumed}
			}
			d.Occurrences = append(d.Occurrences, Occurrence{Departure: l})
		}
		return d
	}
	rises := []float64{76, 77, 78, 79.5, 81, 83}
	for name, c := range map[string]struct {
		d    *Diagnosis
		want string
	}{
		"rises":         {of(inspect.PollIntervalExceeded, "", rises...), "rising: 1m16s at 12:00, 1m23s at 12:20"},
		"varies":        {of(inspect.PollIntervalExceeded, "", 76, 83, 75, 82, 77, 83), ""},
		"the same":      {of(inspect.PollIntervalExceeded, "", 76, 76.1, 76.2, 76.3, 76.4, 76.5), ""},
		"few":           {of(inspect.PollIntervalExceeded, "", 76, 78, 80, 82, 84), ""},
		"assumed":       {of(inspect.PollIntervalExceeded, "max.poll.interval.ms", rises...), ""},
		"another cause": {of(inspect.SessionExpired, "", rises...), ""},
	} {
		if got := strings.Join(c.d.Courses(clock).Notes, "\n"); c.want == "" && strings.Contains(got, "rising") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A setting is of all members; that only one was affected is said, and not said where
// others were.
func TestASettingSaysForWhomItIs(t *testing.T) {
	left := func(names ...string) *Diagnosis {
		d := &Diagnosis{Cause: inspect.SessionExpired, Member: names[0],
			Findings: []advise.Finding{{Fix: &advise.Fix{Set: map[string]string{"session.timeout.ms": "30000"}}}}}
		for _, n := range names {
			r := inspect.Rebalance{Cause: inspect.SessionExpired}
			r.Members.Before, r.Members.After = 3, 2
			r.Members.Left = []inspect.Departure{{ClientID: n, MemberID: n + "-1", Cause: inspect.SessionExpired}}
			d.Rebalances = append(d.Rebalances, r)
		}
		d.Occurrences = []Occurrence{{Rebalance: &d.Rebalances[0], Departure: &d.Rebalances[0].Members.Left[0]}}
		return d
	}
	own := left("a", "a")
	own.Findings[0].Fix.Set = map[string]string{"group.instance.id": "orders-1"} // each has its own
	if got := own.ForWhom(); got != "" {
		t.Errorf("of a setting that differs: %q", got)
	}
	alone := left("a")
	alone.Rebalances[0].Members.Before, alone.Rebalances[0].Members.After = 1, 0
	for want, d := range map[string]*Diagnosis{
		"set it on all members; only a was affected: look at its host first": left("a", "a"),
		"set it on all members: b left like a":                               left("a", "b"),
		"":                                                                   alone,
	} {
		if got := d.ForWhom(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
