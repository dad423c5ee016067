package advise

import (
	"fmt"
	"math"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD417", Name: "partitions-skewed", Severity: Info, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactMembers, inspect.FactSubscription, inspect.FactAssignment},
	Uses:  []inspect.Fact{inspect.FactState},
	Doc: Doc{
		Summary: "Members with the same subscription have very different numbers of partitions.",
		Why: "The range assignor assigns each topic separately, always starting with the same members: with many topics of few partitions, those members get them all while " +
			"others have none. The busiest member then sets the pace, and is the first to miss its poll interval.",
		Fix:   "Use an assignor that looks at all topics at once: cooperative-sticky, sticky or roundrobin.",
		Price: "one or two rolling restarts; librdkafka needs a full stop to become cooperative",
		Refs:  []string{"RangeAssignor", "KIP-54"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if len(s.Members) < 2 || len(s.subscriptionSets()) != 1 {
			return
		}
		least, most, all := math.MaxInt, 0, 0
		for _, m := range s.Members {
			n := 0
			for _, tp := range m.Assignment {
				n += len(tp.Partitions)
			}
			least, most, all = min(least, n), max(most, n), all+n
		}
		fair := (all + len(s.Members) - 1) / len(s.Members)
		if most < 2*fair || most-least < 3 {
			return
		}
		f := s.Finding(Info, fmt.Sprintf("one member has %s, another %d; %d would be an even share (assignor %s)", count(most, "partition"), least, fair, s.Live.Assignor))
		f.Fix = &Fix{}
		report(f)
	},
})
