package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD419", Name: "consumer-protocol-refused-logged", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD409"},
	Doc: Doc{
		Summary: "The cluster does not know the consumer protocol of KIP-848, as a client's log says.",
		Why: "group.protocol=consumer needs brokers from Kafka 4.0 with the feature group.version at 1 or more; otherwise the heartbeat is answered by " +
			"UNSUPPORTED_VERSION and the member ends.",
		Fix:   "Set group.protocol=classic until the cluster has group.version 1 (kafka-features describe shows it).",
		Price: "none",
		Refs:  []string{"KIP-848", "UNSUPPORTED_VERSION (35)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(textHas("does not support the new CONSUMER group protocol"))
		if len(es) == 0 {
			return
		}
		report(s.logged(Error, "the cluster refuses group.protocol=consumer", es))
	},
})
