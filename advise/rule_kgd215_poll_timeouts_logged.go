package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD215", Name: "poll-timeouts-logged", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD105", "KGD120", "KGD601", "KGD113", "KGD216"},
	Doc: Doc{
		Summary: "A consumer left the group because it was not polled in time, as a log says.",
		Why: "A consumer that is not polled for max.poll.interval.ms (a Connect worker: rebalance.timeout.ms) leaves the group by itself. The log states the cause; " +
			"how long the work took stands in it only where the library says so.",
		Fix:   "Raise max.poll.interval.ms above the longest time between two polls, or hand out fewer records a poll; add the configuration (-f FILE) for numbers.",
		Price: "a consumer that hangs is noticed later, and a rebalance may wait for a slow member that long",
		Refs:  []string{"KIP-62", "log texts of the client libraries"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool { return e.Kind == inspect.LogPollTimeout })
		if len(es) == 0 {
			return
		}
		report(s.logged(Error, "consumers left because they were not polled in time", es))
	},
})
