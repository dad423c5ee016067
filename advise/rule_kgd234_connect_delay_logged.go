package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD234", Name: "connect-delay-logged", Severity: Info, Since: "v0.2.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "Connectors and tasks of a Connect worker that left wait to be assigned again, as a log says.",
		Why: "A worker that leaves may come back: its connectors and tasks stay unassigned for scheduled.rebalance.max.delay.ms (5 minutes by default, KIP-415). Meanwhile they do not run, which looks like a rebalance that " +
			"hangs.",
		Fix:   "Wait, or lower scheduled.rebalance.max.delay.ms to the time that a worker takes to restart.",
		Price: "a worker that takes longer to restart finds its tasks elsewhere",
		Refs:  []string{"KIP-415", "scheduled.rebalance.max.delay.ms"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Kind == inspect.LogJoined && e.Family == inspect.Connect && inspect.Or(e.Length, 0) > 0 && hasText(e, "with rebalance delay")
		})
		if len(es) == 0 {
			return
		}
		longest := time.Duration(0)
		for _, e := range es {
			longest = max(longest, e.Length.Duration())
		}
		report(s.logged(Info, fmt.Sprintf("connectors and tasks of a worker that left wait up to %s to be assigned again (scheduled.rebalance.max.delay.ms)", span(longest)), es))
	},
})
