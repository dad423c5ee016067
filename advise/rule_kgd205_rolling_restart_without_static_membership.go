package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD205", Name: "rolling-restart-without-static-membership", Severity: Info, Since: "v0.1.0", Scope: PerGroup,
	Needs:    []inspect.Fact{inspect.FactHistory},
	Explains: map[inspect.Cause]int{inspect.RestartedWithinSession: 2, inspect.MemberLeft: 3, inspect.RollingRestart: 1},
	Doc: Doc{
		Summary: "Deploys rebalance the group at every restart, because its members are dynamic.",
		Why: "A dynamic member gets a new member id at each start: its departure and its rejoin are two rebalances. A static member " +
			"(group.instance.id, Kafka 2.3) that is back within its session gets its partitions back without a rebalance.",
		Fix:   "Give each member a group.instance.id of its own that survives the restart, and a session.timeout.ms longer than a restart takes.",
		Price: "a dead member is noticed only after the session",
		Refs:  []string{"KIP-345"},
	},
	Check: func(s *Subject, report func(Finding)) {
		n, dynamic := 0, 0
		for _, r := range s.Timeline.Rebalances {
			if r.Cause != inspect.RollingRestart || r.Confidence == inspect.Low {
				continue
			}
			n++
			for _, l := range r.Members.Left {
				if l.InstanceID == nil {
					dynamic++
				}
			}
			for _, l := range r.Members.Replaced {
				if l.InstanceID == nil {
					dynamic++
				}
			}
		}
		if n == 0 || dynamic == 0 {
			return
		}
		f := s.Finding(Info, fmt.Sprintf("%s of dynamic members in rolling restarts triggered a rebalance each", count(dynamic, "restart")))
		f.Fix = &Fix{}
		report(f)
	},
})
