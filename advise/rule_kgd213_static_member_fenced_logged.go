package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD213", Name: "static-member-fenced-logged", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD206", "KGD410"},
	Doc: Doc{
		Summary: "A static member was fenced by another process with its group.instance.id, as a log says.",
		Why: "A static member that joins takes the place of the one with its instance id; the older process gets FENCED_INSTANCE_ID (classic), or the newer one " +
			"UNRELEASED_INSTANCE_ID (KIP-848). Under a supervisor both go on putting each other out.",
		Fix:   "Give each process a group.instance.id of its own, for example a StatefulSet's pod name.",
		Price: "none",
		Refs:  []string{"KIP-345", "FENCED_INSTANCE_ID (82)", "UNRELEASED_INSTANCE_ID (111)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Kind == inspect.LogFenced || e.Error == "FENCED_INSTANCE_ID" || e.Error == "UNRELEASED_INSTANCE_ID"
		})
		if len(es) == 0 {
			return
		}
		report(s.logged(Error, "two processes use one group.instance.id", es))
	},
})
