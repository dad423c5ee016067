package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// longSession is from where a static member's session is worth a look.
const longSession = 5 * time.Minute

var _ = register(Rule{
	ID: "KGD208", Name: "session-longer-than-restart", Severity: Info, Since: "v0.1.0", Scope: PerClient,
	Needs:    []inspect.Fact{inspect.FactTimeouts, inspect.FactHistory},
	Uses:     []inspect.Fact{inspect.FactMembers, inspect.FactClientConfig},
	Explains: map[inspect.Cause]int{inspect.RestartedWithinSession: 3, inspect.StaticMemberRestarted: 1},
	Doc: Doc{
		Summary: "Static members have a session many times longer than their restarts take.",
		Why: "The session of a static member bounds how long a dead member keeps its partitions. It need not be longer than a " +
			"restart takes, with a margin.",
		Fix:   "Lower session.timeout.ms to what a restart takes, with a margin.",
		Price: "a restart that takes longer costs a rebalance",
		Refs:  []string{"KIP-345"},
	},
	Check: func(s *Subject, report func(Finding)) {
		session, ok := s.Sane(keySession)
		if !ok || s.ServerSide() || session.D < longSession {
			return
		}
		out := left(s.Timeline, func(d departure) bool {
			return d.InstanceID != nil && d.back() && d.BackAfter != nil && s.hasClient(d.ClientID, d.MemberID)
		})
		if len(out) < flaps {
			return
		}
		longest := time.Duration(0)
		for _, d := range out {
			longest = max(longest, d.BackAfter.Duration())
		}
		to := max(inspect.RoundUp(2*longest), 45*time.Second)
		if session.D < 4*to {
			return
		}
		f := s.Finding(Info, fmt.Sprintf("%s is %s, but restarts took %s at most (%s)", session.Spelled, span(session.D), span(longest.Truncate(time.Second)), times(out)), session)
		f.Confidence = leastSure(out)
		f.Fix = &Fix{Set: map[string]string{keySession: ms(to)}, Notes: notesFor(keySession, "twice the longest restart, rounded up")}
		report(f)
	},
})
