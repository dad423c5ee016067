package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD425", Name: "streams-close-without-leave", Severity: Info, Since: "v0.1.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactTimeouts},
	Uses:  []inspect.Fact{inspect.FactClientConfig, inspect.FactMembers},
	Doc: Doc{
		Summary: "A Streams instance that is stopped holds its tasks until its session has expired.",
		Why: "Kafka Streams closes its consumers without LeaveGroup, so that a quick restart costs no rebalance. An instance that does not come back is evicted by its session " +
			"timeout, and its tasks do not run until then; a clean stop looks like a crash in the log.",
		Fix:   "Call close with CloseOptions.leaveGroup(true) where an instance is stopped for good (KIP-812), or lower session.timeout.ms.",
		Price: "leaving rebalances at once, also at a restart",
		Refs:  []string{"KIP-812", "internal.leave.group.on.close"},
	},
	Check: func(s *Subject, report func(Finding)) {
		session, ok := s.Sane(keySession)
		if !ok || s.Family != inspect.StreamsLib || s.ServerSide() || session.D < time.Minute {
			return
		}
		f := s.Finding(Info, fmt.Sprintf("%s is %s: the tasks of an instance that is stopped for good do not run for that long", session.Spelled, span(session.D)), session)
		f.Fix = &Fix{}
		report(f)
	},
})
