package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// restartTime is what a restart of a process takes at least, a container's start
// included: kgdiag's own policy.
const restartTime = 30 * time.Second

var _ = register(Rule{
	ID: "KGD414", Name: "static-session-short", Severity: Info, Since: "v0.1.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactTimeouts},
	Uses:  []inspect.Fact{inspect.FactClientConfig, inspect.FactMembers, inspect.FactBrokerConfig},
	Doc: Doc{
		Summary: "A static member's session is shorter than a restart usually takes.",
		Why: "Static membership spares the group a rebalance only if the member is back before its session has expired. With a shorter session a " +
			"restart still costs two rebalances, and the member's partitions are not consumed until then.",
		Fix:   "Raise session.timeout.ms above the time that a restart takes.",
		Price: "a dead member is noticed later",
		Refs:  []string{"KIP-345", "Amazon MSK troubleshooting"},
	},
	Check: func(s *Subject, report func(Finding)) {
		v, ok := s.Get(keyInstance)
		session, okSession := s.Sane(keySession)
		if !ok || v.Text == "" || !okSession || s.ServerSide() || session.D >= restartTime {
			return
		}
		f := s.Finding(Info, fmt.Sprintf("%s is %s: a static member that takes longer to restart is evicted nevertheless", session.Spelled, span(session.D)), session)
		f.Fix = &Fix{}
		if to := 45 * time.Second; to <= s.sessionCeiling() {
			f.Fix.Set = map[string]string{keySession: ms(to)}
			f.Fix.Notes = notesFor(keySession, "the default of current clients; more if a restart takes longer")
		}
		report(f)
	},
})
