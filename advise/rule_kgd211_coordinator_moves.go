package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD211", Name: "coordinator-moves", Severity: Warning, Since: "v0.1.0", Scope: PerGroup,
	Needs:    []inspect.Fact{inspect.FactHistory},
	Explains: map[inspect.Cause]int{inspect.CoordinatorMoved: 1},
	Doc: Doc{
		Summary: "The group's coordinator moved several times.",
		Why: "The coordinator is the leader of the group's partition of __consumer_offsets. When it moves, members lose it, heartbeats fail " +
			"until it is found again, and every session starts over once the new leader has loaded the partition.",
		Fix:   "Find out why the brokers change leadership: restarts, session losses to the controller, preferred leader elections.",
		Price: "none",
		Refs:  []string{"GroupCoordinator.onElection", "auto.leader.rebalance.enable"},
	},
	Check: func(s *Subject, report func(Finding)) {
		var moves []inspect.Rebalance
		for _, r := range s.Timeline.Rebalances {
			if r.Cause == inspect.CoordinatorMoved && r.Confidence != inspect.Low {
				moves = append(moves, r)
			}
		}
		if len(moves) < flaps {
			return
		}
		f := s.Finding(Warning, fmt.Sprintf("the coordinator moved %d times, %s", len(moves), fromTo(moves[0].Time, moves[len(moves)-1].Time)))
		f.Fix = &Fix{}
		report(f)
	},
})
