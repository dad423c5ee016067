package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD418", Name: "protocol-refused-logged", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD407", "KGD408", "KGD402"},
	Doc: Doc{
		Summary: "A member was refused because it shares no assignor with the others, as a log says.",
		Why: "All members of a classic group must offer one assignor in common and the same protocol type. A member with another list, another library's default, " +
			"or a Connect worker with a consumer's group id, is answered by INCONSISTENT_GROUP_PROTOCOL.",
		Fix:   "Give the new member an assignor that the group uses (kgdiag describe shows it), or a group id of its own. To change the assignor of a group, list the new one before the old one in all members, or stop all of them first.",
		Price: "none",
		Refs:  []string{"INCONSISTENT_GROUP_PROTOCOL (23)", "KIP-429"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(errorIs("INCONSISTENT_GROUP_PROTOCOL"))
		if len(es) == 0 {
			return
		}
		report(s.logged(Error, "a member offers no assignor of the group (INCONSISTENT_GROUP_PROTOCOL)", es))
	},
})
