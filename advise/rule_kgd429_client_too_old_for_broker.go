package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

// firstForKafka4 are the first releases of clients that Kafka 4.0 and later still answers:
// it dropped the versions of requests that those before them send.
var firstForKafka4 = map[inspect.Family]string{inspect.Java: "2.1", inspect.StreamsLib: "2.1", inspect.Connect: "2.1", inspect.Brod: "4.4.2"}

var _ = register(Rule{
	ID: "KGD429", Name: "client-too-old-for-broker", Severity: Error, Since: "v0.2.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Uses:  []inspect.Fact{inspect.FactBrokerConfig, inspect.FactClientLog},
	Doc: Doc{
		Summary: "The client library is too old for the version of the brokers.",
		Why:     "Kafka 4.0 dropped the versions of requests that clients from before Kafka 2.1 send (KIP-896). Such a client gets UNSUPPORTED_VERSION, or its connection is closed at the first request of the group.",
		Fix:     "Upgrade the client library: Java to 2.1 or later, brod to 4.4.2 or later.",
		Price:   "an upgrade",
		Refs:    []string{"KIP-896", "UNSUPPORTED_VERSION (35)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		first, known := firstForKafka4[s.Family]
		if !known || s.Assumed || s.Version == "" || atLeast(s.Version, first) {
			return
		}
		version, from := s.brokerVersion()
		if version == "" || !atLeast(version, "4.0") {
			return
		}
		f := s.Finding(Error, fmt.Sprintf("%s %s is too old for Kafka %s (%s): since 4.0 brokers answer %s from %s on only (KIP-896)", s.Family, s.Version, version, from, s.Family, first))
		f.Fix = &Fix{}
		report(f)
	},
})

// brokerVersion is the release of the brokers, and where it was read; "" unknown. In a
// broker's log the line about Kafka's version is the broker's own.
func (s *Subject) brokerVersion() (version, from string) {
	for _, b := range s.Case.Brokers {
		if b.Version != "" {
			return b.Version, brokerName(b)
		}
	}
	brokers := map[string]bool{}
	for _, e := range s.Case.LogEvents {
		brokers[e.From.File] = brokers[e.From.File] || e.Broker != nil
	}
	for _, e := range s.Case.LogEvents {
		if e.Kind == inspect.LogVersion && brokers[e.From.File] && e.ClientID == "" {
			return e.Version, fmt.Sprintf("%s:%d", e.From.File, e.From.Line)
		}
	}
	return "", ""
}
