package advise

import (
	"fmt"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD220", Name: "nobody-polls", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A client learns again and again that the group is rebalancing, and never rejoins.",
		Why: "The heartbeat thread learns of the rebalance; JoinGroup is sent by poll(). Heartbeats without a rejoin mean that nothing polls: the application's thread is blocked or has ended, or a " +
			"rebalance callback hangs. The group waits for this member until its rebalance timeout.",
		Fix:   "Look at the thread that polls: a thread dump shows whether it is in the application's code, in a rebalance callback, or gone.",
		Price: "none",
		Refs:  []string{"AbstractCoordinator.HeartbeatThread", "REBALANCE_IN_PROGRESS (27)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, l := range s.lanes() {
			run := l.toldInVain()
			if len(run) < toldOften || s.joinsUnderAGroup(l.name) {
				continue
			}
			last := run[len(run)-1]
			over := ""
			if !run[0].Time.IsZero() && !last.Time.IsZero() {
				over = " in " + span(last.Time.Sub(run[0].Time.Time).Truncate(time.Second))
			}
			who := l.name
			if who == "" {
				who = "a client"
			}
			f := s.Finding(Warning, fmt.Sprintf("%s received REBALANCE_IN_PROGRESS %d times%s and never rejoined: its heartbeat thread runs, but nothing polls, or a rebalance callback hangs", who, len(run), over))
			where := run[0].From
			f.Where, f.Confidence, f.Evidence = &where, inspect.Medium, quoteLines([]inspect.LogEvent{run[0], last})
			f.Fix = &Fix{}
			report(f)
		}
	},
})

// joinsUnderAGroup reports whether a client of this name joined under some group, which the
// lines that name no group do not show.
func (s *Subject) joinsUnderAGroup(name string) bool {
	return s.Group == "" && slices.ContainsFunc(s.Case.LogEvents, func(e inspect.LogEvent) bool {
		return e.Kind == inspect.LogJoined && e.Group != "" && laneOf(e) == name
	})
}

// toldOften is how often a client may hear of a rebalance before it rejoins: a batch
// goes on for a few heartbeats.
const toldOften = 5

// toldInVain is the longest run of lines that told a client of a rebalance, without
// any line between that it rejoined, joined, left or was put out.
func (l lane) toldInVain() []inspect.LogEvent {
	var run, best []inspect.LogEvent
	for _, e := range l.events {
		switch {
		case e.Sign == inspect.SignAlreadyRebalancing:
			if n := len(run); n == 0 || e.Time.IsZero() || e.Time.Sub(run[n-1].Time.Time) > 500*time.Millisecond {
				run = append(run, e)
			}
		case e.Sign == inspect.SignRejoining, e.Kind == inspect.LogJoined, e.Kind == inspect.LogLeft, e.Kind == inspect.LogEvicted, e.Kind == inspect.LogPollTimeout,
			e.Sign == inspect.SignRevokeStart:
			run = nil
		}
		if len(run) > len(best) {
			best = run
		}
	}
	return best
}
