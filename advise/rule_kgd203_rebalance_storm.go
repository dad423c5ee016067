package advise

import (
	"fmt"
	"sort"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD203", Name: "rebalance-storm", Severity: Error, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactHistory},
	SymptomOf: []string{"KGD105", "KGD201", "KGD202", "KGD204", "KGD206", "KGD210", "KGD211", "KGD212", "KGD302",
		"KGD101", "KGD102", "KGD103", "KGD104"},
	Explains: map[inspect.Cause]int{
		inspect.PollIntervalExceeded: 5, inspect.SyncPhaseExpired: 4, inspect.SessionExpired: 9,
		inspect.RestartedWithinSession: 5, inspect.MemberLeft: 4, inspect.UnknownCause: 2,
	},
	Doc: Doc{
		Summary: "The group rebalanced at least ten times within an hour without a deploy.",
		Why: "A classic rebalance stops every member until the slowest has rejoined, so a group that rebalances every few minutes consumes little. " +
			"Storms sustain themselves: work that could not be committed is repeated.",
		Fix:   "Fix the most frequent cause first; kgdiag history lists each rebalance with its cause.",
		Price: "none",
		Refs:  []string{"KIP-134", "KIP-429"},
	},
	Check: func(s *Subject, report func(Finding)) {
		var unplanned []inspect.Rebalance
		for _, r := range s.Timeline.Rebalances {
			if !planned(r) {
				unplanned = append(unplanned, r)
			}
		}
		n, from, to := busiestHour(unplanned)
		if n < stormInHour {
			return
		}
		sev := Warning
		if n >= 2*stormInHour {
			sev = Error
		}
		f := s.Finding(sev, fmt.Sprintf("%d rebalances within an hour, %s; causes: %s", n, fromTo(from, to), list(causeCounts(unplanned))))
		f.Fix = &Fix{}
		if f.mostly = mostFrequent(unplanned); f.mostly != "" {
			f.Fix.Summary = fmt.Sprintf("Fix the most frequent cause first: %s (kgdiag explain %s).", f.mostly.Label(), f.mostly)
		}
		report(f)
	},
})

// busiestHour slides an hour over rebalances that are ordered by time.
func busiestHour(rs []inspect.Rebalance) (most int, from, to inspect.Time) {
	first := 0
	for i, r := range rs {
		for r.Time.Sub(rs[first].Time.Time) > time.Hour {
			first++
		}
		if n := i - first + 1; n > most {
			most, from, to = n, rs[first].Time, r.Time
		}
	}
	return most, from, to
}

// mostFrequent is the cause of at least half of the rebalances, but for members that
// joined: a return is a consequence. "" where no cause is so frequent.
func mostFrequent(rs []inspect.Rebalance) inspect.Cause {
	counts, all := map[inspect.Cause]int{}, 0
	for _, r := range rs {
		if r.Cause != inspect.MemberJoined {
			counts[r.Cause]++
			all++
		}
	}
	for _, c := range sortedKeys(counts) {
		if c != inspect.UnknownCause && 2*counts[c] >= all {
			return c
		}
	}
	return ""
}

// causeCounts says "exceeded poll interval x6", the commonest first.
func causeCounts(rs []inspect.Rebalance) []string {
	counts := map[string]int{}
	for _, r := range rs {
		counts[r.Cause.Label()]++
	}
	names := sortedKeys(counts)
	sort.SliceStable(names, func(i, j int) bool { return counts[names[i]] > counts[names[j]] })
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("%s x%d", n, counts[n])
	}
	return out
}
