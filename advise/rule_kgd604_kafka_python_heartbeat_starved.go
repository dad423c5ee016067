package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD604", Name: "kafka-python-heartbeat-starved", Severity: Error, Since: "v0.1.0", Scope: PerClient,
	Families: []inspect.Family{inspect.KafkaPython},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Unknown:  versionUnknown(inspect.KafkaPython),
	Doc: Doc{
		Summary: "This version of kafka-python delays its heartbeats while it fetches.",
		Why: "In kafka-python 1.4.1 to 1.4.6 the heartbeat thread waits for a lock and a connection that the fetcher holds, for a minute and more on an idle topic. The session " +
			"expires although the consumer is healthy.",
		Fix:   "Upgrade kafka-python to 1.4.7 or later.",
		Price: "an upgrade of the library",
		Refs:  []string{"kafka-python#1418", "kafka-python#1787"},
	},
	Check: func(s *Subject, report func(Finding)) {
		s.checkBugs([]bug{{inspect.KafkaPython, "1.4.1", "1.4.7", Error, "delays heartbeats while it fetches, and its session expires", "1.4.7", nil}}, report)
	},
})
