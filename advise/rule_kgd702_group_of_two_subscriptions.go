package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD702", Name: "group-of-two-subscriptions", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "Consumers of one group.id subscribe to different topics.",
		Why: "A group is assigned the topics of all its members. Each join, departure and late poll of one consumer rebalances those of the other topic as well, and a consumer that nobody polls " +
			"holds the rebalance up for all until its rebalance timeout. Clients that expect one subscription in a group fail where the leader does not know a topic.",
		Fix:   "Give the consumers of each subscription a group.id of their own.",
		Price: "a new group.id begins at auto.offset.reset unless the offsets are copied",
		Refs:  []string{"ConsumerPartitionAssignor", "KIP-429"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, a := range s.acts(inspect.ActSubscribe) {
			if a.Group == "" || a.Topics == "" {
				continue
			}
			for _, o := range s.groupActs(inspect.ActSubscribe, a) {
				if o.Topics == "" || o.Topics == a.Topics || o.Consumer == a.Consumer && o.Where.File == a.Where.File || before(o.Where, a.Where) {
					continue
				}
				sev := Warning
				if strings.HasPrefix(a.Call, "@") && len(s.lateLogged()) == 0 {
					sev = Info // a framework that runs each listener on a thread of its own
				}
				report(s.acted(sev, fmt.Sprintf("consumers of %s subscribe to different topics, %s (line %d) and %s (%s): each join and each late poll of one rebalances the other, and one that is not polled holds up both",
					theGroup(a.Group), a.Topics, a.Where.Line, o.Topics, line(o.Where, a.Where.File)), a))
				return
			}
		}
	},
})

// before orders places of one case: by file, then by line.
func before(a, b inspect.Position) bool {
	return a.File < b.File || a.File == b.File && a.Line < b.Line
}
