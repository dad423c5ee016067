package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD602", Name: "librdkafka-rebalance-faults", Severity: Warning, Since: "v0.1.0", Scope: PerClient,
	Families: []inspect.Family{inspect.Librdkafka},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Unknown:  versionUnknown(inspect.Librdkafka),
	Doc: Doc{
		Summary: "This version of librdkafka has faults in its rebalances that later ones do not.",
		Why: "Before 1.8.0 a rebalance that takes longer than the session lets the client think that its session has expired; before 2.0.0 a JoinGroup that meets a loading coordinator is not " +
			"tried again; 1.4 can loop on NOT_COORDINATOR after a failover.",
		Fix:   "Upgrade librdkafka to 2.3.0 or later.",
		Price: "an upgrade of the binding",
		Refs:  []string{"librdkafka CHANGELOG.md"},
	},
	Check: func(s *Subject, report func(Finding)) {
		s.checkBugs([]bug{
			{inspect.Librdkafka, "1.4", "1.5.2", Warning, "can loop on NOT_COORDINATOR after a failover", "1.6.0", nil},
			{inspect.Librdkafka, "1.0", "1.8", Info, "takes its session for expired when a rebalance takes longer than it", "1.8.0", nil},
			{inspect.Librdkafka, "1.8", "2.0", Info, "does not try JoinGroup again while the coordinator loads", "2.0.0", nil},
		}, report)
	},
})
