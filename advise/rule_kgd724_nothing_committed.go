package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD724", Name: "nothing-committed", Severity: Info, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "Automatic commits are off, and nothing in the program commits.",
		Why: "A group that commits nothing has no offsets: each start, and each partition that a rebalance moves, begins where auto.offset.reset says: at the end (latest, the default), so that what came " +
			"meanwhile is never read, or at the beginning (earliest), so that all is read again. It may be meant, or be done in another file.",
		Fix:   "Commit after the work, or leave automatic commits on; set auto.offset.reset=earliest where nothing may be missed.",
		Price: "with earliest, records are read again",
		Refs:  []string{"enable.auto.commit", "auto.offset.reset"},
	},
	Check: func(s *Subject, report func(Finding)) {
		a, found := s.firstAct(inspect.ActNeverCommits)
		if !found {
			return
		}
		reset, set := s.Get("auto.offset.reset")
		where := "auto.offset.reset (latest, the default: at the end)"
		if set && reset.Origin != inspect.OriginDefault {
			where = reset.Spelled + " (" + reset.Text + ")"
		}
		report(s.acted(Info, fmt.Sprintf("automatic commits are off, and nothing in the file commits: after a restart, and where a rebalance moves a partition, reading begins at %s, not where it ended; commit(), or earliest to see the records again", where), a))
	},
})
