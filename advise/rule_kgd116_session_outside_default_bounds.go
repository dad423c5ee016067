package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD116", Name: "session-outside-default-bounds", Severity: Warning, Since: "v0.1.0", Scope: PerClient,
	Needs:     []inspect.Fact{inspect.FactClientConfig},
	Uses:      []inspect.Fact{inspect.FactBrokerConfig},
	SymptomOf: []string{"KGD108", "KGD104"},
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
		if _, _, known := s.SessionBounds(); known || !ok || s.ServerSide() || session.D >= defaultSessionMin && session.D <= defaultSessionMax {
			return
		}
		to, what := s.safeSession(defaultSessionMin, defaultSessionMax), "below 6s, the minimum"
		if session.D > defaultSessionMax {
			to, what = defaultSessionMax, "above 30m, the maximum"
		}
		f := s.Finding(Warning, fmt.Sprintf("%s is %s, %s of a broker by default: JoinGroup is refused", session.Spelled, span(session.D), what), session)
		f.Confidence = inspect.Medium
		f.Evidence = append(f.Evidence, "the broker was not asked (-b): its bounds may be others")
		f.Fix = &Fix{Set: map[string]string{keySession: ms(to)}}
		report(f)
	},
})
