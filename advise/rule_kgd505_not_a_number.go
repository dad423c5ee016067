package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD505", Name: "not-a-number", Severity: Error, Since: "v0.1.0", Scope: PerFile,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "The value of a numeric setting is not a number.",
		Why: "The client refuses to start with an invalid value. In a .properties file a comment at the end of a line is part of the value; units " +
			"such as 30s are understood by frameworks, not by the client.",
		Fix:   "Write a whole number in the unit of the setting.",
		Price: "none",
		Refs:  []string{"ConfigDef.parseType"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, p := range s.problems("not_a_number") {
			f := s.problemFinding(Error, p)
			f.Fix = &Fix{}
			report(f)
		}
		for _, p := range s.problems("placeholder") {
			report(s.problemFinding(Info, p))
		}
	},
})
