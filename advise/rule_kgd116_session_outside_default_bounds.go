package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD116", Name: "session-outside-default-bounds", Severity: Warning, Since: "v0.1.0", Scope: PerClient, Member: true,
	Needs:     []inspect.Fact{inspect.FactClientConfig},
	Uses:      []inspect.Fact{inspect.FactBrokerConfig},
	SymptomOf: []string{"KGD108", "KGD104", "KGD101", "KGD102"},
	Doc: Doc{
		Summary: "The session timeout is outside of what brokers allow by default, and this broker was not asked.",
		Why: "Without a cluster kgdiag cannot know the broker's bounds. By default they are 6 s and 30 min (30 s on Kafka 0.9, 5 min up to 2.2); " +
			"outside of them JoinGroup is refused with INVALID_SESSION_TIMEOUT.",
		Fix:   "Set session.timeout.ms between the broker's bounds, and name the cluster so that they can be read.",
		Price: "a dead member is noticed after the new session timeout",
		Refs:  []string{"group.min.session.timeout.ms", "group.max.session.timeout.ms"},
	},
	Check: func(s *Subject, report func(Finding)) {
		session, ok := s.Sane(keySession)
		if !ok || !s.outsideDefaultBounds(session) {
			return
		}
		to, what, refused := defaultSessionMax, "above 30m, the maximum of a broker by default", ": a broker with that bound refuses its JoinGroup"
		switch {
		case session.D < defaultSessionMin:
			to, what = s.safeSession(defaultSessionMin, defaultSessionMax), "below 6s, the minimum of a broker by default"
		case session.D > defaultSessionMax:
		case session.D > formerSessionMax && s.ofOldDays():
			to, what, refused = formerSessionMax, "above 5m, which is group.max.session.timeout.ms of brokers before Kafka 2.3 by default (30m since)", ": those refuse JoinGroup"
		default:
			return
		}
		f := s.Finding(Warning, fmt.Sprintf("%s is %s, %s%s", session.Spelled, span(session.D), what, refused), session)
		f.Confidence = inspect.Medium
		f.Evidence = append(f.Evidence, "the broker was not asked (-b): its bounds may be others")
		f.Fix = &Fix{Set: map[string]string{keySession: ms(to)}}
		report(f)
	},
})

// formerSessionMax is group.max.session.timeout.ms from Kafka 0.10.1 to 2.2.
const formerSessionMax = 5 * time.Minute

// ofOldDays reports whether a client is known to be older than Kafka 2.3 (June 2019),
// whose brokers may be as old: by the first release of each library after it.
func (s *Subject) ofOldDays() bool {
	first, known := map[inspect.Family]string{inspect.Java: "2.3", inspect.StreamsLib: "2.3", inspect.Connect: "2.3", inspect.Librdkafka: "1.1", inspect.KafkaPython: "1.4.7",
		inspect.Sarama: "1.23", inspect.KafkaJS: "1.10", inspect.AIOKafka: "0.6", inspect.KafkaGo: "0.3", inspect.RubyKafka: "0.8"}[s.Family]
	return known && s.Version != "" && !s.Assumed && !atLeast(s.Version, first)
}

// outsideDefaultBounds reports a session timeout that brokers refuse by default, where
// those of the group were not asked.
func (s *Subject) outsideDefaultBounds(session Value) bool {
	_, _, known := s.SessionBounds()
	return !known && !s.ServerSide() && (session.D < defaultSessionMin || session.D > defaultSessionMax || session.D > formerSessionMax && s.ofOldDays())
}
