package advise

import (
	"fmt"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD707", Name: "consumer-not-closed", Severity: Warning, Since: "v0.3.0", Scope: PerClient, Member: true,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A program ends its poll loop and never closes the consumer.",
		Why:     "A consumer that is not closed does not leave the group. The coordinator keeps its partitions for the session timeout, and the next start waits that long for them.",
		Fix:     "Close the consumer on every way out, in a finally block or its like.",
		Price:   "none",
		Refs:    []string{"KafkaConsumer.close", "LeaveGroup"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActNotClosed); found {
			expired := slices.ContainsFunc(s.Case.LogEvents, signIs(inspect.SignSessionExpired, inspect.SignPendingRemoved))
			sev := Info
			if expired {
				sev = Warning
			}
			wait := ""
			if v, ok := s.Sane(keySession); ok {
				wait = fmt.Sprintf(" (%s)", v.Say())
			}
			report(s.acted(sev, fmt.Sprintf("the program ends its loop and never closes %s: it does not leave the group, and its partitions are held until its session is over%s", a.Call, wait), a))
		}
	},
})
