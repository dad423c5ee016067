package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

// staticSince is the first version of each client with static membership; "" where
// none has it.
var staticSince = map[inspect.Family]string{
	inspect.Java: "2.3", inspect.StreamsLib: "2.3", inspect.Librdkafka: "1.4", inspect.KafkaPython: "2.3", inspect.AIOKafka: "0.10",
	inspect.KafkaJS: "", inspect.KafkaGo: "",
}

var _ = register(Rule{
	ID: "KGD412", Name: "instance-id-unsupported", Severity: Warning, Since: "v0.1.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "group.instance.id is set, but this client has no static membership.",
		Why: "Static membership (KIP-345) needs brokers and clients of 2.3 or later. A client that does not know the setting ignores it, or refuses to " +
			"start, and each restart rebalances the group as before.",
		Fix:   "Upgrade the client, or leave group.instance.id out.",
		Price: "none",
		Refs:  []string{"KIP-345"},
	},
	Check: func(s *Subject, report func(Finding)) {
		v, ok := s.Set(keyInstance)
		since, known := staticSince[s.Family]
		if !ok || !known || since != "" && !s.before(since) {
			return
		}
		what := fmt.Sprintf("%s has no static membership", s.Family)
		if since != "" {
			what = fmt.Sprintf("%s has static membership from %s on", s.Family, since)
		}
		f := s.Finding(Warning, fmt.Sprintf("%s is set, but %s", v.Spelled, what), v)
		f.Fix = &Fix{Delete: []string{keyInstance}}
		report(f)
	},
})
