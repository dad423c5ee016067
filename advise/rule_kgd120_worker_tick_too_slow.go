package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD120", Name: "worker-tick-too-slow", Severity: Error, Since: "v0.1.0", Scope: PerClient,
	Families: []inspect.Family{inspect.Connect},
	Needs:    []inspect.Fact{inspect.FactTimeouts, inspect.FactPollTime},
	Doc: Doc{
		Summary: "A Connect worker is busy for longer than rebalance.timeout.ms.",
		Why: "The herder thread of a worker must come back to the group within rebalance.timeout.ms. A connector whose start or stop blocks " +
			"for longer makes the worker leave, and the cluster rebalances in a loop.",
		Fix:   "Raise rebalance.timeout.ms above the longest start of a connector, or make the start asynchronous.",
		Price: "a worker that hangs is noticed later, and a rebalance may wait for it that long",
		Refs:  []string{"DistributedConfig", "KAFKA-12798"},
	},
	Check: func(s *Subject, report func(Finding)) {
		rebalance, ok := s.Sane(keyRebalance)
		need, _ := s.PollNeed()
		if !ok || !s.Worker() || need.D < rebalance.D {
			return
		}
		f := s.Finding(Error, fmt.Sprintf("%s is %s; %s", rebalance.Spelled, span(rebalance.D), need.Text), rebalance)
		f.Fix = &Fix{}
		if to := inspect.PollIntervalFor(need.D, s.DefaultOf(keyRebalance), rebalance.D); to <= mostAdvised {
			f.Fix.Set = map[string]string{keyRebalance: ms(to)}
			f.Fix.Notes = notesFor(keyRebalance, marginNote(need.D, to))
		}
		report(f)
	},
})
