package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD602", Name: "librdkafka-rebalance-faults", Severity: Warning, Since: "v0.1.0", Scope: PerClient,
	Families: []inspect.Family{inspect.Librdkafka},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Unknown:  versionUnknown(inspect.Librdkafka),
	Doc: Doc{
		Summary: "This version of librdkafka has faults in its rebalances that later ones do not.",
		Why: "Before 1.8.0 a rebalance that takes longer than the session makes the client believe that its session has expired; before 2.0.0 a JoinGroup to a loading coordinator is not " +
			"retried; 1.4 can loop on NOT_COORDINATOR after a failover.",
		Fix:   "Upgrade librdkafka to 2.3.0 or later.",
		Price: "an upgrade of the binding",
		Refs:  []string{"librdkafka CHANGELOG.md"},
	},
	Check: func(s *Subject, report func(Finding)) {
		s.checkBugs([]bug{
			{inspect.Librdkafka, "1.4", "1.5.2", Warning, "can loop on NOT_COORDINATOR after a failover", "1.6.0", (*Subject).coordinatorLostLogged},
			{inspect.Librdkafka, "1.4", "1.5.2", Info, "can loop on NOT_COORDINATOR after a failover", "1.6.0", nil},
			{inspect.Librdkafka, "1.0", "1.8", Info, "believes its session expired when a rebalance takes longer than the session", "1.8.0", nil},
			{inspect.Librdkafka, "1.8", "2.0", Info, "does not retry JoinGroup while the coordinator loads", "2.0.0", nil},
		}, report)
	},
})

// coordinatorLostLogged reports whether a log of the consumer says that it lost its
// coordinator.
func (s *Subject) coordinatorLostLogged() bool {
	return s.anyLogged(func(e inspect.LogEvent) bool {
		return e.Kind == inspect.LogCoordinatorLost || e.Error == "NOT_COORDINATOR"
	})
}
