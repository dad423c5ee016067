package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD405", Name: "group-id-shared", Severity: Error, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactMembers, inspect.FactSubscription},
	Doc: Doc{
		Summary: "Members of one group have no topic in common: two applications share one group id.",
		Why: "A group is one application. Members that read other topics share nothing but the rebalances: each deployment, crash or scaling of one " +
			"application stops the other, and some assignors leave topics unassigned when subscriptions differ.",
		Fix:   "Give each application a group id of its own.",
		Price: "a new group id begins at auto.offset.reset unless its offsets are copied",
		Refs:  []string{"spring-kafka#3784", "apache/openwhisk#2498"},
	},
	Check: func(s *Subject, report func(Finding)) {
		parts := s.disjoint()
		if len(parts) < 2 {
			return
		}
		var words []string
		for _, p := range parts {
			words = append(words, fmt.Sprintf("{%s} by %s", list(p.topics), list(p.clients)))
		}
		f := s.Finding(Error, fmt.Sprintf("the members share no topic: %s", strings.Join(words, ", ")))
		f.Confidence = inspect.Medium
		f.Evidence = append(f.Evidence, "while a deployment changes the topics, this is so for a moment")
		f.Fix = &Fix{}
		report(f)
	},
})

type part struct{ topics, clients []string }

// disjoint splits the members into sets that share no topic. Patterns may match
// anything, so that a group with one is never split.
func (s *Subject) disjoint() []part {
	if len(s.subscriptionSets()) < 2 {
		return nil
	}
	var parts []part
	for _, m := range s.Members {
		if m.TopicRegex != "" || len(m.Topics) == 0 {
			return nil
		}
		joined := part{topics: sortedCopy(m.Topics), clients: []string{m.ClientID}}
		var rest []part
		for _, p := range parts {
			if overlap(p.topics, joined.topics) {
				joined.topics = sortedCopy(append(joined.topics, p.topics...))
				joined.clients = sortedCopy(append(joined.clients, p.clients...))
				continue
			}
			rest = append(rest, p)
		}
		parts = append(rest, joined)
	}
	return parts
}

func overlap(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				return true
			}
		}
	}
	return false
}
