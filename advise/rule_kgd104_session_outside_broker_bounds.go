package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD104", Name: "session-outside-broker-bounds", Severity: Error, Since: "v0.1.0", Scope: PerClient, Member: true,
	Needs:     []inspect.Fact{inspect.FactTimeouts, inspect.FactBrokerConfig},
	SymptomOf: []string{"KGD108"},
	Doc: Doc{
		Summary: "The session timeout is outside of what this broker allows.",
		Why: "The coordinator refuses a JoinGroup whose session timeout is below group.min.session.timeout.ms or above " +
			"group.max.session.timeout.ms with INVALID_SESSION_TIMEOUT, so the consumer never gets into the group.",
		Fix:   "Set session.timeout.ms between the broker's two bounds, or change the bounds on every broker.",
		Price: "a dead member is noticed after the new session timeout",
		Refs:  []string{"GroupCoordinatorConfig", "INVALID_SESSION_TIMEOUT (26)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		least, most, ok := s.SessionBounds()
		session, okSession := s.Sane(keySession)
		if !ok || !okSession || s.ServerSide() {
			return
		}
		var f Finding
		switch {
		case session.D < least.D:
			to := s.safeSession(least.D, most.D)
			f = s.Finding(Error, fmt.Sprintf("%s is %s, below %s=%s of %s: JoinGroup is refused with INVALID_SESSION_TIMEOUT",
				session.Spelled, span(session.D), keyBrokerMin, ms(least.D), least.From), session)
			f.Fix = &Fix{Set: map[string]string{keySession: ms(to)}, Notes: notesFor(keySession, "the broker's minimum is "+span(least.D))}
		case session.D > most.D:
			f = s.Finding(Error, fmt.Sprintf("%s is %s, above %s=%s of %s: JoinGroup is refused with INVALID_SESSION_TIMEOUT",
				session.Spelled, span(session.D), keyBrokerMax, ms(most.D), most.From), session)
			f.Fix = &Fix{Set: map[string]string{keySession: ms(most.D)}, Notes: notesFor(keySession, "the broker's maximum")}
		default:
			return
		}
		report(f)
	},
})

// safeSession is a session timeout well inside the broker's bounds: the client's
// default where that is, else half as much again as the minimum.
func (s *Subject) safeSession(least, most time.Duration) time.Duration {
	margin := least + least/2
	if d := s.DefaultOf(keySession); d >= margin && d <= most {
		return d
	}
	return min(inspect.RoundUp(margin), most)
}
