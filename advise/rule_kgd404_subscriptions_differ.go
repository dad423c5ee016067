package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD404", Name: "subscriptions-differ", Severity: Warning, Since: "v0.1.0", Scope: PerGroup,
	Needs:     []inspect.Fact{inspect.FactMembers, inspect.FactSubscription},
	SymptomOf: []string{"KGD405"},
	Doc: Doc{
		Summary: "Members of one group subscribe to different topics.",
		Why: "A partition can only go to a member that subscribes to its topic, so the members do not share the work evenly, and every change of one subscription " +
			"rebalances all. During a deployment that changes the subscription it is expected for a while.",
		Fix:   "Let all members of a group subscribe to the same topics, or split the group.",
		Price: "a new group id begins at auto.offset.reset unless its offsets are copied",
		Refs:  []string{"ConsumerPartitionAssignor.Subscription"},
	},
	Check: func(s *Subject, report func(Finding)) {
		sets := s.subscriptionSets()
		if len(sets) < 2 {
			return
		}
		var parts []string
		for _, k := range sortedKeys(sets) {
			parts = append(parts, fmt.Sprintf("%s (%s)", k, list(sets[k])))
		}
		f := s.Finding(Warning, fmt.Sprintf("members subscribe to different topics: %s", strings.Join(parts, "; ")))
		f.Fix = &Fix{}
		report(f)
	},
})

// subscriptionSets maps each subscription of the group to the clients that have it.
// Connect and share groups do not share topics out in this way.
func (s *Subject) subscriptionSets() map[string][]string {
	sets := map[string][]string{}
	if s.Live.Type == inspect.Share || s.Live.Type == inspect.Streams || s.Live.Type == inspect.Classic && s.Live.ProtocolType != "consumer" {
		return sets
	}
	for _, m := range s.Members {
		key := strings.Join(sortedCopy(m.Topics), ", ")
		if m.TopicRegex != "" {
			key = strings.TrimPrefix(key+", /"+m.TopicRegex+"/", ", ")
		}
		if key == "" {
			key = "nothing"
		}
		name := m.ClientID
		if name == "" {
			name = m.MemberID
		}
		sets[key] = append(sets[key], name)
	}
	return sets
}

func sortedCopy(in []string) []string {
	m := make(map[string]bool, len(in))
	for _, s := range in {
		m[s] = true
	}
	return sortedKeys(m)
}
