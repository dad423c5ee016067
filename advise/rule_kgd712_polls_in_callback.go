package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD712", Name: "polls-in-callback", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "Only the rebalance callback polls.",
		Why:     "Callbacks run within poll() or consume(). Where the first call stands in the callback itself, nothing calls it: the member joins, waits in wait-assign-rebalance_cb and reads nothing.",
		Fix:     "Call poll() or consume() in a loop that begins when the consumer has connected.",
		Price:   "none",
		Refs:    []string{"rd_kafka_consumer_poll"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActPollsInCallback); found {
			report(s.acted(Warning, fmt.Sprintf("%s is called only in the rebalance callback, which itself runs within poll or consume: nothing polls, and the callback never runs", a.Call), a))
		}
	},
})
