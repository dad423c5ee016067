package advise

import (
	"fmt"
	"strconv"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD306", Name: "group-at-max-size", Severity: Error, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactMembers, inspect.FactBrokerConfig},
	Doc: Doc{
		Summary: "The group has as many members as the broker allows, or nearly so.",
		Why: "A member beyond group.max.size (group.consumer.max.size for the consumer protocol) is refused with GROUP_MAX_SIZE_REACHED, which " +
			"clients treat as fatal. In a rolling restart the new member may come before the old one is gone.",
		Fix:   "Run fewer members, or raise the limit on every broker.",
		Price: "a larger group takes longer to rebalance",
		Refs:  []string{"KIP-389", "GROUP_MAX_SIZE_REACHED (81)"},
	},
	Unknown: func(s *Subject) string { return s.unreadBrokerKey(s.sizeKey()) },
	Check: func(s *Subject, report func(Finding)) {
		key := s.sizeKey()
		least := int64(0)
		for _, b := range s.Case.Brokers {
			if n, err := strconv.ParseInt(b.Config[key], 10, 64); err == nil && n > 0 && (least == 0 || n < least) {
				least = n
			}
		}
		n := int64(len(s.Members))
		if least == 0 || n*10 < least*9 || n == 0 {
			return
		}
		sev, what := Warning, "nearly as many as"
		if n >= least {
			sev, what = Error, "as many as"
		}
		f := s.Finding(sev, fmt.Sprintf("%s, %s %s=%d allows: the next one is refused", count(len(s.Members), "member"), what, key, least))
		f.Fix = &Fix{}
		report(f)
	},
})

// sizeKey is the broker's limit for the members of this group's protocol.
func (s *Subject) sizeKey() string {
	if s.Live.Type == inspect.Consumer {
		return "group.consumer.max.size"
	}
	return "group.max.size"
}
