package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD320", Name: "session-bounds-narrow", Severity: Warning, Since: "v0.2.0", Scope: PerCluster,
	Needs: []inspect.Fact{inspect.FactBrokerConfig},
	Doc: Doc{
		Summary: "A broker's file refuses the default session timeout of common clients.",
		Why: "A JoinGroup with a session timeout outside of group.min.session.timeout.ms and group.max.session.timeout.ms is refused with INVALID_SESSION_TIMEOUT. The default session is 45 s in Java since 3.0 and in " +
			"librdkafka since 1.7, 10 s in Java before, sarama, kafka-python and aiokafka.",
		Fix:   "Set group.min.session.timeout.ms and group.max.session.timeout.ms so that these defaults are allowed: 6000 and 1800000 are Kafka's own.",
		Price: "brokers restart one by one",
		Refs:  []string{"GroupCoordinatorConfig", "KIP-735", "INVALID_SESSION_TIMEOUT (26)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, b := range s.Case.Brokers {
			if b.From == "" || len(s.Case.Configs) > 0 {
				continue // of consumers that are known KGD104 tells whether they are refused
			}
			f, bad := Finding{}, false
			if most, ok := brokerMillis(b, keyBrokerMax); ok && most < enoughSession {
				f, bad = s.Finding(Warning, fmt.Sprintf("%s=%s on %s is below 45s, the default session timeout of Java since 3.0, librdkafka and franz-go: they are refused with INVALID_SESSION_TIMEOUT", keyBrokerMax, ms(most), brokerName(b))), true
				f.Fix = &Fix{Set: map[string]string{keyBrokerMax: ms(defaultSessionMax)}}
			} else if least, ok := brokerMillis(b, keyBrokerMin); ok && least > oldSession {
				f, bad = s.Finding(Warning, fmt.Sprintf("%s=%s on %s is above 10s, the default session timeout of sarama, kafka-python, aiokafka and Java before 3.0: they are refused with INVALID_SESSION_TIMEOUT", keyBrokerMin, ms(least), brokerName(b))), true
				f.Fix = &Fix{Set: map[string]string{keyBrokerMin: ms(defaultSessionMin)}}
			}
			if bad {
				report(f)
				return
			}
		}
	},
})

// oldSession is the default session timeout of older clients; enoughSession is that of
// today's.
const oldSession = 10 * time.Second
