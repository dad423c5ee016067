package advise

import (
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// endedIt are the words of a program that the exception ended a thread or the process.
var endedIt = pattern.New(`(?i)exception in thread|uncaught|unhandled exception|thread dying`)

var _ = register(Rule{
	ID: "KGD235", Name: "commit-in-rebalance-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD215", "KGD219", "KGD220", "KGD232"},
	Doc: Doc{
		Summary: "A commit was refused because the group was rebalancing, as a client's log says.",
		Why: "While a rebalance is under way, and in a cooperative one a member keeps its partitions meanwhile, commits are answered by REBALANCE_IN_PROGRESS. The member is still in the group: poll() ends the rebalance, and the " +
			"commit succeeds after it if the partition stayed.",
		Fix:   "Call poll() and commit again; commit in the listener before partitions are given up.",
		Price: "none",
		Refs:  []string{"RebalanceInProgressException", "REBALANCE_IN_PROGRESS (27)", "KIP-429"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Broker == nil && e.Kind == inspect.LogCommitFailed && e.Error == "REBALANCE_IN_PROGRESS"
		})
		sev := Info
		for _, l := range s.lanes() {
			for i, e := range l.events {
				if l.rebalancing(i) { // the application was told that the member is out of the group
					sev, es = Warning, append(es, e)
				}
			}
		}
		if len(es) == 0 {
			return
		}
		if slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return endedIt.MatchString(e.Text) }) {
			sev = Warning
		}
		report(s.logged(sev, "a commit came while the group was rebalancing (REBALANCE_IN_PROGRESS), because a member joined or left or was late; this consumer is still a member and not evicted: poll, and commit again", es))
	},
})
