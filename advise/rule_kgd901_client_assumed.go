package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD901", Name: "client-assumed", Severity: Info, Since: "v0.1.0", Scope: PerFile,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "The client library or its version is not known; the newest known version is assumed.",
		Why: "Defaults depend on client and version: the session timeout of Java is 10 s up to 2.8 and 45 s from 3.0 on. Findings that rest on a default are then less certain, and rules " +
			"on versions cannot be checked.",
		Fix:   "Name the client with --client NAME@VERSION.",
		Price: "none",
		Refs:  []string{"KIP-735"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if s.Assumed {
			f := s.Finding(Info, fmt.Sprintf("assumed to be %s, because nothing names the client that reads this", s.client()))
			f.Fix = &Fix{}
			report(f)
		}
	},
})
