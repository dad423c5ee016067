package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD125", Name: "idle-below-join-wait", Severity: Warning, Since: "v0.2.0", Scope: PerClient,
	Families:  []inspect.Family{inspect.Java, inspect.StreamsLib},
	Needs:     []inspect.Fact{inspect.FactClientConfig},
	Uses:      []inspect.Fact{inspect.FactDeclared, inspect.FactHistory, inspect.FactClientLog},
	SymptomOf: []string{"KGD108"},
	Doc: Doc{
		Summary: "The client closes a connection on which it may still wait for JoinGroup.",
		Why: "The coordinator answers JoinGroup when all members have rejoined, which may take up to max.poll.interval.ms. Nothing is sent on the connection meanwhile, " +
			"and the client itself closes what was idle for connections.max.idle.ms, 9 minutes by default: the join is lost and starts over.",
		Fix:   "Set connections.max.idle.ms above max.poll.interval.ms.",
		Price: "connections that are no longer needed stay open longer",
		Refs:  []string{"Selector.maybeCloseOldestConnection", "KIP-62"},
	},
	Check: func(s *Subject, report func(Finding)) {
		poll, ok := s.Sane(keyPoll)
		idle, okIdle := s.Timed(keyIdle)
		if !ok || !okIdle || s.ServerSide() || idle.D <= 0 || poll.D <= idle.D || poll.D == maxInt || poll.Origin == inspect.OriginDefault && idle.Origin == inspect.OriginDefault {
			return
		}
		sev, seen := Info, s.longWait(idle.D)
		if seen != "" {
			sev = Warning
		}
		f := s.Finding(sev, fmt.Sprintf("%s is %s, below %s (%s): a rebalance that waits longer loses its JoinGroup", idle.Spelled, span(idle.D), poll.Spelled, span(poll.D)), poll, idle)
		if seen != "" {
			f.Evidence = append(f.Evidence, seen)
		}
		f.Fix = &Fix{}
		if to := inspect.RoundUp(poll.D + time.Minute); to <= mostAdvised {
			f.Fix.Set = map[string]string{keyIdle: ms(to)}
			f.Fix.Notes = notesFor(keyIdle, "the poll interval and a minute, rounded up")
		}
		report(f)
	},
})

// longWait says what makes a wait for JoinGroup over limit likely: work that takes as
// long, or a rebalance that did; "" for nothing.
func (s *Subject) longWait(limit time.Duration) string {
	if need, _ := s.PollNeed(); need.D > limit {
		return need.Text
	}
	if s.Timeline == nil {
		return ""
	}
	for _, r := range s.Timeline.Rebalances {
		if d := max(inspect.Or(r.Stopped, 0), inspect.Or(r.Rebalancing, 0)); d > limit {
			return fmt.Sprintf("the rebalance at %s took %s", at(r.Time), span(d))
		}
	}
	return ""
}
