package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD315", Name: "offsets-partition-load-failed", Severity: Error, Since: "v0.2.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A coordinator could not load a partition of __consumer_offsets, as its log says.",
		Why: "The groups of that partition have no coordinator until another broker leads it: their members get NOT_COORDINATOR from the very broker that FindCoordinator names, and look for it again " +
			"and again.",
		Fix:   "Move the leader of that partition (kafka-leader-election), or restart its broker; then look at the cause that the line names, and upgrade brokers 4.0 and 4.1.",
		Price: "the groups of the partition rejoin",
		Refs:  []string{"CoordinatorRuntime", "KAFKA-19862", "NOT_COORDINATOR (16)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(signIs(inspect.SignLoadFailed))
		if len(es) == 0 {
			return
		}
		what := "a coordinator could not load a partition of __consumer_offsets"
		if p := distinct(es, offsetsPartition); len(p) > 0 {
			what = "the coordinator could not load __consumer_offsets-" + list(p)
		}
		report(s.logged(Error, what+": its groups have no coordinator until the leader changes", es))
	},
})
