package advise

import (
	"fmt"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD716", Name: "commit-without-membership", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A consumer commits that neither subscribes nor assigns.",
		Why:     "A commit of a consumer that is no member counts for a group without members alone. While others with the group.id are in the group, the coordinator refuses it with UNKNOWN_MEMBER_ID.",
		Fix:     "Stop the group's members before offsets are set from outside, or commit from a member.",
		Price:   "the group does not consume meanwhile",
		Refs:    []string{"UNKNOWN_MEMBER_ID (25)", "kafka-consumer-groups --reset-offsets"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActReaderNoCommit); found {
			f := s.acted(Warning, "a Reader without GroupID, made for a partition of a ConsumerGroup's generation, commits nothing, and nothing in the file calls CommitOffsets: with each start and rebalance the group begins where it began before", a)
			f.Fix = &Fix{Summary: "Call the generation's CommitOffsets for what was processed, or use one Reader with GroupID, which joins and commits by itself."}
			report(f)
		}
		if a, found := s.firstAct(inspect.ActCommitNoGroup); found {
			f := s.acted(Warning, fmt.Sprintf("%s is called on a Reader without GroupID: kafka-go refuses it (unavailable when GroupID is not set), and nothing is committed", a.Call), a)
			f.Fix = &Fix{Summary: "Set GroupID in ReaderConfig and leave Partition out, or do not commit and keep the offsets elsewhere."}
			report(f)
		}
		if a, found := s.firstAct(inspect.ActCommit); found {
			sev := Info
			if slices.ContainsFunc(s.Case.LogEvents, evicted) {
				sev = Warning
			}
			report(s.acted(sev, fmt.Sprintf("%s is called, and the consumer never joined %s (no subscribe): while the group has other members, the commit is refused with UNKNOWN_MEMBER_ID", a.Call, theGroup(a.Group)), a))
		}
	},
})
