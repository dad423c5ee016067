package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD126", Name: "session-at-default-minimum", Severity: Warning, Since: "v0.2.0", Scope: PerClient, Member: true,
	Needs:     []inspect.Fact{inspect.FactClientConfig},
	Uses:      []inspect.Fact{inspect.FactBrokerConfig},
	SymptomOf: []string{"KGD108", "KGD103", "KGD116", "KGD215"},
	Doc: Doc{
		Summary: "The session timeout is within one and a half times of the lowest that brokers allow by default.",
		Why: "With a session of 6 s, two late heartbeats evict a member: a pause for garbage collection or a short fault of the network is enough. KIP-735 raised the " +
			"default of clients to 45 s for that reason.",
		Fix:   "Raise session.timeout.ms to the client's default.",
		Price: "a dead member is noticed later",
		Refs:  []string{"KIP-735", "group.min.session.timeout.ms"},
	},
	Check: func(s *Subject, report func(Finding)) {
		session, ok := s.Set(keySession)
		if _, _, known := s.SessionBounds(); known || !ok || s.ServerSide() || !session.Timed || unitSlip(session) || session.D < defaultSessionMin || 2*session.D >= 3*defaultSessionMin {
			return
		}
		what := "the lowest that brokers allow by default"
		if session.D > defaultSessionMin {
			what = "close to the lowest that brokers allow by default (6s)"
		}
		to := s.safeSession(defaultSessionMin, defaultSessionMax)
		f := s.Finding(Warning, fmt.Sprintf("%s is %s, %s: two late heartbeats evict the member", session.Spelled, span(session.D), what), session)
		f.Fix = &Fix{Set: map[string]string{keySession: ms(to)}, Price: fmt.Sprintf("a dead member is noticed after %s instead of %s", span(to), span(session.D))}
		report(f)
	},
})
