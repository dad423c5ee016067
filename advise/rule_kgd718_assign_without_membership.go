package advise

import (
	"cmp"
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD718", Name: "assign-without-membership", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Uses:  []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A program assigns partitions by hand, and nothing in it subscribes.",
		Why: "A consumer that calls assign() is no member of its group.id: the group does not balance it, none of the events of a rebalance come, and a second such consumer reads the same partitions instead of " +
			"waiting as a standby. That may be meant; where the program listens for rebalances, it is not.",
		Fix:   "Call subscribe() where the group is to share the partitions; keep assign() where each process has its own.",
		Price: "with subscribe() the group decides who reads what",
		Refs:  []string{"KafkaConsumer.assign"},
	},
	Check: func(s *Subject, report func(Finding)) {
		byHand, group, outside := s.outsideGroup()
		if !outside || group == "" {
			return
		}
		a, sev, told := byHand[0], Info, ""
		if es := s.refusedCommits(); len(es) > 0 {
			f := s.acted(Warning, fmt.Sprintf("%s takes partitions by hand, and nothing in the file subscribes: the consumer is no member of %s, and its commits are refused (%s) while other consumers with that group.id are members",
				a.Call, theGroup(group), es[0].Error), a)
			f.Evidence = append(f.Evidence, quoteLines(es[:1])...)
			f.Fix.Summary = "Give this consumer a group.id of its own, which no subscribing consumer has; or call subscribe() where the group is to share the partitions."
			report(f)
			return
		}
		if l, wants := s.firstAct(inspect.ActListens); wants {
			sev, told = Warning, fmt.Sprintf(", and %s (%s) is never called", l.Call, line(l.Where, a.Where.File))
		}
		report(s.acted(sev, fmt.Sprintf("%s takes partitions by hand, and nothing in the file subscribes: the consumer is no member of %s, no rebalance concerns it%s; subscribe() joins the group", a.Call, theGroup(group), told), a))
	},
})

// refusedCommits are the lines of the consumer's logs that refuse what only a member may do.
func (s *Subject) refusedCommits() []inspect.LogEvent {
	var out []inspect.LogEvent
	for _, e := range s.Case.LogEvents {
		if (e.Error == "UNKNOWN_MEMBER_ID" || e.Error == "ILLEGAL_GENERATION") && e.Broker == nil && (e.Group == "" && e.ClientID == "" || s.logsOf(e)) {
			out = append(out, e)
		}
	}
	return out
}

// outsideGroup reports whether the program takes its partitions by hand and nothing in it
// subscribes, so that no rule of a group's members concerns its consumer; with the group
// that it names, if it does.
func (s *Subject) outsideGroup() (byHand []inspect.Act, group string, outside bool) {
	byHand = s.acts(inspect.ActAssign)
	if len(byHand) == 0 || len(s.acts(inspect.ActSubscribe, inspect.ActBoth)) > 0 || s.alsoSubscribed(byHand[0]) {
		return nil, "", false
	}
	return byHand, cmp.Or(byHand[0].Group, s.Group), true
}

// alsoSubscribed reports whether another consumer of the same group subscribes, which
// KGD701 tells.
func (s *Subject) alsoSubscribed(a inspect.Act) bool {
	return a.Group != "" && len(s.groupActs(inspect.ActSubscribe, a)) > 0
}
