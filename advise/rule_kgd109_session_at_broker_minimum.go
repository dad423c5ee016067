package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD109", Name: "session-at-broker-minimum", Severity: Warning, Since: "v0.1.0", Scope: PerClient, Member: true,
	Needs:     []inspect.Fact{inspect.FactTimeouts, inspect.FactBrokerConfig},
	SymptomOf: []string{"KGD108", "KGD103"},
	Explains:  map[inspect.Cause]int{inspect.SessionExpired: 4},
	Doc: Doc{
		Summary: "The session timeout is within one and a half times of the broker's minimum.",
		Why: "At the minimum of 6 s, two late heartbeats evict a member. KIP-735 raised the default to 45 s because short faults of the " +
			"network outnumber dead consumers, and each eviction costs a rebalance.",
		Fix:   "Raise session.timeout.ms to the client's default.",
		Price: "a dead member is noticed later",
		Refs:  []string{"KIP-735", "GroupCoordinatorConfig"},
	},
	Check: func(s *Subject, report func(Finding)) {
		least, most, ok := s.SessionBounds()
		session, okSession := s.Sane(keySession)
		if !ok || !okSession || s.ServerSide() || session.D < least.D || 2*session.D >= 3*least.D || session.D > most.D {
			return
		}
		near := "close to"
		if session.D == least.D {
			near = "the minimum by"
		}
		f := s.Finding(Warning, fmt.Sprintf("%s is %s, %s %s=%s of %s: two late heartbeats evict the member",
			session.Spelled, span(session.D), near, keyBrokerMin, ms(least.D), least.From), session)
		to := s.safeSession(least.D, most.D)
		if s.Config == nil && s.DefaultOf(keySession) == 0 {
			to = min(max(to, inspect.RoundUp(least.D*2)), most.D)
		}
		f.Fix = &Fix{Set: map[string]string{keySession: ms(to)}, Price: fmt.Sprintf("a dead member is noticed after %s instead of %s", span(to), span(session.D))}
		if def := s.isDefault(keySession, to); def != "" {
			f.Fix.Notes = notesFor(keySession, strings.TrimSuffix(def, "; "))
		}
		report(f)
	},
})
