package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD422", Name: "pattern-matches-whole-name", Severity: Warning, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactMembers, inspect.FactSubscription},
	Doc: Doc{
		Summary: "A pattern that the broker evaluates (KIP-848) looks as if it were meant as a prefix.",
		Why: "Under the consumer protocol the broker matches patterns by RE2/J, and against the whole topic name. Clients' own matching, which it replaces, found " +
			"^orders in orders-eu too. Look-around and back-references of Java's patterns do not exist in RE2/J.",
		Fix:   "Write .* where the name may continue, for example ^orders.* in place of ^orders.",
		Price: "none",
		Refs:  []string{"KIP-848", "librdkafka INTRODUCTION.md, migration guide", "RE2/J"},
	},
	Check: func(s *Subject, report func(Finding)) {
		seen := map[string]bool{}
		for _, m := range s.Live.Members {
			p := m.TopicRegex
			if p == "" || seen[p] || !prefixLike(p) {
				continue
			}
			seen[p] = true
			sev := Info
			if len(m.Assignment) == 0 && len(m.Topics) == 0 {
				sev = Warning // nothing came of it
			}
			f := s.Finding(sev, fmt.Sprintf("the pattern %s of client %s matches a topic of just that name, not those that begin with it", p, m.ClientID))
			f.Fix = &Fix{}
			report(f)
		}
	},
})

// prefixLike holds for a pattern without any wildcard that is anchored at its start
// alone.
func prefixLike(p string) bool {
	return strings.HasPrefix(p, "^") && !strings.HasSuffix(p, "$") && !strings.ContainsAny(p, "*+?[]{}|()")
}
