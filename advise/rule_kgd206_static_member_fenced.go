package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD206", Name: "static-member-fenced", Severity: Error, Since: "v0.1.0", Scope: PerGroup,
	Needs:    []inspect.Fact{inspect.FactHistory},
	Uses:     []inspect.Fact{inspect.FactClientLog},
	Explains: map[inspect.Cause]int{inspect.StaticMemberFenced: 1},
	Doc: Doc{
		Summary: "Two processes use one group.instance.id and fence each other.",
		Why: "A static member that joins takes the place of the one with its instance id, and the old process is fenced (FENCED_INSTANCE_ID) and " +
			"stops, or is restarted by its supervisor and fences the other in turn. Under KIP-848 the second process is refused " +
			"(UNRELEASED_INSTANCE_ID) and the log shows nothing.",
		Fix:   "Give each process a group.instance.id of its own, for example a StatefulSet's pod name.",
		Price: "none",
		Refs:  []string{"KIP-345", "Errors.FENCED_INSTANCE_ID"},
	},
	Check: func(s *Subject, report func(Finding)) {
		seen := map[string]int{}
		sure := map[string]inspect.Confidence{}
		for _, r := range s.Timeline.Rebalances {
			if r.Cause != inspect.StaticMemberFenced || r.Confidence == inspect.Low {
				continue
			}
			for _, m := range r.Members.Replaced {
				if m.InstanceID != nil {
					seen[*m.InstanceID]++
					sure[*m.InstanceID] = r.Confidence
				}
			}
		}
		for _, id := range sortedKeys(seen) {
			times := "once"
			if seen[id] > 1 {
				times = fmt.Sprintf("%d times", seen[id])
			}
			f := s.Finding(Error, fmt.Sprintf("group.instance.id %s changed hands %s while its owner was still at work: two processes use it", id, times))
			f.Confidence = sure[id]
			f.Fix = &Fix{}
			report(f)
		}
	},
})
