package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD605", Name: "java-heartbeat-off", Severity: Info, Since: "v0.1.0", Scope: PerClient,
	Families: []inspect.Family{inspect.Java, inspect.StreamsLib},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Unknown:  versionUnknown(inspect.Java, inspect.StreamsLib),
	Doc: Doc{
		Summary: "This version of the Java client sends no heartbeats in parts of a rebalance.",
		Why: "Before 2.6.1 and 2.7.0 the heartbeat thread was switched off between JoinGroup and SyncGroup. In a group with a slow leader, or a restore of state in Streams, " +
			"members' sessions expired while they waited. Java before 2.0.1 and 2.1.0 also rebalances without end when patterns match topics that not all members may see.",
		Fix:   "Upgrade the client to 2.7.0 or later.",
		Price: "an upgrade of the library",
		Refs:  []string{"KAFKA-10134", "KAFKA-7364"},
	},
	Check: func(s *Subject, report func(Finding)) {
		what := "sends no heartbeats between JoinGroup and SyncGroup"
		s.checkBugs([]bug{
			{inspect.Java, "0.10.1", "2.6.1", Info, what, "2.7.0", nil},
			{inspect.StreamsLib, "0.10.1", "2.6.1", Info, what, "2.7.0", nil},
		}, report)
	},
})
