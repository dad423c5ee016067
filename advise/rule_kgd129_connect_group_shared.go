package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

// storageTopics are the topics that all workers of one Connect cluster share.
var storageTopics = []string{"config.storage.topic", "offset.storage.topic", "status.storage.topic"}

var _ = register(Rule{
	ID: "KGD129", Name: "connect-group-shared", Severity: Error, Since: "v0.2.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "Connect workers of one group.id store their state in different topics.",
		Why: "The group.id of a worker names its Connect cluster. Two clusters that share one elect a single leader, whose configuration the workers of the other cannot find in their own " +
			"topic: they force a rebalance every few seconds, and connectors start and stop without end.",
		Fix:   "Give each Connect cluster a group.id of its own, and all workers of one cluster the same three topics.",
		Price: "the connectors of a cluster that gets a new group.id start once more",
		Refs:  []string{"DistributedHerder", "DistributedConfig"},
	},
	Check: func(s *Subject, report func(Finding)) {
		var first *Subject
		for _, c := range s.Clients {
			if c.Config == nil || !c.Worker() {
				continue
			}
			if first == nil {
				first = c
				continue
			}
			for _, key := range storageTopics {
				a, okA := first.Set(key)
				b, okB := c.Set(key)
				if !okA || !okB || a.Text == b.Text || placeholder(a.Text) || placeholder(b.Text) {
					continue
				}
				f := s.Finding(Error, fmt.Sprintf("two Connect clusters share group.id=%s: %s is %s in %s and %s in %s", s.Group, key, a.Text, first.Name, b.Text, c.Name), b)
				f.Fix = &Fix{}
				report(f)
				return
			}
		}
	},
})
