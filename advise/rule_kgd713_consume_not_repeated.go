package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD713", Name: "consume-not-repeated", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "sarama's Consume is called once and not in a loop.",
		Why:     "ConsumerGroup.Consume returns at each rebalance. Without a loop around it the member is gone after the first one, and its partitions go to others, or to nobody.",
		Fix:     "Call Consume in a loop until the context is done.",
		Price:   "none",
		Refs:    []string{"sarama ConsumerGroup.Consume"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActConsumedOnce); found {
			report(s.acted(Warning, fmt.Sprintf("%s is called once and not in a loop: it returns at each rebalance, and the member is gone after the first one", a.Call), a))
			return
		}
		if a, found := s.firstAct(inspect.ActClaimRead); found {
			report(s.acted(Info, fmt.Sprintf("%s is closed at each rebalance: return from ConsumeClaim then, and call Consume again in a loop; nothing in this file calls it", a.Call), a))
		}
	},
})
