package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD711", Name: "callback-without-assign", Severity: Error, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A rebalance callback of librdkafka does not assign the partitions.",
		Why:     "With a rebalance callback librdkafka leaves the assignment to the application: until the callback calls assign() (or incremental_assign) the member stays in wait-assign-rebalance_cb. It sends heartbeats and reads nothing.",
		Fix:     "Call assign() with the new partitions and unassign() when they are revoked, or remove the callback.",
		Price:   "none",
		Refs:    []string{"rd_kafka_conf_set_rebalance_cb"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActNoAssign); found {
			if a.Call == "go.application.rebalance.enable" {
				f := s.acted(Error, a.Call+" is true, which hands each rebalance to the program as an event (AssignedPartitions, RevokedPartitions), and nothing in the file calls Assign: the member may read nothing", a)
				f.Fix.Summary = "Take " + a.Call + " out, or call Assign(e.Partitions) at AssignedPartitions and Unassign() at RevokedPartitions."
				report(f)
				return
			}
			report(s.acted(Error, "a rebalance callback is set (rebalance_cb), and nothing in the file calls assign: the assignment then waits for it, the member reads nothing, and the group's next rebalance waits too", a))
		}
	},
})
