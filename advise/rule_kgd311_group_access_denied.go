package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD311", Name: "group-access-denied", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A client may not use its group, as its log says.",
		Why: "JoinGroup, Heartbeat and OffsetCommit need READ on the group; without it the client ends with GROUP_AUTHORIZATION_FAILED. Often the ACL names " +
			"another group than the client's group.id.",
		Fix:   "Allow READ on the group to the client's principal, or give the client the group.id that the ACL names.",
		Price: "none",
		Refs:  []string{"GROUP_AUTHORIZATION_FAILED (30)", "kafka-acls --operation Read --group"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(errorIs("GROUP_AUTHORIZATION_FAILED"))
		if len(es) == 0 {
			return
		}
		report(s.logged(Error, "access to the group is denied (GROUP_AUTHORIZATION_FAILED)", es))
	},
})
