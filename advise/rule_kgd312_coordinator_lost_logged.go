package advise

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD312", Name: "coordinator-lost-logged", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD303", "KGD308", "KGD211", "KGD227", "KGD315", "KGD316", "KGD321", "KGD608"},
	Doc: Doc{
		Summary: "Clients lost their coordinator again and again, as their logs say.",
		Why: "A client loses its coordinator when the broker restarts or stops answering, when the connection is cut (idle timeouts of load balancers), or when the " +
			"advertised address does not lead there. Once is a failover; repeatedly is a fault.",
		Fix:   "Find out whether the coordinator's broker, the network between, or its advertised address is at fault: kgdiag check from the client's host.",
		Price: "none",
		Refs:  []string{"NOT_COORDINATOR (16)", "AbstractCoordinator.markCoordinatorUnknown"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Sign != inspect.SignLoadFailed && (e.Kind == inspect.LogCoordinatorLost && e.Cause == "" && e.Sign != inspect.SignDiscovered && e.Sign != inspect.SignSessionLost && e.Sign != inspect.SignLoading &&
				e.Sign != inspect.SignUnavailable && e.Error != "COORDINATOR_LOAD_IN_PROGRESS" && e.Error != "COORDINATOR_NOT_AVAILABLE" || e.Error == "NOT_COORDINATOR" && e.Broker == nil)
		})
		if len(es) == 0 {
			return
		}
		few := len(es) <= fewErrors
		if few && s.neverJoined(es) {
			if f, ok := s.coordinatorNeverReached(es); ok {
				report(f)
				return
			}
		}
		if few || s.cameBack(es) {
			f := s.logged(Info, "the coordinator was lost"+s.foundAgain(es)+", which one restart or failover of its broker does, or a connection that was cut; the lines do not say why, and nobody left the group for it", es)
			f.Fix.Summary = "Nothing, if a broker was restarted. Where it comes again, see whether it is the same broker, and what lies between it and the client (kgdiag check)."
			report(f)
			return
		}
		sev, what := Warning, "the coordinator was lost"
		// A member that has joined has reached the address.
		joined := s.Logged(func(e inspect.LogEvent) bool { return e.Kind == inspect.LogJoined })
		if unreachable := s.Logged(signIs(inspect.SignUnreachable)); len(unreachable) > 0 && len(joined) == 0 {
			sev, what = Error, "the coordinator's advertised address cannot be reached"
		}
		f := s.logged(sev, what, es)
		if denied := s.Logged(errorIs("NOT_COORDINATOR")); len(denied) > fewErrors && 2*len(denied) >= len(es) && len(joined) == 0 {
			f = s.logged(sev, "the broker that is named as the coordinator answers that it is not (NOT_COORDINATOR): the group has moved, or the brokers disagree on the leader of its partition of __consumer_offsets", denied)
			f.Fix.Summary = "Look at the cluster: which broker leads that partition (kgdiag locate GROUP asks all of them), and whether one has not loaded it; a client can only back off and ask again, which some do without a pause until they are upgraded."
		}
		report(f)
	},
})

// coordinatorNeverReached is what a few lines tell of a client that never joined.
func (s *Subject) coordinatorNeverReached(es []inspect.LogEvent) (Finding, bool) {
	var denied, dead []inspect.LogEvent
	for _, e := range es {
		switch {
		case e.Sign == inspect.SignCoordinatorDead:
			dead = append(dead, e)
		case e.Error == "NOT_COORDINATOR":
			denied = append(denied, e)
		}
	}
	switch {
	case len(denied) > 0:
		f := s.logged(Warning, "the broker that was asked answers that it is not the group's coordinator (NOT_COORDINATOR): the coordinator has moved, or the group's partition of __consumer_offsets is still being created or loaded; this passes when the client asks for the coordinator again", denied)
		f.Confidence = inspect.Medium
		f.Fix.Summary = "Let the client try again. Where it stays, see which broker leads that partition (kgdiag locate GROUP asks all of them), and restart or upgrade a client that goes on asking the former one."
		return f, true
	case len(dead) > 0 && slices.ContainsFunc(s.logs, signIs(inspect.SignDiscovered)):
		f := s.logged(Warning, "the coordinator is found and lost at once, and the group is never joined: its address, as the broker advertises it, cannot be reached from the client (advertised.listeners, name resolution, firewall), or its broker is down or restarting", dead)
		f.Confidence = inspect.Medium
		return f, true
	}
	return Finding{}, false
}

// foundAgain is " and found again 0.2s later", where the log tells.
func (s *Subject) foundAgain(lost []inspect.LogEvent) string {
	for _, e := range s.Logged(signIs(inspect.SignDiscovered)) {
		if !behind(e, lost[0]) {
			continue
		}
		if d := e.Time.Sub(lost[0].Time.Time); !lost[0].Time.IsZero() && !e.Time.IsZero() && d > 0 {
			return " and found again " + span(d.Round(10*time.Millisecond)) + " later"
		}
		return " and found again"
	}
	return ""
}

// cameBack reports whether each time the coordinator was lost passed within a minute, with a
// join behind it, and that seldom: restarts of brokers and rolling deploys of days do it.
func (s *Subject) cameBack(lost []inspect.LogEvent) bool {
	var times []inspect.LogEvent // the first line of each
	last := lost[0]
	for i, e := range lost {
		if e.Time.IsZero() {
			return false
		}
		if i == 0 || e.Time.Sub(last.Time.Time) > time.Minute {
			if i > 0 && !s.joinedWithin(last, e) {
				return false
			}
			times = append(times, e)
		} else if e.Time.Sub(times[len(times)-1].Time.Time) > time.Minute {
			return false // it goes on
		}
		last = e
	}
	return mostWithin(times, time.Hour) <= fewErrors && s.joinedWithin(last, inspect.LogEvent{})
}

// joinedWithin reports whether a client joined after one line and, where there is one,
// before another.
func (s *Subject) joinedWithin(after, before inspect.LogEvent) bool {
	return slices.ContainsFunc(s.logs, func(e inspect.LogEvent) bool {
		return e.Kind == inspect.LogJoined && e.Time.After(after.Time.Time) && (before.Time.IsZero() || e.Time.Before(before.Time.Time))
	})
}
