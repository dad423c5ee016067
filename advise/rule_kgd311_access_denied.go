package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD311", Name: "access-denied", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A client may not use its group or its topics, as its log says.",
		Why: "Reading needs READ on the topics; JoinGroup, Heartbeat and OffsetCommit need READ on the group; without it the client ends with GROUP_AUTHORIZATION_FAILED. Often the ACL names " +
			"another group than the client's group.id.",
		Fix:   "Allow READ on the group and its topics to the client's principal, or give the client the group.id that the ACL names.",
		Price: "none",
		Refs:  []string{"GROUP_AUTHORIZATION_FAILED (30)", "kafka-acls --operation Read --group"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, denied := range []struct{ what, code string }{{"group", "GROUP_AUTHORIZATION_FAILED"}, {"topics", "TOPIC_AUTHORIZATION_FAILED"}} {
			if es := s.Logged(errorIs(denied.code)); len(es) > 0 {
				report(s.logged(Error, "access to the "+denied.what+" is denied ("+denied.code+")", es))
			}
		}
	},
})
