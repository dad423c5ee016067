package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD207", Name: "slow-rebalance", Severity: Warning, Since: "v0.1.0", Scope: PerGroup,
	Needs:     []inspect.Fact{inspect.FactHistory},
	SymptomOf: []string{"KGD106", "KGD110"},
	Explains:  map[inspect.Cause]int{inspect.PollIntervalExceeded: 6, inspect.RejoinTimedOut: 2},
	Doc: Doc{
		Summary: "A rebalance took half a minute or more, or a KIP-848 group over a minute to converge.",
		Why: "A classic rebalance completes when the slowest member has polled again, or after its rebalance timeout " +
			"(max.poll.interval.ms in Java, librdkafka and kafka-python); until then nothing is consumed. A KIP-848 group keeps consuming, but partitions " +
			"wait for the member that must give them up.",
		Fix:   "Shorten the time between two polls of the member that delayed it, or lower max.poll.interval.ms to what the work needs.",
		Price: "with a lower max.poll.interval.ms, members that work for longer leave the group",
		Refs:  []string{"KIP-62", "KIP-848"},
	},
	Check: func(s *Subject, report func(Finding)) {
		var worst *inspect.Rebalance
		n := 0
		for i, r := range s.Timeline.Rebalances {
			if slow(r) {
				n++
				if worst == nil || took(r) > took(*worst) {
					worst = &s.Timeline.Rebalances[i]
				}
			}
		}
		if worst == nil {
			return
		}
		how := "a rebalance took %s at %s%s"
		if worst.Converged != nil {
			how = "the group took %s to converge at %s%s"
		}
		f := s.Finding(Warning, fmt.Sprintf(how, span(took(*worst).Truncate(100_000_000)), at(worst.Time), holder(*worst)))
		f.Confidence = inspect.Medium
		if !heldToTheEnd(*worst) || worst.Rebalancing != nil {
			f.Confidence = inspect.High
		}
		if n > 1 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%d slow rebalances in total", n))
		}
		f.Fix = &Fix{}
		report(f)
	},
})
