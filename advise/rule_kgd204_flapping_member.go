package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD204", Name: "flapping-member", Severity: Warning, Since: "v0.1.0", Scope: PerGroup,
	Needs:     []inspect.Fact{inspect.FactHistory},
	SymptomOf: []string{"KGD105", "KGD201", "KGD202", "KGD206", "KGD210", "KGD236"},
	Explains: map[inspect.Cause]int{
		inspect.PollIntervalExceeded: 4, inspect.RejoinTimedOut: 5, inspect.SessionExpired: 8,
		inspect.RestartedWithinSession: 4, inspect.MemberLeft: 2, inspect.UnknownCause: 3,
	},
	Doc: Doc{
		Summary: "One member keeps leaving the group and coming back.",
		Why: "Each departure and each rejoin rebalances the whole group. If it is always the same member, look at that process, its host and its " +
			"partitions before you change settings of the group.",
		Fix:   "Look at that member: its log, its host, the records of its partitions.",
		Price: "none",
		Refs:  []string{"KIP-345"},
	},
	Check: func(s *Subject, report func(Finding)) {
		// That a member went and came back is read, whether or not the log tells why.
		returned := goings(s.Timeline, func(d departure) bool { return d.back() && !planned(d.in) })
		for _, ds := range byLane(returned) {
			if len(ds) < flaps*s.sharing(ds[0]) {
				continue
			}
			often := times(ds)
			if all := goings(s.Timeline, func(d departure) bool { return d.lane() == ds[0].lane() }); len(all) > len(ds) {
				often = fmt.Sprintf("%d of %s", len(ds), times(all))
			}
			f := s.Finding(Warning, fmt.Sprintf("%s left and came back %s", ds[0].lane(), often))
			causes := make([]inspect.Rebalance, len(ds))
			for i, d := range ds {
				causes[i] = inspect.Rebalance{Cause: d.Cause}
			}
			f.Evidence = append(f.Evidence, causeCounts(causes)...)
			f.Fix = &Fix{}
			report(f)
		}
	},
})

// sharing is how many members go by the name of one: with the same client id on the
// same host each departure may be another's.
func (s *Subject) sharing(d departure) int {
	n := 0
	if s.Live != nil && d.InstanceID == nil {
		for _, m := range s.Live.Members {
			if m.InstanceID == nil && m.ClientID == d.ClientID && m.Host == d.Host {
				n++
			}
		}
	}
	return max(1, n)
}
