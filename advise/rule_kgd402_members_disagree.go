package advise

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD402", Name: "members-disagree", Severity: Warning, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactTimeouts},
	Doc: Doc{
		Summary: "Members of one group run with different timeouts.",
		Why: "Each member brings its own session and rebalance timeout into the group. The join phase waits for the longest rebalance " +
			"timeout of all, so the longest setting applies to all members, and the shortest session is the first to expire.",
		Fix:   "Give all members of the group the same timeouts.",
		Price: "the members that change restart once",
		Refs:  []string{"ClassicGroup.rebalanceTimeoutMs"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, source := range []bool{true, false} { // the live members among themselves, then the files
			for _, key := range []string{keySession, keyPoll, keyRebalance} {
				if f, ok := disagreement(s, key, source); ok {
					report(f)
				}
			}
		}
		if f, ok := assignorDisagreement(s); ok {
			report(f)
		}
	},
})

// disagreement compares one setting over the consumers of a group that were read
// from the cluster, or from files.
func disagreement(s *Subject, key string, live bool) (Finding, bool) {
	who := map[time.Duration][]string{}
	var leans []Value
	for _, c := range s.Clients {
		if (c.Config == nil) != live || live && len(c.Members) == 0 || key == keySession && c.ServerSide() {
			continue
		}
		v, ok := c.Sane(key)
		if !ok {
			continue
		}
		if len(who[v.D]) == 0 {
			leans = append(leans, v)
		}
		who[v.D] = append(who[v.D], strings.TrimPrefix(strings.TrimPrefix(c.Name, "clients "), "client "))
	}
	if len(who) < 2 {
		return Finding{}, false
	}
	values := make([]time.Duration, 0, len(who))
	for d := range who {
		values = append(values, d)
	}
	sort.Slice(values, func(i, j int) bool { return values[i] < values[j] })
	var parts []string
	for _, d := range values {
		parts = append(parts, fmt.Sprintf("%s (%s)", span(d), list(who[d])))
	}
	f := s.Finding(Warning, fmt.Sprintf("members disagree on %s: %s", key, strings.Join(parts, ", ")))
	for _, v := range leans {
		if v.Where != nil {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s:%d %s=%s", v.Where.File, v.Where.Line, v.Spelled, v.Text))
		}
	}
	most := values[len(values)-1]
	if key != keySession {
		f.Evidence = append(f.Evidence, fmt.Sprintf("a rebalance of the whole group may wait %s for one member", span(most)))
	}
	f.Fix = &Fix{}
	if live {
		f.Fix.Set = map[string]string{key: ms(most)}
		f.Fix.Notes = notesFor(key, "the largest of those in use; lower it for all if that is too long")
		f.Fix.Summary = "Give all members of the group the same timeouts."
	}
	return f, true
}

// assignorDisagreement compares the server assignors that KIP-848 members ask for: the
// coordinator takes the one that most of them name, and the others' wish goes unheard.
func assignorDisagreement(s *Subject) (Finding, bool) {
	if s.Live == nil {
		return Finding{}, false
	}
	who := map[string][]string{}
	for _, m := range s.Live.Members {
		if m.ServerAssignor != nil && *m.ServerAssignor != "" {
			who[*m.ServerAssignor] = append(who[*m.ServerAssignor], m.ClientID)
		}
	}
	if len(who) < 2 {
		return Finding{}, false
	}
	var parts []string
	for _, name := range sortedKeys(who) {
		parts = append(parts, fmt.Sprintf("%s (%s)", name, list(who[name])))
	}
	f := s.Finding(Warning, "members disagree on group.remote.assignor: "+strings.Join(parts, ", "))
	f.Evidence = append(f.Evidence, "the coordinator takes the one that most members name (KIP-848)")
	f.Fix = &Fix{Summary: "Give all members of the group the same group.remote.assignor, or none."}
	return f, true
}
