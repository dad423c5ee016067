package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD212", Name: "assignment-failed", Severity: Error, Since: "v0.1.0", Scope: PerGroup,
	Needs:     []inspect.Fact{inspect.FactHistory},
	SymptomOf: []string{"KGD302", "KGD301", "KGD202"},
	Explains:  map[inspect.Cause]int{inspect.AssignmentFailed: 1},
	Doc: Doc{
		Summary: "Join rounds ended without an assignment.",
		Why: "The generation increases when the join phase ends, but its record is written only when the leader has handed the assignment " +
			"in. Skipped generations are rounds in which the leader never synced, or in which the append to __consumer_offsets failed.",
		Fix:   "Look at the coordinator's log for failed appends and at the leader of the group for a slow or failing assignor.",
		Price: "none",
		Refs:  []string{"GroupMetadataManager.storeGroup", "ClassicGroup.initNextGeneration"},
	},
	Check: func(s *Subject, report func(Finding)) {
		rounds, n := int32(0), 0
		for _, r := range s.Timeline.Rebalances {
			if r.Cause == inspect.AssignmentFailed && r.Confidence != inspect.Low {
				n++
				rounds += max(r.Skipped, 1)
			}
		}
		if n < 2 {
			return
		}
		f := s.Finding(Error, fmt.Sprintf("%d join rounds ended without an assignment, in %d rebalances", rounds, n))
		f.Fix = &Fix{}
		report(f)
	},
})
