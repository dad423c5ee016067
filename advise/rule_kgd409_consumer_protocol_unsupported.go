package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD409", Name: "consumer-protocol-unsupported", Severity: Error, Since: "v0.1.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Uses:  []inspect.Fact{inspect.FactBrokerConfig},
	Doc: Doc{
		Summary: "group.protocol=consumer is set, but the client or the brokers do not support it.",
		Why: "The consumer protocol (KIP-848) needs a Java client of 3.7 or later or librdkafka of 2.12 or later, and brokers that offer it: Kafka 4.0, or 3.7 to 3.9 with " +
			"an early access switch. An older client does not know the key; older brokers answer UNSUPPORTED_VERSION and the consumer ends.",
		Fix:   "Set group.protocol=classic until clients and brokers support the consumer protocol.",
		Price: "rebalances still stop all members",
		Refs:  []string{"KIP-848", "group.coordinator.rebalance.protocols"},
	},
	Check: func(s *Subject, report func(Finding)) {
		v, ok := s.Set(keyProtocol)
		if !ok || !s.ServerSide() {
			return
		}
		why := s.lacksProtocol()
		if why == "" {
			for _, b := range s.Case.Brokers {
				if p, ok := b.Config["group.coordinator.rebalance.protocols"]; ok && !strings.Contains(p, "consumer") {
					why = fmt.Sprintf("broker %d offers %s only", b.ID, p)
				}
			}
		}
		if why == "" {
			return
		}
		f := s.Finding(Error, fmt.Sprintf("%s=%s, but %s", v.Spelled, v.Text, why), v)
		f.Fix = &Fix{Set: map[string]string{keyProtocol: "classic"}}
		report(f)
	},
})

// lacksProtocol says why a client cannot use the consumer protocol; "" if it can,
// or if that is not known.
func (s *Subject) lacksProtocol() string {
	switch {
	case s.Family == inspect.Java && s.before("3.7"):
		return "Java " + s.Version + " does not know it (3.7 and later do)"
	case s.Family == inspect.Librdkafka && s.before("2.4"):
		return "librdkafka " + s.Version + " does not know it (2.12 and later do)"
	case s.Family == inspect.Librdkafka && s.before("2.12"):
		return "librdkafka " + s.Version + " has it as a preview only (2.12 and later have it)"
	case s.Family == inspect.Sarama, s.Family == inspect.KafkaGo, s.Family == inspect.KafkaJS, s.Family == inspect.AIOKafka:
		return string(s.Family) + " does not have it"
	}
	return ""
}
