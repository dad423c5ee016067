package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD423", Name: "commits-outside-subscription", Severity: Info, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactMembers, inspect.FactSubscription, inspect.FactLag},
	Doc: Doc{
		Summary: "The group has committed offsets of topics that none of its members subscribes to.",
		Why: "Either the subscription has changed and the offsets are left over, or another program uses the same group id with assign(): it is no member, its commits are " +
			"refused while the group has members, and it reads what the members read.",
		Fix:   "Give a program that uses assign() a group id of its own; delete left-over offsets (kafka-consumer-groups --delete-offsets).",
		Price: "none",
		Refs:  []string{"KafkaConsumer javadoc, Manual Partition Assignment", "UNKNOWN_MEMBER_ID (25)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if len(s.Live.Members) == 0 {
			return
		}
		subscribed := map[string]bool{}
		for _, m := range s.Live.Members {
			if m.TopicRegex != "" {
				return // what a pattern matches is the broker's to say
			}
			for _, t := range m.Topics {
				subscribed[t] = true
			}
		}
		outside := map[string]bool{}
		for _, o := range s.Live.Offsets {
			if o.Committed != nil && !subscribed[o.Topic] {
				outside[o.Topic] = true
			}
		}
		if len(outside) == 0 {
			return
		}
		f := s.Finding(Info, fmt.Sprintf("offsets of %s are committed, but no member subscribes to it", list(sortedKeys(outside))))
		f.Confidence = inspect.Low
		f.Fix = &Fix{}
		report(f)
	},
})
