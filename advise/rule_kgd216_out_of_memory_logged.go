package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD216", Name: "out-of-memory-logged", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A process of the group ran out of memory, as its log says.",
		Why: "A JVM near the end of its heap spends its time in garbage collection and then dies: missed polls and expired sessions follow from it, and no " +
			"timeout change fixes them.",
		Fix:   "Give the process more heap, or return fewer and smaller records per poll; then look at the timeouts again.",
		Price: "more memory per process",
		Refs:  []string{"java.lang.OutOfMemoryError"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(textHas("OutOfMemoryError"))
		if len(es) == 0 {
			return
		}
		report(s.logged(Error, "the process ran out of memory", es))
	},
})
