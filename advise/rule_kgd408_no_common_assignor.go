package advise

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD408", Name: "no-common-assignor", Severity: Error, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Uses:  []inspect.Fact{inspect.FactState, inspect.FactMembers},
	Doc: Doc{
		Summary: "Members of the group have no assignor in common.",
		Why: "The coordinator chooses an assignor that every member supports. A member whose list shares none with the others is refused with " +
			"INCONSISTENT_GROUP_PROTOCOL. Defaults differ between clients: Java range, librdkafka range and roundrobin, franz-go cooperative-sticky, kafkajs its own RoundRobinAssigner.",
		Fix:   "Give all members of the group a list with a common entry.",
		Price: "the members that change restart once",
		Refs:  []string{"INCONSISTENT_GROUP_PROTOCOL (23)", "GroupMetadata.supportsProtocols"},
	},
	Check: func(s *Subject, report func(Finding)) {
		var common []string
		var names []string
		var leans []Value
		for _, c := range s.Clients {
			v, ok := c.Get(keyAssignors)
			if !ok || c.Config == nil || c.ServerSide() || c.dumped() {
				continue
			}
			have := assignorNames(v.Text)
			names = append(names, fmt.Sprintf("%s has %s", c.Name, strings.Join(have, ",")))
			leans = append(leans, v)
			if len(names) == 1 {
				common = have
				continue
			}
			common = slices.DeleteFunc(slices.Clone(common), func(a string) bool { return !slices.Contains(have, a) })
		}
		running := ""
		if s.Live != nil && s.Live.Type == inspect.Classic && s.Live.ProtocolType == "consumer" && s.Live.State == "Stable" && len(s.Live.Members) > 0 {
			running = assignorName(s.Live.Assignor)
		}
		switch {
		case len(names) > 1 && len(common) == 0:
			f := s.Finding(Error, "no assignor in common: "+strings.Join(names, "; "), leans...)
			f.Fix = &Fix{}
			report(f)
		case len(names) > 0 && running != "" && !slices.Contains(common, running):
			f := s.Finding(Error, fmt.Sprintf("the group runs with %s, but %s: the new member is refused", running, strings.Join(names, "; ")), leans...)
			f.Evidence = append(f.Evidence, "no API returns the lists of the running members; only the assignor in use is known")
			f.Confidence = inspect.Medium
			f.Fix = &Fix{}
			report(f)
		}
	},
})
