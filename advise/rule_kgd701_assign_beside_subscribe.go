package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD701", Name: "assign-beside-subscribe", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A program calls both assign() and subscribe() for one consumer, or for two consumers of one group.",
		Why: "subscribe() joins the group and takes what the group assigns; assign() takes partitions without being a member. One consumer can do one of the two. Of two consumers with one group.id, " +
			"the one that assigns is no member: the coordinator refuses its commits with UNKNOWN_MEMBER_ID as long as the group has members, and both move the same offsets.",
		Fix:   "Call one of the two; give a consumer that assigns by itself a group.id of its own.",
		Price: "a new group.id begins at auto.offset.reset unless the offsets are copied",
		Refs:  []string{"KafkaConsumer.assign", "UNKNOWN_MEMBER_ID (25)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActBoth); found {
			effect := "the later one replaces the earlier one's partitions"
			if s.Family == inspect.Java || s.Family == inspect.KafkaPython || s.Family == inspect.AIOKafka {
				effect = "this client refuses the second one (IllegalState)"
			}
			report(s.acted(Warning, fmt.Sprintf("%s (line %d) and subscribe (%s) are called on one consumer: %s, and only one of the two can hold", a.Call, a.Where.Line, line(*a.Other, a.Where.File), effect), a))
			return
		}
		for _, a := range s.acts(inspect.ActAssign) {
			if a.Group == "" {
				continue
			}
			members := s.groupActs(inspect.ActSubscribe, a)
			if len(members) == 0 {
				continue
			}
			m := members[0]
			report(s.acted(Warning, fmt.Sprintf("a consumer of %s assigns partitions to itself (%s), and another one subscribes (%s): while the group has members, commits of the first one are refused with UNKNOWN_MEMBER_ID, since it is not a member",
				theGroup(a.Group), a.Call, line(m.Where, a.Where.File)), a))
			return
		}
	},
})
