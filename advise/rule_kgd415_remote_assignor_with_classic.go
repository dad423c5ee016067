package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD415", Name: "remote-assignor-with-classic", Severity: Error, Since: "v0.1.0", Scope: PerClient,
	Needs:     []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD409"},
	Doc: Doc{
		Summary: "group.remote.assignor is set under the classic protocol.",
		Why: "group.remote.assignor names an assignor in the broker, which only the consumer protocol has. The Java client of 3.9 and later refuses to start with it " +
			"unless group.protocol=consumer; earlier ones ignore it.",
		Fix:   "Delete group.remote.assignor, or set group.protocol=consumer.",
		Price: "the assignor of partition.assignment.strategy applies",
		Refs:  []string{"KIP-848", "ConsumerConfig.checkUnsupportedConfigsPostProcess"},
	},
	Check: func(s *Subject, report func(Finding)) {
		v, ok := s.Set(keyRemote)
		if !ok || s.ServerSide() {
			return
		}
		sev, what := Warning, "has no effect under the classic protocol"
		if s.Family == inspect.Java && !s.before("3.9") {
			sev, what = Error, "stops Java 3.9+ at start under the classic protocol"
		}
		f := s.Finding(sev, fmt.Sprintf("%s=%s %s", v.Spelled, v.Text, what), v)
		f.Fix = &Fix{Delete: []string{keyRemote}}
		report(f)
	},
})
