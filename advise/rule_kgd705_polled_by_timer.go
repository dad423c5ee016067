package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD705", Name: "polled-by-timer", Severity: Error, Since: "v0.3.0", Scope: PerClient,
	Needs:     []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD712"},
	Doc: Doc{
		Summary: "A timer polls the consumer.",
		Why:     "Between two ticks nothing polls: a rebalance waits for the next one, and where the period exceeds max.poll.interval.ms the member leaves the group each time.",
		Fix:     "Poll in a loop; let the timer decide what is done with the records, not when to poll.",
		Price:   "none",
		Refs:    []string{"KIP-62", "KafkaConsumer javadoc, Detecting Consumer Failures"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActTimer); found {
			limit, ok := s.workLimit()
			each := "a timer"
			if length(a) > 0 {
				each = "a timer of " + span(length(a))
			}
			switch {
			case ok && length(a) >= limit.D:
				f := s.acted(Error, fmt.Sprintf("%s polls the consumer (%s), and %s: the member is late each time", each, a.Call, limit.Say()), a)
				if limit.Key == keyPoll {
					f.Fix = s.pollFix(limit, Need{D: length(a)})
				}
				report(f)
			case length(a) > 10*time.Second:
				report(s.acted(Warning, fmt.Sprintf("%s polls the consumer (%s): each rebalance waits for its next tick, and a slow one makes it late", each, a.Call), a))
			default:
				report(s.acted(Info, fmt.Sprintf("%s polls the consumer (%s): where a tick is skipped or takes long, polls come late", each, a.Call), a))
			}
		}
	},
})
