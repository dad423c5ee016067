package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

// fewErrors is how often a log may name a coordinator's error before it is more
// than the moment of a failover.
const fewErrors = 3

var _ = register(Rule{
	ID: "KGD308", Name: "coordinator-not-ready", Severity: Warning, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "The logs say again and again that the coordinator is loading or not available.",
		Why: "After a failover the new coordinator reads the group's partition of __consumer_offsets before it answers. When that takes long, the partition is " +
			"large because the log cleaner is dead or behind; when it never ends, the partition has no leader or its load has failed.",
		Fix:   "Look at the size and the leader of the group's offsets partition, and at the log cleaner of its broker.",
		Price: "none",
		Refs:  []string{"COORDINATOR_LOAD_IN_PROGRESS (14)", "COORDINATOR_NOT_AVAILABLE (15)", "KAFKA-19862"},
	},
	Check: func(s *Subject, report func(Finding)) {
		n := map[string]int{}
		var first *inspect.LogEvent
		for i := range s.Case.LogEvents {
			e := &s.Case.LogEvents[i]
			if e.Group != "" && e.Group != s.Group || e.Error != "COORDINATOR_LOAD_IN_PROGRESS" && e.Error != "COORDINATOR_NOT_AVAILABLE" {
				continue
			}
			if first == nil {
				first = e
			}
			n[e.Error]++
		}
		for _, name := range sortedKeys(n) {
			if n[name] <= fewErrors {
				continue
			}
			f := s.Finding(Warning, fmt.Sprintf("%s stands %d times in the logs, first at %s:%d", name, n[name], first.From.File, first.From.Line))
			f.Fix = &Fix{}
			report(f)
		}
	},
})
