package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD410", Name: "instance-id-duplicate", Severity: Error, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Uses:  []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "Several consumers of a group have the same group.instance.id.",
		Why: "A group.instance.id belongs to one member. Under the classic protocol a second one with the same id takes the place of the first, which then gets " +
			"FENCED_INSTANCE_ID and, in most clients, ends; restarted by a supervisor, it fences the other in turn. Under the consumer protocol the newer one is refused with UNRELEASED_INSTANCE_ID.",
		Fix:   "Give each consumer an id of its own, such as the name of a StatefulSet's pod and the number of the thread.",
		Price: "none",
		Refs:  []string{"KIP-345", "FENCED_INSTANCE_ID (82)", "UNRELEASED_INSTANCE_ID (111)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		byID := map[string][]*Subject{}
		for _, c := range s.Clients {
			v, ok := c.Set(keyInstance)
			if !ok || v.Text == "" || c.Config == nil || placeholder(v.Text) {
				continue
			}
			byID[v.Text] = append(byID[v.Text], c)
		}
		for _, id := range sortedKeys(byID) {
			cs := byID[id]
			members := 0
			var files []string
			for _, c := range cs {
				n := max(c.Config.Members, 1)
				if c.Config.Dialect == "spring" {
					n = 1 // Spring appends the number of the thread
				}
				members += n
				files = append(files, c.Name)
			}
			if members < 2 {
				continue
			}
			v, _ := cs[0].Get(keyInstance)
			f := s.Finding(Error, fmt.Sprintf("group.instance.id %q is set for %s of the group (%s)", id, count(members, "consumer"), list(files)), v)
			f.Fix = &Fix{}
			report(f)
		}
	},
})

// placeholder reports whether a value still has to be filled in when the program
// starts, so that it may differ from process to process.
func placeholder(value string) bool {
	for i := 0; i+1 < len(value); i++ {
		if (value[i] == '$' || value[i] == '#' || value[i] == '%') && (value[i+1] == '{' || value[i+1] == '(') || value[i] == '{' && value[i+1] == '{' {
			return true
		}
	}
	return len(value) > 1 && (value[0] == '$' || value[0] == '%') || strings.Contains(value, "{pod name of a ")
}
