package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD238", Name: "callback-pending-logged", Severity: Warning, Since: "v0.3.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A client handed a rebalance to the application's callback and heard no more of it, as its debug log says.",
		Why: "librdkafka gives a new assignment to the application where a rebalance callback is registered, and fetches nothing until the application has called assign() with it (unassign() when partitions are taken). " +
			"The callback runs within poll() or consume() alone. Heartbeats go on meanwhile, so the group looks stable.",
		Fix:   "Poll from the start, also before there is anything to consume, and call assign() or unassign() in the callback in every case; or register no callback.",
		Price: "none",
		Refs:  []string{"rd_kafka_conf_set_rebalance_cb", "join state wait-assign-call, wait-rebalance_cb"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(signIs(inspect.SignCallbackPending))
		if len(es) == 0 {
			return
		}
		e := es[len(es)-1]
		f := s.logged(Warning, fmt.Sprintf("the rebalance was handed to the application's rebalance callback at %s, and nothing came back in the %s that the log goes on: the callback does not call assign() (unassign()), or it never runs because nothing calls poll() or consume()",
			clockAt(e), span(inspect.Or(e.Length, 0).Round(time.Second))), []inspect.LogEvent{e})
		f.Confidence = inspect.Medium
		report(f)
	},
})
