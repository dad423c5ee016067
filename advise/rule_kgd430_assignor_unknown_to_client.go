package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

// assignorSince are the releases of clients that brought an assignor; "never" for those
// that do not have it.
var assignorSince = []struct {
	family          inspect.Family
	assignor, since string
}{
	{inspect.Librdkafka, "cooperative-sticky", "1.6.0"}, {inspect.Librdkafka, "sticky", "never"}, {inspect.Java, "cooperative-sticky", "2.4"}, {inspect.StreamsLib, "cooperative-sticky", "2.4"},
	{inspect.Java, "sticky", "0.11"},
}

var _ = register(Rule{
	ID: "KGD430", Name: "assignor-unknown-to-client", Severity: Error, Since: "v0.2.0", Scope: PerClient,
	Families: []inspect.Family{inspect.Librdkafka, inspect.Java, inspect.StreamsLib},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "The client's release does not have the assignor that is set.",
		Why:     "A client does not start with a partition.assignment.strategy that it does not know: the cooperative assignor came with librdkafka 1.6 and Java 2.4, and librdkafka has no assignor named sticky.",
		Fix:     "Upgrade the client, or set partition.assignment.strategy to one that it has: range or roundrobin.",
		Price:   "eager assignors stop all members in a rebalance",
		Refs:    []string{"librdkafka CHANGELOG.md 1.6.0", "KIP-429"},
	},
	Check: func(s *Subject, report func(Finding)) {
		v, ok := s.Set(keyAssignors)
		if !ok {
			return
		}
		for _, name := range assignorNames(v.Text) {
			for _, a := range assignorSince {
				never := a.since == "never"
				if a.family != s.Family || !strings.EqualFold(a.assignor, name) || !never && (s.Assumed || s.Version == "" || atLeast(s.Version, a.since)) {
					continue
				}
				why := fmt.Sprintf("%s %s does not know %s, which came with %s", s.Family, s.Version, name, a.since)
				if never {
					why = fmt.Sprintf("%s has no assignor of that name", s.Family)
				}
				f := s.Finding(Error, fmt.Sprintf("%s=%s: %s; the client does not start", v.Spelled, v.Text, why), v)
				f.Fix = &Fix{Set: map[string]string{keyAssignors: "range,roundrobin"}}
				report(f)
				return
			}
		}
	},
})
