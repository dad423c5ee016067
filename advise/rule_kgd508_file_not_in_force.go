package advise

import (
	"fmt"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD508", Name: "file-not-in-force", Severity: Warning, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactClientConfig, inspect.FactMembers},
	Uses:  []inspect.Fact{inspect.FactTimeouts},
	Doc: Doc{
		Summary: "No running member of the group has the timeouts of this file.",
		Why: "The group's metadata record holds the session and rebalance timeout of every member. Where they differ from the file, the file is not in force: another one is " +
			"read, a framework or the code sets the value, or the members have not been restarted.",
		Fix:   "Find out which configuration the members read, or restart them.",
		Price: "none",
		Refs:  []string{"GroupMetadataValue"},
	},
	Unknown: func(s *Subject) string {
		for _, c := range s.Clients {
			if c.Config == nil {
				if _, ok := c.Timed(keySession); ok {
					return ""
				}
			}
		}
		return "the timeouts of the running members were not read"
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, file := range s.Clients {
			if file.Config == nil || file.ServerSide() {
				continue
			}
			for _, key := range []string{keySession, keyPoll} {
				v, ok := file.Set(key)
				if !ok || !v.Timed {
					continue
				}
				running := s.running(key)
				if len(running) == 0 || running[v.D] {
					continue
				}
				var have []string
				for d := range running {
					have = append(have, span(d))
				}
				f := s.Finding(Warning, fmt.Sprintf("%s is %s here, but the running members have %s", v.Spelled, span(v.D), strings.Join(sortedCopy(have), ", ")), v)
				f.Subject = file.Name
				f.Fix = &Fix{}
				report(f)
			}
		}
	},
})

// running collects the values of a setting over the live members.
func (s *Subject) running(key string) map[time.Duration]bool {
	out := map[time.Duration]bool{}
	for _, c := range s.Clients {
		if c.Config != nil || len(c.Members) == 0 {
			continue
		}
		if v, ok := c.Timed(key); ok {
			out[v.D] = true
		}
	}
	return out
}
