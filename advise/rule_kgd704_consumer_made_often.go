package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD704", Name: "consumer-made-often", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A program makes a consumer for each request, message or pass of a loop.",
		Why: "Each new consumer joins the group, and each one that ends leaves it or is evicted when its session expires. All members rebalance each time, and with consumers that come and go faster than " +
			"the group settles it never does.",
		Fix:   "Make the consumer once, when the program starts, and keep it.",
		Price: "none",
		Refs:  []string{"KafkaConsumer", "KIP-62"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActMadeOften); found {
			each := "in the handler that begins at " + line(*a.Other, a.Where.File)
			if a.Each {
				each = "on each pass of the loop at " + line(*a.Other, a.Where.File)
			}
			report(s.acted(Warning, fmt.Sprintf("a consumer is made %s (%s): each one joins the group, and the group rebalances for each", each, a.Call), a))
		}
	},
})
