package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD221", Name: "pending-member-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A member id was given out and never used, and the join phase waited for it, as the coordinator's log says.",
		Why: "The first JoinGroup of a member is answered by an id (MEMBER_ID_REQUIRED, KIP-394), with which it has to come back. Until it does, or its session has passed, the id is pending and the " +
			"join phase does not end. A client that asks twice in one start leaves an id behind; so does one that dies between its two requests.",
		Fix:   "Upgrade the client where one start asks for two ids; otherwise look at why the client did not come back. A shorter session.timeout.ms shortens the wait.",
		Price: "a shorter session is less patient with pauses",
		Refs:  []string{"KIP-394", "GroupCoordinator.expirePendingMember", "librdkafka#5569"},
	},
	Check: func(s *Subject, report func(Finding)) {
		removed := s.Logged(signIs(inspect.SignPendingRemoved))
		if len(removed) == 0 {
			return
		}
		e := removed[0]
		what := "a pending member held up the join phase: it was given a member id and never came back with it"
		for _, c := range s.Logged(signIs(inspect.SignMemberIDCreated)) {
			if c.MemberID != e.MemberID || c.Time.IsZero() || e.Time.IsZero() {
				continue
			}
			what = fmt.Sprintf("a pending member held up the join phase for %s, its session: it was given a member id and did not rejoin with it", span(e.Time.Sub(c.Time.Time).Round(time.Second)))
			if twin := s.twinID(c); twin != "" {
				what += fmt.Sprintf("; the same start had asked for a member id twice (the other is %s), a fault of the client's handshake (KIP-394)", twin)
			}
			break
		}
		f := s.logged(Warning, what, removed)
		f.Confidence = inspect.Medium
		report(f)
	},
})

// twinID is the member id that the same client was given within a second of another
// one; "" for none.
func (s *Subject) twinID(c inspect.LogEvent) string {
	for _, o := range s.Logged(signIs(inspect.SignMemberIDCreated)) {
		if o.MemberID != c.MemberID && laneOf(o) == laneOf(c) && sameMoment(o, c) {
			return o.MemberID
		}
	}
	return ""
}
