package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD101", Name: "heartbeat-over-third", Severity: Warning, Since: "v0.1.0", Scope: PerClient, Member: true,
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Uses:     []inspect.Fact{inspect.FactBrokerConfig},
	Explains: map[inspect.Cause]int{inspect.SessionExpired: 5},
	Doc: Doc{
		Summary: "The heartbeat interval is over a third of the session timeout.",
		Why: "The coordinator evicts a member that sends no heartbeat for the session timeout. With three heartbeats to a session, two " +
			"may be lost or late before that happens. With fewer, one slow request or short pause rebalances the group.",
		Fix:   "Set heartbeat.interval.ms to at most a third of session.timeout.ms.",
		Price: "a few more small requests to the coordinator",
		Refs:  []string{"CommonClientConfigs.HEARTBEAT_INTERVAL_MS_DOC", "KIP-62"},
	},
	Check: func(s *Subject, report func(Finding)) {
		hb, session, ok := s.beat()
		if !ok || hb.D >= session.D || hb.D*inspect.HeartbeatsPerSession <= session.D {
			return
		}
		f := s.Finding(Warning, fmt.Sprintf("%s is %s, over a third of %s (%s): %s into one session, three should",
			hb.Spelled, span(hb.D), session.Spelled, span(session.D), fits(int64(session.D/hb.D))), hb, session)
		f.Fix, f.reach = s.beatFix(hb, session), session.D+hb.D
		report(f)
	},
})

func fits(n int64) string {
	if n == 1 {
		return "one heartbeat fits"
	}
	return fmt.Sprintf("%d heartbeats fit", n)
}

// beat gives heartbeat interval and session timeout where the consumer itself sets
// both: not under the consumer protocol, where they are the broker's.
func (s *Subject) beat() (hb, session Value, ok bool) {
	if s.ServerSide() {
		return hb, session, false
	}
	hb, okHB := s.Sane(keyHeartbeat)
	session, okSession := s.Sane(keySession)
	return hb, session, okHB && okSession && hb.D > 0
}

// beatAndSession sets a session that brokers allow by default, and a heartbeat that fits
// into it: one change for both, where a broker would refuse the session as well.
func (s *Subject) beatAndSession(hb Value) *Fix {
	session := s.safeSession(defaultSessionMin, defaultSessionMax)
	x := &Fix{Set: map[string]string{keySession: ms(session)}, Notes: notesFor(keySession, s.isDefault(keySession, session)+"within the bounds of brokers (6s to 30m by default)"),
		Price: fmt.Sprintf("a dead member is noticed after %s", span(session))}
	if to := third(session); hb.D > to {
		x.Set[keyHeartbeat] = ms(to)
		x.note(keyHeartbeat, fmt.Sprintf("%s / %d", span(session), inspect.HeartbeatsPerSession))
	}
	return x
}

// isDefault says of a value that it is the client's default, where it is; "" else.
func (s *Subject) isDefault(key string, d time.Duration) string {
	if d == s.DefaultOf(key) {
		return "the client's default; "
	}
	return ""
}

// beatFix makes three heartbeats fit into the session: by a shorter interval, or by
// a longer session where the broker allows it.
func (s *Subject) beatFix(hb, session Value) *Fix {
	if s.outsideDefaultBounds(session) {
		return s.beatAndSession(hb)
	}
	to := third(session.D)
	x := &Fix{Set: map[string]string{keyHeartbeat: ms(to)},
		Notes: notesFor(keyHeartbeat, fmt.Sprintf("%s / %d = %s", span(session.D), inspect.HeartbeatsPerSession, span(session.D/inspect.HeartbeatsPerSession)))}
	if longer := inspect.RoundUp(hb.D * inspect.HeartbeatsPerSession); longer <= s.sessionCeiling() && longer >= hb.D*inspect.HeartbeatsPerSession {
		x.Alternatives = append(x.Alternatives, map[string]string{keySession: ms(longer)})
		x.Notes[keySession] = fmt.Sprintf("%d x %s, rounded up; a dead member is then noticed after %s", inspect.HeartbeatsPerSession, span(hb.D), span(longer))
	}
	return x
}
