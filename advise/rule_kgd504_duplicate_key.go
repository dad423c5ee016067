package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD504", Name: "duplicate-key", Severity: Warning, Since: "v0.1.0", Scope: PerFile,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A key is set twice.",
		Why:     "The last one counts, as in java.util.Properties. Whoever changes the first one wonders why nothing happens.",
		Fix:     "Delete the one that does not count.",
		Price:   "none",
		Refs:    []string{"java.util.Properties.load"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, p := range s.problems("duplicate_key") {
			f := s.problemFinding(Warning, p)
			f.Fix = &Fix{}
			report(f)
		}
	},
})
