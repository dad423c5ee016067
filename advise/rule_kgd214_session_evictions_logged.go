package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD214", Name: "session-evictions-logged", Severity: Warning, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	Uses:      []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD201", "KGD101", "KGD102", "KGD103", "KGD113", "KGD226"},
	Doc: Doc{
		Summary: "The coordinator put members out because their heartbeats stopped, as its log says.",
		Why:     "The coordinator logs each member that it removes on heartbeat expiration: the process ended, stopped for longer than the session, or was cut off.",
		Fix:     "Look at the processes of these members at those times: garbage collection, CPU throttling, restarts, network.",
		Price:   "none",
		Refs:    []string{"GroupCoordinator.onExpireHeartbeat", "KIP-735"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool { return e.Cause == inspect.SessionExpired })
		if len(es) == 0 {
			return
		}
		report(s.logged(Warning, "members were put out on heartbeat expiration: no heartbeat for the session"+s.said(keySession)+s.alsoElsewhere(es[0]), es))
	},
})

// alsoElsewhere says that members of several groups expired at once: what they have in
// common is a process or a host.
func (s *Subject) alsoElsewhere(first inspect.LogEvent) string {
	var together []inspect.LogEvent
	for _, e := range s.Case.LogEvents {
		if e.Cause == inspect.SessionExpired && !e.Time.IsZero() && !first.Time.IsZero() && e.Time.Sub(first.Time.Time).Abs() <= time.Second {
			together = append(together, e)
		}
	}
	groups := distinct(together, func(e inspect.LogEvent) string { return e.Group })
	if len(groups) < 2 {
		return ""
	}
	members := distinct(together, func(e inspect.LogEvent) string { return e.MemberID })
	return fmt.Sprintf("; %d members of %d groups (%s) expired at once, so look for what they have in common: one process, one host", len(members), len(groups), list(groups))
}
