package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD103", Name: "session-too-tight-for-pauses", Severity: Error, Since: "v0.1.0", Scope: PerClient, Member: true,
	Needs:     []inspect.Fact{inspect.FactTimeouts, inspect.FactPause},
	Uses:      []inspect.Fact{inspect.FactBrokerConfig, inspect.FactClientConfig, inspect.FactGroupConfig},
	SymptomOf: []string{"KGD102", "KGD101"},
	Explains:  map[inspect.Cause]int{inspect.SessionExpired: 3},
	Doc: Doc{
		Summary: "The session timeout is shorter than three heartbeats plus the longest pause of the process.",
		Why: "While the process is paused, by garbage collection or without CPU time, its heartbeat thread is paused too. A pause " +
			"longer than the session timeout evicts the member, and its partitions go to others.",
		Fix:   "Raise session.timeout.ms above three heartbeats plus the longest pause, or shorten the pause.",
		Price: "a dead member is noticed later; until then its partitions are not consumed",
		Refs:  []string{"KIP-62", "KIP-735"},
	},
	Unknown: func(s *Subject) string {
		if s.ServerSide() && (s.Live == nil || s.Live.Limits.Session == nil) {
			return "under the consumer protocol the session timeout is the broker's, which was not read"
		}
		return ""
	},
	Check: func(s *Subject, report func(Finding)) {
		if s.ServerSide() {
			checkServerPauses(s, report)
			return
		}
		checkPauses(s, report)
	},
})

// checkServerPauses compares a pause with the session timeout that the broker sets
// for a group of the consumer protocol (KIP-848).
func checkServerPauses(s *Subject, report func(Finding)) {
	pause, why, _ := s.LongestPause()
	session := s.Live.Limits.Session.Duration()
	hb := inspect.Or(s.Live.Limits.Heartbeat, 5*time.Second)
	need := hb + pause
	if pause <= 0 || need < pause || session >= need {
		return
	}
	sev, what := Warning, "leaves no room for a late heartbeat"
	if pause >= session {
		sev, what = Error, "evicts the member"
	}
	f := s.Finding(sev, fmt.Sprintf("consumer.session.timeout.ms of the group is %s: %s %s", span(session), why, what))
	f.Fix = &Fix{Summary: "Raise consumer.session.timeout.ms of the group (kafka-configs --entity-type groups), within the broker's bounds, or shorten the pause."}
	report(f)
}

func checkPauses(s *Subject, report func(Finding)) {
	pause, why, _ := s.LongestPause()
	session, ok := s.Sane(keySession)
	if !ok || pause <= 0 || session.Origin == "" {
		return
	}
	hb, okHB := s.Sane(keyHeartbeat)
	if !okHB {
		hb = Value{Key: keyHeartbeat, Spelled: s.spell(keyHeartbeat), D: 3 * time.Second, Timed: true, Origin: OriginLive}
	}
	if hb.D >= session.D {
		return // KGD102 says so
	}
	need := hb.D*inspect.HeartbeatsPerSession + pause
	if need < pause || session.D >= need {
		return
	}
	sev, what := Warning, "leaves no room for a late heartbeat"
	if pause >= session.D {
		sev, what = Error, "evicts the member"
	}
	f := s.Finding(sev, fmt.Sprintf("%s is %s: %s %s (3 heartbeats of %s + %s = %s)",
		session.Spelled, span(session.D), why, what, span(hb.D), span(pause), span(need)), session)
	if !okHB {
		f.Evidence = append(f.Evidence, "heartbeat.interval.ms is not sent to the broker; assumed: 3s, the default of every client")
		f.Confidence = inspect.Medium
	}
	f.Fix, f.measured, f.reach = &Fix{}, true, inspect.RoundUp(need)
	if to := inspect.RoundUp(need); to <= s.sessionCeiling() {
		f.Fix.Set = map[string]string{keySession: ms(to)}
		f.Fix.Notes = notesFor(keySession, fmt.Sprintf("3 x %s + %s = %s, rounded up", span(hb.D), span(pause), span(need)))
		f.Fix.Price = fmt.Sprintf("a dead member is noticed after %s instead of %s", span(to), span(session.D))
	}
	report(f)
}
