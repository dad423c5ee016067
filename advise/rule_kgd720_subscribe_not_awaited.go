package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD720", Name: "subscribe-not-awaited", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "KafkaJS' run() is called while subscribe() is under way.",
		Why:     "subscribe() returns a promise: with a pattern it asks the brokers for the topics first. run() begins with the topics that are known by then, and refuses those that come later.",
		Fix:     "Await every subscribe() before run().",
		Price:   "none",
		Refs:    []string{"kafkajs src/consumer/index.js"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActNotAwaited); found {
			report(s.acted(Warning, fmt.Sprintf("%s returns a promise that nothing awaits, and run (%s) follows: it begins before the subscription is there; write await %s", a.Call, line(*a.Other, a.Where.File), a.Call), a))
		}
	},
})
