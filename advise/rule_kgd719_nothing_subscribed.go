package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD719", Name: "nothing-subscribed", Severity: Info, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A program polls, and nothing in it subscribes or assigns.",
		Why:     "A group exists only while a consumer has subscribed. A consumer that only polls reads nothing, or is refused, and its group is not listed.",
		Fix:     "Call subscribe() before the first poll.",
		Price:   "none",
		Refs:    []string{"KafkaConsumer.subscribe"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActNoSubscription); found {
			report(s.acted(Info, fmt.Sprintf("%s polls, and nothing in the file subscribes or assigns: %s has no member by it until it does", a.Call, theGroup(a.Group)), a))
		}
	},
})
