package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD603", Name: "librdkafka-rejoin-rejected", Severity: Info, Since: "v0.1.0", Scope: PerClient,
	Families: []inspect.Family{inspect.Librdkafka},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Unknown:  versionUnknown(inspect.Librdkafka),
	Doc: Doc{
		Summary: "After a missed poll interval this version of librdkafka cannot rejoin under the consumer protocol.",
		Why: "Under group.protocol=consumer librdkafka before 2.15.0 rejoins with a request that the broker refuses with INVALID_REQUEST, which is fatal: one slow batch ends the " +
			"consumer for good.",
		Fix:   "Upgrade librdkafka to 2.15.0 or later.",
		Price: "an upgrade of the binding",
		Refs:  []string{"librdkafka#5541"},
	},
	Check: func(s *Subject, report func(Finding)) {
		s.checkBugs([]bug{{inspect.Librdkafka, "2.4", "2.15", Info, "cannot rejoin after a missed poll interval under group.protocol=consumer", "2.15.0",
			(*Subject).ServerSide}}, report)
	},
})
