package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD102", Name: "heartbeat-not-below-session", Severity: Error, Since: "v0.1.0", Scope: PerClient, Member: true,
	Needs:     []inspect.Fact{inspect.FactClientConfig},
	Uses:      []inspect.Fact{inspect.FactBrokerConfig},
	SymptomOf: []string{"KGD108"},
	Explains:  map[inspect.Cause]int{inspect.SessionExpired: 6},
	Doc: Doc{
		Summary: "The heartbeat interval is not below the session timeout.",
		Why: "The session expires before the next heartbeat is due. The Java client, kafka-python, sarama and kafkajs (since 1.4) refuse to start; " +
			"librdkafka, kafka-go and aiokafka do not check, and their members are evicted again and again.",
		Fix:   "Set heartbeat.interval.ms to at most a third of session.timeout.ms.",
		Price: "a few more small requests to the coordinator",
		Refs:  []string{"org.apache.kafka.clients.consumer.internals.Heartbeat", "sarama config.go", "kafka-python coordinator/heartbeat.py"},
	},
	Check: func(s *Subject, report func(Finding)) {
		hb, session, ok := s.beat()
		if !ok || hb.D < session.D {
			return
		}
		f := s.Finding(Error, fmt.Sprintf("%s is %s, not below %s (%s): %s",
			hb.Spelled, span(hb.D), session.Spelled, span(session.D), beatRefusal(s.Family, s.Version)), hb, session)
		f.Fix, f.reach = s.beatFix(hb, session), session.D+hb.D
		report(f)
	},
})

// beatRefusal says what a client does with a heartbeat that is not below the session.
func beatRefusal(f inspect.Family, version string) string {
	if f == inspect.KafkaJS && version != "" && !atLeast(version, "1.4") {
		return "this version does not check it: the session expires before the next heartbeat, and the member is evicted every time"
	}
	switch f {
	case inspect.Java, inspect.StreamsLib, inspect.Connect, inspect.KafkaPython, inspect.Sarama, inspect.KafkaJS:
		return "the client refuses to start"
	case inspect.FranzGo:
		return "the client refuses a longer interval; with an equal one, the first late heartbeat evicts the member"
	}
	return "the session expires before the next heartbeat, and the member is evicted every time"
}
