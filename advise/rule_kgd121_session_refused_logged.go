package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD121", Name: "session-refused-logged", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD104", "KGD108", "KGD116", "KGD107"},
	Doc: Doc{
		Summary: "The broker refused a member because of its session timeout, as its log says.",
		Why: "JoinGroup with a session.timeout.ms outside group.min.session.timeout.ms and group.max.session.timeout.ms is answered by INVALID_SESSION_TIMEOUT. " +
			"The commonest reason besides a changed bound is a wrong unit: nanoseconds, seconds and milliseconds mixed up.",
		Fix:   "Set session.timeout.ms within the bounds of the broker; check the unit that the client library takes.",
		Price: "none",
		Refs:  []string{"INVALID_SESSION_TIMEOUT (26)", "GroupCoordinatorService.classicGroupJoin"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(errorIs("INVALID_SESSION_TIMEOUT"))
		if len(es) == 0 {
			return
		}
		report(s.logged(Error, "the broker refuses the session timeout"+s.said(keySession)+" (INVALID_SESSION_TIMEOUT): it is outside of its group.min.session.timeout.ms to group.max.session.timeout.ms, by default at least 6s, and at most 30m since Kafka 2.3, 5m before, 30s in 0.9", es))
	},
})
