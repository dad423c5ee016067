package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD503", Name: "producer-key", Severity: Info, Since: "v0.1.0", Scope: PerFile,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A producer setting is in a consumer's configuration.",
		Why:     "A consumer ignores it and logs a line. Often one file serves both, which is harmless.",
		Fix:     "Delete the key, or leave it if a producer reads the same file.",
		Price:   "none",
		Refs:    []string{"ProducerConfig"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, p := range s.problems("producer_key") {
			f := s.problemFinding(Info, p)
			f.Fix = &Fix{Delete: []string{p.Key}}
			report(f)
		}
	},
})
