package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD202", Name: "slow-cooperative-poller", Severity: Error, Since: "v0.1.0", Scope: PerGroup,
	Needs:    []inspect.Fact{inspect.FactHistory},
	Explains: map[inspect.Cause]int{inspect.SyncPhaseExpired: 2},
	Doc: Doc{
		Summary: "A cooperative member that polls more slowly than its session was evicted while it rejoined.",
		Why: "The Java consumer stops its heartbeats between the answer to JoinGroup and its SyncGroup, which it sends at its next poll. Under a " +
			"cooperative assignor it keeps working in between: with more than session.timeout.ms between two polls the coordinator evicts the " +
			"healthy member (measured on 4.1.1: 6.000 s after the join phase with a session of 6 s).",
		Fix:   "Poll more often than the session (fewer records per poll), or raise session.timeout.ms above the time between two polls.",
		Price: "with a longer session a dead member is noticed later",
		Refs:  []string{"KIP-429", "AbstractCoordinator.HeartbeatThread"},
	},
	Check: func(s *Subject, report func(Finding)) {
		out := left(s.Timeline, func(d departure) bool { return d.Cause == inspect.SyncPhaseExpired })
		if len(out) == 0 {
			return
		}
		d := byLane(out)[0]
		what := "longer than its session"
		if d[0].Session != nil {
			what = "longer than its session of " + span(d[0].Session.Duration())
		}
		f := s.Finding(Error, fmt.Sprintf("%s needed %s between two polls while it rejoined, and was evicted %s", d[0].lane(), what, times(d)))
		f.Confidence = leastSure(d)
		f.Fix = &Fix{}
		report(f)
	},
})
