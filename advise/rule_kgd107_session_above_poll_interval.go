package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD107", Name: "session-above-poll-interval", Severity: Error, Since: "v0.1.0", Scope: PerClient, Member: true,
	Needs:     []inspect.Fact{inspect.FactTimeouts},
	SymptomOf: []string{"KGD108"},
	Explains:  map[inspect.Cause]int{inspect.SessionExpired: 7},
	Doc: Doc{
		Summary: "The session timeout is above max.poll.interval.ms.",
		Why: "The poll check then always fires first: the session adds nothing for a consumer that is alive, and a dead one is noticed " +
			"later than a slow one. librdkafka refuses to start; the Java client does not check, and a rebalance completes without a member " +
			"whose heartbeats still count as alive.",
		Fix:   "Set max.poll.interval.ms to at least session.timeout.ms.",
		Price: "a consumer that hangs is noticed later",
		Refs:  []string{"librdkafka rd_kafka_conf_finalize", "KIP-62"},
	},
	Check: func(s *Subject, report func(Finding)) {
		session, ok := s.Sane(keySession)
		poll, okPoll := s.Sane(keyPoll)
		if !ok || !okPoll || s.ServerSide() || !s.Polls() || session.D <= poll.D {
			return
		}
		sev, what := Warning, "a slow consumer leaves the group before a dead one is noticed"
		if s.Family == inspect.Librdkafka && (s.Version == "" || atLeast(s.Version, "1.0")) {
			sev, what = s.refusal(session, poll)
		}
		f := s.Finding(sev, fmt.Sprintf("%s is %s, above %s (%s): %s", session.Spelled, span(session.D), poll.Spelled, span(poll.D), what), session, poll)
		f.Fix = &Fix{}
		if to := max(inspect.RoundUp(session.D), s.DefaultOf(keyPoll)); to <= mostAdvised {
			f.Fix.Set = map[string]string{keyPoll: ms(to)}
			f.Fix.Notes = notesFor(keyPoll, "not below the session timeout nor the default")
		}
		if d := s.DefaultOf(keySession); d > 0 && d <= poll.D {
			f.Fix.Alternatives = []map[string]string{{keySession: ms(d)}}
			f.Fix.Notes = merged(f.Fix.Notes, keySession, "the default")
		}
		report(f)
	},
})

func merged(m map[string]string, k, v string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[k] = v
	return m
}
