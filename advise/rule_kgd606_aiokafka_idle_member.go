package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD606", Name: "aiokafka-idle-member", Severity: Warning, Since: "v0.1.0", Scope: PerClient,
	Families: []inspect.Family{inspect.AIOKafka},
	Needs:    []inspect.Fact{inspect.FactMembers, inspect.FactAssignment},
	Doc: Doc{
		Summary: "A member of aiokafka without partitions may never rejoin.",
		Why: "aiokafka checks the time since the last poll against max_poll_interval_ms for members without partitions too, and then stops its heartbeats without rejoining. A standby " +
			"member is gone when it is needed.",
		Fix:   "Run at most as many members as there are partitions.",
		Price: "no standby member",
		Refs:  []string{"aiokafka#1187"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if s.Family != inspect.AIOKafka {
			return
		}
		var idle []string
		for _, m := range s.Members {
			if m.Assignment != nil && len(m.Assignment) == 0 {
				idle = append(idle, m.ClientID)
			}
		}
		if len(idle) == 0 {
			return
		}
		f := s.Finding(Warning, "no partitions for "+list(idle)+": aiokafka may not rejoin when they are needed (aiokafka#1187)")
		f.Fix = &Fix{}
		report(f)
	},
})
