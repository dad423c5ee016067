package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

// classicKeys are the settings that belong to the classic protocol alone: with
// group.protocol=consumer the broker decides (KIP-848).
var classicKeys = []string{keyAssignors, keyHeartbeat, keySession, "group.protocol.type"}

var _ = register(Rule{
	ID: "KGD401", Name: "classic-key-with-consumer-protocol", Severity: Error, Since: "v0.1.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Uses:  []inspect.Fact{inspect.FactGroupConfig},
	Doc: Doc{
		Summary: "A setting of the classic protocol is used together with group.protocol=consumer.",
		Why: "Under KIP-848 session timeout, heartbeat interval and assignor are the broker's. The Java client from 4.0 on and librdkafka refuse " +
			"to start with them; Java 3.7 to 3.9 ignores them silently.",
		Fix:   "Delete the classic settings; set consumer.session.timeout.ms or consumer.heartbeat.interval.ms for the group on the broker if need be.",
		Price: "the broker's values apply to all members of the group",
		Refs:  []string{"KIP-848", "ConsumerConfig.checkUnsupportedConfigsPostProcess", "KAFKA-18156"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if !s.ServerSide() {
			return
		}
		var found []Value
		for _, k := range classicKeys {
			if v, ok := s.Set(k); ok && (k != "group.protocol.type" || s.Family == inspect.Librdkafka) {
				found = append(found, v)
			}
		}
		if len(found) == 0 || s.dumped() {
			return
		}
		sev, what := s.classicRefusal(len(found) > 1)
		var names, keys []string
		for _, v := range found {
			names = append(names, v.Spelled)
			keys = append(keys, v.Key)
		}
		f := s.Finding(sev, fmt.Sprintf("%s %s when %s=consumer", strings.Join(names, ", "), what, s.spell(keyProtocol)), found...)
		if s.Assumed {
			f.Evidence = append(f.Evidence, fmt.Sprintf("assumed to be %s; name yours with --client NAME@VERSION", s.client()))
			f.Confidence = inspect.Medium
		}
		f.Fix = &Fix{Delete: keys}
		if s.Live != nil && s.Live.Limits.Session != nil && s.Live.Type == inspect.Consumer {
			f.Fix.Summary = fmt.Sprintf("Delete the classic settings; the broker decides (consumer.session.timeout.ms=%s).", ms(s.Live.Limits.Session.Duration()))
		}
		report(f)
	},
})

// classicRefusal says what a client does with classic settings under KIP-848.
func (s *Subject) classicRefusal(several bool) (Severity, string) {
	verb := func(one, more string) string {
		if several {
			return more
		}
		return one
	}
	switch s.Family {
	case inspect.Java, inspect.StreamsLib:
		if s.Version != "" && !atLeast(s.Version, "4.0") {
			return Warning, verb("is", "are") + " ignored silently by Java 3.7 to 3.9"
		}
		return Error, verb("stops", "stop") + " Java 4.0+ at start"
	case inspect.Librdkafka:
		return Error, verb("stops", "stop") + " librdkafka at start"
	}
	return Warning, verb("belongs", "belong") + " to the classic protocol and " + verb("has", "have") + " no effect"
}
