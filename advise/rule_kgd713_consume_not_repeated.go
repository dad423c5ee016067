package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD713", Name: "consume-not-repeated", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "Consume or poll is called once and not in a loop.",
		Why:     "A consumer joins its group and takes its partitions within poll(), which takes several calls: the first one mostly returns nothing. sarama's ConsumerGroup.Consume returns at each rebalance. Without a loop around it the member is gone after the first one, and its partitions go to others, or to nobody.",
		Fix:     "Call it in a loop until the program ends.",
		Price:   "none",
		Refs:    []string{"sarama ConsumerGroup.Consume"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActConsumedOnce); found {
			report(s.acted(Warning, fmt.Sprintf("%s is called once and not in a loop: it returns at each rebalance, and the member is gone after the first one", a.Call), a))
			return
		}
		if a, found := s.firstAct(inspect.ActPolledOnce); found {
			report(s.acted(Warning, fmt.Sprintf("%s is called once and not in a loop: joining the group and the assignment of partitions happen within several calls, so the first one mostly returns nothing; with auto.offset.reset=latest records from before the assignment do not come either", a.Call), a))
			return
		}
		if a, found := s.firstAct(inspect.ActClaimRead); found {
			report(s.acted(Info, fmt.Sprintf("%s is closed at each rebalance: return from ConsumeClaim then, and call Consume again in a loop; nothing in this file calls it", a.Call), a))
		}
	},
})
