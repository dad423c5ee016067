package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD710", Name: "group-id-made-anew", Severity: Info, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "Each start of the program makes a new group.id.",
		Why:     "A group of a new name has no committed offsets: it begins at auto.offset.reset, and the old groups stay until offsets.retention.minutes is over. That is meant where every process is to read all records.",
		Fix:     "Set a fixed group.id if the consumer is to go on where it stopped.",
		Price:   "the processes then share the partitions",
		Refs:    []string{"offsets.retention.minutes"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActRandomGroup); found {
			report(s.acted(Info, "group.id holds a random or a changing part: each start is a new group without offsets", a))
		}
	},
})
