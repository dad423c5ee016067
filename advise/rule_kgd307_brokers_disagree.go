package advise

import (
	"fmt"
	"sort"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD307", Name: "brokers-disagree", Severity: Warning, Since: "v0.1.0", Scope: PerCluster,
	Needs: []inspect.Fact{inspect.FactBrokerConfig},
	Doc: Doc{
		Summary: "Brokers have different settings for groups.",
		Why: "A group is bound by the settings of the broker that coordinates it. When coordination moves, as in a rolling restart, the same consumers get " +
			"other bounds: a session timeout that was allowed is refused, or offsets are kept for another time.",
		Fix:   "Give all brokers the same group and offsets settings.",
		Price: "brokers restart one by one",
		Refs:  []string{"GroupCoordinatorConfig"},
	},
	Check: func(s *Subject, report func(Finding)) {
		values := map[string]map[string][]string{}
		for _, b := range s.Case.Brokers {
			for k, v := range b.Config {
				if !strings.HasPrefix(k, "group.") && !strings.HasPrefix(k, "offsets.") {
					continue
				}
				if values[k] == nil {
					values[k] = map[string][]string{}
				}
				values[k][v] = append(values[k][v], fmt.Sprint(b.ID))
			}
		}
		for _, k := range sortedKeys(values) {
			if len(values[k]) < 2 {
				continue
			}
			var parts []string
			for _, v := range sortedKeys(values[k]) {
				ids := values[k][v]
				sort.Strings(ids)
				parts = append(parts, fmt.Sprintf("%s on broker %s", v, list(ids)))
			}
			f := s.Finding(Warning, fmt.Sprintf("brokers disagree on %s: %s", k, strings.Join(parts, ", ")))
			f.Fix = &Fix{}
			report(f)
		}
	},
})
