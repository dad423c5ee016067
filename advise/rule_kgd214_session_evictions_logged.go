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
		Summary: "The coordinator evicted members because their heartbeats stopped, as its log says.",
		Why:     "The coordinator logs each member that it removes on heartbeat expiration: the process ended, was paused for longer than the session, or was cut off.",
		Fix:     "Look at the processes of these members at those times: garbage collection, CPU throttling, restarts, network.",
		Price:   "none",
		Refs:    []string{"GroupCoordinator.onExpireHeartbeat", "KIP-735"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool { return e.Cause == inspect.SessionExpired })
		if len(es) == 0 {
			return
		}
		report(s.logged(Warning, "members were evicted on heartbeat expiration: no heartbeat for the session"+s.said(keySession)+s.sinceJoin(es[0])+s.alsoElsewhere(es[0]), es))
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

// sinceJoin says how an eviction lies to the rebalance before it: that the rebalance
// waited for the member, or that it was silent from the end of it on.
func (s *Subject) sinceJoin(e inspect.LogEvent) string {
	var last inspect.LogEvent
	for _, p := range s.logs {
		if (p.Sign == inspect.SignPreparing || p.Sign == inspect.SignStabilized) && p.Time.Before(e.Time.Time) && p.Cause != inspect.SessionExpired {
			last = p
		}
	}
	gap := e.Time.Sub(last.Time.Time)
	if last.Time.IsZero() || e.Time.IsZero() || gap < time.Second || gap > 2*time.Minute {
		return ""
	}
	took := span(gap.Round(100 * time.Millisecond))
	if last.Sign == inspect.SignPreparing {
		return "; the rebalance had waited " + took + " for it, until its session expired"
	}
	return "; " + took + " after the group had become stable, so possibly it sent no heartbeat at all"
}
