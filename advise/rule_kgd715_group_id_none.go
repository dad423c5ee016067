package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD715", Name: "group-id-none", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "group.id is None or null.",
		Why:     "subscribe() needs a group.id. Some versions of the wrappers around librdkafka pass None on as the text \"None\": a real group, which all such consumers share.",
		Fix:     "Set a group.id of its own for each application, or use assign() without one.",
		Price:   "none",
		Refs:    []string{"confluent_kafka Consumer"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActNoGroup); found {
			if s.Family != inspect.Librdkafka {
				return // None is kafka-python's way to say that there is no group, and Java has no text of it
			}
			report(s.acted(Warning, "group.id is None, which is not set: subscribe() needs a group.id, and a wrapper that makes the text \"None\" of it puts all such consumers into one group", a))
		}
	},
})
