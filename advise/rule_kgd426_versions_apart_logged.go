package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD426", Name: "versions-apart-logged", Severity: Error, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD409", "KGD412", "KGD419", "KGD420"},
	Doc: Doc{
		Summary: "Client and broker share no version of a request, as a log says.",
		Why: "Kafka 4.0 no longer accepts requests of clients from before Kafka 2.1 (KIP-896); the other way round, an old broker does not know what KIP-848 or static membership ask for. Either way the " +
			"request is answered by UNSUPPORTED_VERSION or never sent.",
		Fix:   "Upgrade the client library where it is too old for Kafka 4.0 (KIP-896); where the broker is the older one, upgrade it or turn off what it does not know.",
		Price: "an upgrade",
		Refs:  []string{"UNSUPPORTED_VERSION (35)", "KIP-896"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Error == "UNSUPPORTED_VERSION" && e.Sign != "unsupported" && e.Sign != "consumer_protocol" && !hasText(e, "CONSUMER group protocol") && !hasText(e, "roupInstanceId")
		})
		if len(es) == 0 {
			return
		}
		what := "client and broker share no version of a request of the group"
		for _, e := range es {
			if e.Sign == inspect.SignVersionDropped {
				what = fmt.Sprintf("a client sends a version of %s that this broker no longer supports: Kafka 4.0 dropped those of old clients (KIP-896); upgrade that client", e.API)
			}
			if e.Sign == inspect.SignUnsupportedRange {
				what = fmt.Sprintf("the client is too old for this broker: %s (%s); Kafka 4.0 no longer supports its request versions (KIP-896)", e.Reason, e.API)
			}
		}
		report(s.logged(Error, what, es))
	},
})
