package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD225", Name: "assigned-by-hand-in-group", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "One client of a group subscribes to topics and another one assigns partitions to itself, as their logs say.",
		Why: "assign() takes partitions without being a member. Its commits under a group.id that has members are refused (UNKNOWN_MEMBER_ID), and where they are not, two consumers move the same " +
			"committed offsets.",
		Fix:   "Give the client that assigns by itself a group.id of its own.",
		Price: "it begins at auto.offset.reset unless its offsets are copied",
		Refs:  []string{"KafkaConsumer.assign", "CommitFailedException"},
	},
	Check: func(s *Subject, report func(Finding)) {
		byHand := s.Logged(signIs(inspect.SignAssignedByHand))
		members := s.Logged(signIs(inspect.SignSubscribed))
		if s.Group == "" || len(byHand) == 0 || len(members) == 0 {
			return
		}
		who := distinct(byHand, laneOf)
		for _, m := range members {
			if len(who) == 1 && laneOf(m) == who[0] {
				return // one client that changed its mind
			}
		}
		f := s.logged(Warning, fmt.Sprintf("a client assigns partitions to itself (assign) in a group whose members subscribe (%s)", list(distinct(members, laneOf))), byHand)
		report(f)
	},
})
