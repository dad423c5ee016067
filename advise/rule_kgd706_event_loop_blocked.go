package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD706", Name: "event-loop-blocked", Severity: Error, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A blocking call holds up the event loop that sends the heartbeats.",
		Why:     "aiokafka and kafkajs send heartbeats from the event loop that runs the application's code too. While a call blocks it, no heartbeat is sent; past the session timeout the coordinator evicts the member.",
		Fix:     "Use the asynchronous form of the call, or run it in a thread.",
		Price:   "none",
		Refs:    []string{"aiokafka coordinator", "asyncio.to_thread"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActBlocksLoop); found {
			session, ok := s.Sane(keySession)
			sev, took := Warning, ""
			if length(a) > 0 {
				took = " for " + span(length(a))
			}
			if ok && length(a) >= session.D {
				sev = Error
			}
			limit := ""
			if ok {
				limit = "; " + session.Say()
			}
			report(s.acted(sev, fmt.Sprintf("%s blocks the event loop%s, and no heartbeat is sent meanwhile%s", a.Call, took, limit), a))
		}
	},
})
