package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD504", Name: "duplicate-key", Severity: Warning, Since: "v0.1.0", Scope: PerFile,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A key is set twice.",
		Why:     "The last one applies, as in java.util.Properties. Changing the first one has no effect.",
		Fix:     "Delete the one that does not apply.",
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
