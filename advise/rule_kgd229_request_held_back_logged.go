package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD229", Name: "request-held-back-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD106", "KGD110", "KGD115"},
	Doc: Doc{
		Summary: "A request of librdkafka timed out behind another one on the same connection, as its log says.",
		Why: "Requests to the coordinator go over one connection, in order. JoinGroup is answered when the join phase ends, up to the rebalance timeout (max.poll.interval.ms) later; what comes behind it, LeaveGroup and " +
			"Heartbeat too, waits. The line says how long JoinGroup may still wait; max.poll.interval.ms is longer than that.",
		Fix:   "Lower max.poll.interval.ms to what the work needs, with a margin: a rebalance waits for a busy member that long.",
		Price: "a batch that takes longer than the new interval makes the consumer leave the group",
		Refs:  []string{"librdkafka REQTMOUT", "KIP-62"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Sign == inspect.SignRequestTimeout && e.Limit != nil && hasText(e, "held back by")
		})
		var longest time.Duration
		var first inspect.LogEvent
		for _, e := range es {
			if l := e.Limit.Duration(); l > longest {
				longest, first = l, e
			}
		}
		if longest == 0 {
			return
		}
		sev, what := Info, fmt.Sprintf("%s timed out behind a request that may take another %s", first.API, span(longest.Round(time.Second)))
		if hasText(first, "JoinGroupRequest") {
			what = fmt.Sprintf("%s waits behind a JoinGroup that may take another %s, so max.poll.interval.ms, its rebalance timeout, is longer than that: a rebalance may last that long", first.API, span(longest.Round(time.Second)))
			if longest >= pollLongWarning {
				sev = Warning
			}
		}
		report(s.logged(sev, what, []inspect.LogEvent{first}))
	},
})
