package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD213", Name: "static-member-fenced-logged", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD206", "KGD410"},
	Doc: Doc{
		Summary: "A static member was fenced: its group.instance.id is registered by another one, as a log says.",
		Why: "A static member that joins takes the place of the one with its instance id; the older process gets FENCED_INSTANCE_ID (classic), or the newer one " +
			"UNRELEASED_INSTANCE_ID (KIP-848). The other one is a second process with the same id, or an earlier registration of the same process: from before a restart in place, or from before its " +
			"session was lost. Two processes under a supervisor keep fencing each other; an earlier registration is gone after its session.",
		Fix:   "Give each process a group.instance.id of its own, for example a StatefulSet's pod name.",
		Price: "none",
		Refs:  []string{"KIP-345", "FENCED_INSTANCE_ID (82)", "UNRELEASED_INSTANCE_ID (111)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Kind == inspect.LogFenced || e.Error == "FENCED_INSTANCE_ID" || e.Error == "UNRELEASED_INSTANCE_ID"
		})
		if len(es) == 0 {
			return
		}
		es = fencings(es)
		if lost, own := s.lostBefore(es); own {
			f := s.logged(Error, fmt.Sprintf("a static member was fenced, most likely by its own earlier registration: its session had been lost %s before (%s), and the broker still had it when it joined again",
				span(es[0].Time.Sub(lost.Time.Time).Round(time.Second)), line(lost.From, es[0].From.File)), es)
			f.Confidence = inspect.Medium
			f.Fix = &Fix{Summary: "Raise session.timeout.ms above the pauses of the process and the network, so that the session is not lost. This consumer does not go on: close it and make a new one."}
			report(f)
			return
		}
		f := s.logged(Error, "a static member was fenced: another one has its group.instance.id, a second process (as when pods overlap in a rollout) or its own earlier registration (a restart, a rejoin after a lost session)", es)
		f.Confidence = inspect.Medium
		if len(es) > 2 {
			f.Confidence = inspect.High // an earlier registration is gone after one session
		}
		f.Fix = &Fix{Summary: "Give each consumer a group.instance.id of its own, for example a StatefulSet's pod name; where a process has several (threads, listeners, subscription groups), with a number behind it. " +
			"How to decide: an id that is fenced once, after a restart or a lost session, was its own; one that is fenced again and again has a second process or consumer."}
		report(f)
	},
})

// lostBefore is the lost session of the same client shortly before the only fencing.
func (s *Subject) lostBefore(es []inspect.LogEvent) (inspect.LogEvent, bool) {
	if len(es) != 1 || es[0].Time.IsZero() {
		return inspect.LogEvent{}, false
	}
	for _, e := range s.Logged(signIs(inspect.SignSessionLost)) {
		if ago := es[0].Time.Sub(e.Time.Time); !e.Time.IsZero() && laneOf(e) == laneOf(es[0]) && ago >= 0 && ago <= longestSession {
			return e, true
		}
	}
	return inspect.LogEvent{}, false
}

// longestSession is how long an earlier registration may be expected to last: the default
// session of the newest clients.
const longestSession = 45 * time.Second

// fencings are the lines of separate fencings: a client tells one in several lines,
// with and without its own names.
func fencings(es []inspect.LogEvent) []inspect.LogEvent {
	var out []inspect.LogEvent
	for _, e := range es {
		if n := len(out); n > 0 && out[n-1].From.File == e.From.File && sameMoment(out[n-1], e) {
			continue
		}
		out = append(out, e)
	}
	return out
}
