package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// longUp is how long a connection must have been up to be cut as an idle one: the shortest
// limit in common use is that of Azure's balancer, 4 min.
const longUp = 3*time.Minute + 30*time.Second

var _ = register(Rule{
	ID: "KGD239", Name: "connection-cut-logged", Severity: Warning, Since: "v0.3.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD114", "KGD125", "KGD312", "KGD316"},
	Doc: Doc{
		Summary: "A client's connection to its coordinator was cut after minutes, as its log says.",
		Why: "Brokers close connections that nothing uses for connections.max.idle.ms (10 min by default), which clients notice and mend at once. Balancers, NAT and firewalls between drop idle connections without a word (Azure after 4 min): " +
			"the next request on one gets no answer and ends by its timeout.",
		Fix:   "Keep connections busy or close them first: set connections.max.idle.ms of the client below the limit of what lies between (240000 for Azure's 4 min), and socket.keepalive.enable=true where the client has it.",
		Price: "connections are opened more often",
		Refs:  []string{"connections.max.idle.ms", "socket.keepalive.enable"},
	},
	Check: func(s *Subject, report func(Finding)) {
		silent := s.Logged(func(e inspect.LogEvent) bool {
			return e.Sign == inspect.SignRequestTimeout && e.API == "" && inspect.Or(e.Length, 0) >= longUp && hasText(e, "in state UP")
		})
		if len(silent) > 0 {
			f := s.logged(Warning, fmt.Sprintf("a request got no answer on a connection that had been up for %s: most likely something between client and broker (a balancer, NAT, a firewall) had dropped the idle connection without a word; else the broker did not answer", span(silent[0].Length.Duration().Round(time.Second))), silent)
			f.Confidence = inspect.Medium
			report(f)
			return
		}
		closed := s.Logged(signIs(inspect.SignConnectionClosed))
		if len(closed) == 0 {
			return
		}
		what := "the connection to the coordinator was closed by the other side, and the client joined anew"
		if every, ok := period(closed); ok || len(closed) > 1 && !closed[0].Time.IsZero() {
			if !ok {
				every = closed[1].Time.Sub(closed[0].Time.Time)
			}
			what += ", every " + span(every.Round(time.Minute))
		}
		f := s.logged(Warning, what+": brokers close a connection that nothing uses for connections.max.idle.ms (10 min by default), balancers sooner; a broker that restarts does it once", closed)
		f.Confidence = inspect.Medium
		report(f)
	},
})
