package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD123", Name: "group-session-outside-bounds", Severity: Warning, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactState, inspect.FactBrokerConfig},
	Uses:  []inspect.Fact{inspect.FactGroupConfig},
	Unknown: func(s *Subject) string { // classic groups have no session of their own
		if s.Live.Type != inspect.Classic && s.Live.Limits.Session == nil {
			return "the group's configuration was not read (Kafka 4.0)"
		}
		return ""
	},
	Doc: Doc{
		Summary: "The session timeout that a KIP-848 group was given lies outside the broker's bounds.",
		Why: "consumer.session.timeout.ms of a group must lie between group.consumer.min.session.timeout.ms and group.consumer.max.session.timeout.ms. When the bounds are " +
			"narrowed later, the stored value stays: brokers from 4.3 on use the bound instead and log a warning; earlier ones keep the value.",
		Fix:   "Set consumer.session.timeout.ms of the group within the bounds, or widen them on the brokers.",
		Price: "a longer session notices a dead member later",
		Refs:  []string{"KIP-848", "GroupConfig.clampToRange"},
	},
	Check: func(s *Subject, report func(Finding)) {
		l := s.Live.Limits
		if s.Live.Type == inspect.Classic || l.Session == nil || l.SessionMin == nil || l.SessionMax == nil {
			return
		}
		session := l.Session.Duration()
		if session >= l.SessionMin.Duration() && session <= l.SessionMax.Duration() {
			return
		}
		f := s.Finding(Warning, fmt.Sprintf("consumer.session.timeout.ms is %s, outside %s to %s of the broker", span(session), span(l.SessionMin.Duration()), span(l.SessionMax.Duration())))
		f.Fix = &Fix{}
		report(f)
	},
})
