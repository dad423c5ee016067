package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD714", Name: "subscription-replaced", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A later subscribe() replaces an earlier one.",
		Why:     "subscribe() is not incremental: the list of the last call alone counts. A call in the poll loop also makes the group rebalance where the list differs from the one before.",
		Fix:     "Call subscribe() once, with all topics.",
		Price:   "none",
		Refs:    []string{"KafkaConsumer.subscribe"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActCallbackDropped); found {
			f := s.acted(Warning, fmt.Sprintf("%s replaces the subscription of %s, and has no rebalance callback (on_assign, listener): the callback of the first call is never called", a.Call, line(*a.Other, a.Where.File)), a)
			f.Fix.Summary = "Call subscribe() once, with the callback; where one of two calls is meant, put the second into an else branch."
			report(f)
		}
		if a, found := s.firstAct(inspect.ActResubscribes); found {
			if a.Topics == "" {
				report(s.acted(Warning, fmt.Sprintf("%s is called on each pass of the loop at %s: each call sets the subscription anew, and the group rebalances where it has changed", a.Call, line(*a.Other, a.Where.File)), a))
				return
			}
			report(s.acted(Warning, fmt.Sprintf("%s for %s replaces the subscription of %s: the list of the last call alone counts, and the group rebalances", a.Call, a.Topics, line(*a.Other, a.Where.File)), a))
		}
	},
})
