package advise

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD227", Name: "session-lost-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	Uses:      []inspect.Fact{inspect.FactClientConfig},
	Explains:  map[inspect.Cause]int{inspect.SessionExpired: 6},
	SymptomOf: []string{"KGD102", "KGD103", "KGD113", "KGD303", "KGD308", "KGD316", "KGD604", "KGD608"},
	Doc: Doc{
		Summary: "A client got no answer from the coordinator for its whole session, as its log says.",
		Why: "The client counts the time since the last heartbeat that was answered. It runs out when the process or its heartbeat thread was paused (a pause, a lock, a blocked event loop), when the " +
			"session is too short for a busy client, or when the coordinator or the network did not answer. A wrong advertised address is ruled out: the member had joined.",
		Fix:   "See who else lost it: all clients of one broker at once point to that broker. For a single client, look at the gap in its own log before the line, and raise session.timeout.ms above it; where no gap is known, 45000 is the default of current clients.",
		Price: "a dead member is noticed later",
		Refs:  []string{"session.timeout.ms", "KIP-735", "librdkafka SESSTMOUT"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := once(s.Logged(signIs(inspect.SignSessionLost)))
		if len(es) == 0 {
			return
		}
		if off := s.unsubscribedBefore(es[0]); off {
			f := s.logged(Info, "a heartbeat task found its session over after the consumer had unsubscribed: it polls no more, and no member is concerned; some versions of aiokafka go on with heartbeats after unsubscribe()", es)
			f.Fix = &Fix{Summary: "Nothing for the group; stop the consumer instead, or upgrade the client library."}
			report(f)
			return
		}
		after := ""
		var longest time.Duration
		for _, e := range es {
			longest = max(longest, inspect.Or(e.Length, 0))
		}
		if longest > 0 {
			after = " for " + span(longest.Round(100*time.Millisecond))
		}
		sev, who := Info, "the coordinator"
		if nodes := distinct(es, nodeName); len(nodes) > 0 {
			sev = Warning // it had one, which did not answer
			who += " (broker " + list(nodes) + ")"
			if lanes := distinct(es, func(e inspect.LogEvent) string { return e.ClientID }); len(nodes) > 1 {
				who += fmt.Sprintf(", %d clients of %d brokers: the process or its network is more likely than one broker", max(len(lanes), len(nodes)), len(nodes))
			}
		}
		session, known := s.limitOf(keySession)
		set := map[string]string{}
		switch {
		case known && session.Origin != inspect.OriginDefault && session.D < shortSession:
			sev, set = Warning, map[string]string{keySession: ms(enoughSession)}
		case len(es) > 1 || len(s.Logged(evicted)) > 0 || s.neverJoined(es):
			sev = Warning
		case known && longest > session.D+session.D/2:
			sev = Warning // far over the session: the client did not even look
		}
		f := s.logged(sev, "the session timed out: no answer from "+who+after+s.said(keySession)+"; the process or its heartbeat thread was held up, the session is too short, or the coordinator was slow", es)
		f.Confidence = inspect.Low
		if sev == Warning {
			f.Confidence = inspect.Medium
		}
		f.Fix, f.silence = &Fix{Set: set}, longest
		if len(set) > 0 && s.consumer().DefaultOf(keySession) == enoughSession {
			f.Fix.Notes = notesFor(keySession, "the client's default")
		}
		if len(set) == 0 {
			f.Fix.Summary = "See who else lost it: all clients of one broker at once point to that broker. For a single client, look at the gap in its own log before the line: a pause, a blocked thread or event loop."
		}
		f.settles(s.consumer())
		report(f)
	},
})

// unsubscribedBefore reports whether the client had given up its subscription before a line.
func (s *Subject) unsubscribedBefore(e inspect.LogEvent) bool {
	off := false
	for _, o := range s.logs {
		if behind(o, e) || o.From == e.From {
			break
		}
		switch {
		case o.Sign == "unsubscribed":
			off = true
		case o.Sign == inspect.SignSubscribed, joined(o):
			off = false
		}
	}
	return off
}

const (
	shortSession  = 10 * time.Second // below it, an expired session needs no other reason than a busy client
	enoughSession = 45 * time.Second // the default of current clients (KIP-735)
)

// nodeName is the broker that a client's line speaks of; "" where it names none.
func nodeName(e inspect.LogEvent) string {
	if e.Node == nil {
		return ""
	}
	return strconv.Itoa(int(*e.Node))
}
