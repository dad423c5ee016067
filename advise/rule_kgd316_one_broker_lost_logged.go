package advise

import (
	"fmt"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// The measures by which many clients' loss points to one broker; kgdiag's own policy.
const (
	lostTogether = 3               // clients
	lostWithin   = 5 * time.Second // of each other
)

var _ = register(Rule{
	ID: "KGD316", Name: "one-broker-lost-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "Several clients lost the same broker within seconds, as their logs say.",
		Why:     "One client that loses its coordinator may itself have been paused. Several that lose the same broker in the same seconds were not: the broker, or the network path to it, stopped answering.",
		Fix:     "Look at that broker at that time: restart, pause, disk, network.",
		Price:   "none",
		Refs:    []string{"session.timeout.ms", "NetworkClient"},
	},
	Check: func(s *Subject, report func(Finding)) {
		joined := map[string]bool{} // by process: a member that had never joined loses what it has just found, as while a cluster starts
		lost := s.Logged(func(e inspect.LogEvent) bool {
			if e.Kind == inspect.LogJoined {
				joined[e.From.File+e.Process] = true
			}
			return (joined[e.From.File+e.Process] || e.Sign == inspect.SignSessionLost) && e.Node != nil && (e.Sign == inspect.SignSessionLost || e.Sign == inspect.SignCoordinatorDead || e.Sign == inspect.SignRequestTimeout)
		})
		slices.SortStableFunc(lost, func(a, b inspect.LogEvent) int { return a.Time.Compare(b.Time.Time) })
		for i, first := range lost {
			var together []inspect.LogEvent
			for _, e := range lost[i:] {
				if e.Time.Sub(first.Time.Time) > lostWithin {
					break
				}
				if *e.Node == *first.Node && !e.Time.IsZero() && e.Time.Sub(first.Time.Time).Abs() <= lostWithin {
					together = append(together, e)
				}
			}
			who := distinct(together, func(e inspect.LogEvent) string { return e.From.File + e.Process + " " + e.ClientID })
			if len(who) < lostTogether {
				continue
			}
			f := s.logged(Warning, fmt.Sprintf("%d clients lost broker %d within %s, at %s: that broker, or the network path to it, stopped answering", len(who), *first.Node, span(lostWithin), clockAt(first)), together)
			report(f)
			return
		}
	},
})
