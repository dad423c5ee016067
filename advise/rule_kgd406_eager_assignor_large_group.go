package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

// largeGroup is from how many members on an eager assignor is worth a remark:
// kgdiag's own policy.
const largeGroup = 20

var _ = register(Rule{
	ID: "KGD406", Name: "eager-assignor-large-group", Severity: Info, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactMembers, inspect.FactState},
	Doc: Doc{
		Summary: "A large group uses an eager assignor, so every change stops all of its members.",
		Why: "An eager assignor revokes all partitions of all members before it assigns them again. With a cooperative one, or under the consumer protocol of " +
			"Kafka 4.0, consumption pauses only for the partitions that move. The migration differs: Java members change in two rolling restarts (one, if they still " +
			"have the default list of 3.0 and later), librdkafka members must all be stopped first.",
		Fix:   "Use cooperative-sticky, or group.protocol=consumer on Kafka 4.0 and later.",
		Price: "one or two rolling restarts; librdkafka needs a full stop",
		Refs:  []string{"KIP-429", "KIP-848", "docs/upgrade.html", "librdkafka INTRODUCTION.md"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if s.Live.Type != inspect.Classic || len(s.Members) < largeGroup || !eager(assignorName(s.Live.Assignor)) {
			return
		}
		f := s.Finding(Info, fmt.Sprintf("%s with the eager assignor %s: every change stops all of them", count(len(s.Members), "member"), s.Live.Assignor))
		f.Fix = &Fix{}
		report(f)
	},
})
