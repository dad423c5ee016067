package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

const keyInitialDelay = "group.initial.rebalance.delay.ms"

var _ = register(Rule{
	ID: "KGD305", Name: "initial-rebalance-delay-zero", Severity: Info, Since: "v0.1.0", Scope: PerCluster,
	Needs: []inspect.Fact{inspect.FactBrokerConfig},
	Doc: Doc{
		Summary: "Groups do not wait for further members when they start.",
		Why: "With group.initial.rebalance.delay.ms=0 the first member of an empty group gets all partitions at once, and each later one " +
			"rebalances the group again. The server.properties that Kafka ships has 0 for development and says that 3 seconds suit production.",
		Fix:   "Set group.initial.rebalance.delay.ms to 3000 on every broker.",
		Price: "an empty group starts three seconds later; brokers restart one by one",
		Refs:  []string{"KIP-134", "config/server.properties"},
	},
	Unknown: func(s *Subject) string { return s.unreadBrokerKey(keyInitialDelay) },
	Check: func(s *Subject, report func(Finding)) {
		for _, b := range s.Case.Brokers {
			if d, ok := brokerMillis(b, keyInitialDelay); ok && d == 0 {
				f := s.Finding(Info, fmt.Sprintf("%s=0 on %s: every member that starts rebalances the group", keyInitialDelay, brokerName(b)))
				f.Fix = &Fix{Set: map[string]string{keyInitialDelay: "3000"}}
				report(f)
				return
			}
		}
	},
})
