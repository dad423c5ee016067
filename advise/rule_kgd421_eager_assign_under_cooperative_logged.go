package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD421", Name: "eager-assign-under-cooperative-logged", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A program assigns partitions in the eager way under a cooperative assignor, as its log says.",
		Why: "Under cooperative-sticky a rebalance callback may only add and take partitions (incremental_assign, incremental_unassign). A program or binding that calls " +
			"assign() is refused, and consumes nothing.",
		Fix:   "Call incremental_assign and incremental_unassign in the rebalance callback; where the library around librdkafka makes the call, upgrade it (confluent-kafka-python from 1.6.1 on does it right), or use range or roundrobin.",
		Price: "none",
		Refs:  []string{"KIP-429", "confluent-kafka-python#1040"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(textHas("application *assign() call failed"))
		if len(es) == 0 {
			return
		}
		report(s.logged(Error, "assign() is refused under a cooperative assignor", es))
	},
})
