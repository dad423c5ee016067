package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// The measures of a group that rebalances too often, as one member sees it; kgdiag's own
// policy. A deploy is over within minutes, or is not regular.
const (
	followedRegularly = 6               // rebalances within an hour, at regular intervals
	followedFor       = 4 * time.Minute // at least, from the first to the last
)

var _ = register(Rule{
	ID: "KGD232", Name: "rebalances-followed-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD213", "KGD214", "KGD215", "KGD217", "KGD218", "KGD219", "KGD220", "KGD221", "KGD222", "KGD223", "KGD224", "KGD226", "KGD227", "KGD231", "KGD312", "KGD316",
		"KGD113", "KGD105", "KGD112", "KGD608"},
	Doc: Doc{
		Summary: "The group rebalances again and again, and the member that wrote the log only follows.",
		Why: "A member learns of a rebalance by the answer to a heartbeat, and rejoins. Its own log does not say why: another member came, left, expired or was too slow. A member that leaves and comes back at regular " +
			"intervals mostly works for longer than its poll interval, or than its session where the client sends no heartbeat while it works.",
		Fix:   "Find the member that comes and goes: the coordinator's log names it with its reason, and so do kgdiag history and the logs of the other members.",
		Price: "none",
		Refs:  []string{"REBALANCE_IN_PROGRESS (27)", "max.poll.interval.ms", "session.timeout.ms"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, l := range s.lanes() {
			rounds := l.rounds()
			if len(rounds) >= stormInHour && rounds[0].Time.IsZero() {
				f := s.logged(Warning, fmt.Sprintf("the group rebalanced %d times, and this member rejoined each time: it only follows; the log has no times", len(rounds)), rounds)
				f.Confidence = inspect.Medium
				report(f)
				return
			}
			if len(rounds) < followedRegularly || rounds[0].Time.IsZero() {
				continue
			}
			first, last := rounds[0].Time, rounds[len(rounds)-1].Time
			every, regular := period(rounds)
			if last.Sub(first.Time) < followedFor || mostWithin(rounds, time.Hour) < stormInHour && !(regular && mostWithin(rounds, time.Hour) >= followedRegularly) {
				continue
			}
			when := "within " + span(last.Sub(first.Time).Round(time.Second))
			if regular {
				when += ", every " + span(every.Round(time.Second))
			}
			f := s.logged(Warning, fmt.Sprintf("the group rebalanced %d times %s, and this member rejoined each time: it only follows; another member comes and goes, or takes longer for its messages than max.poll.interval.ms or its session allow", len(rounds), when), rounds)
			f.Confidence = inspect.Medium
			if family, version := s.library(); family != "" && !beatsAlone(family, version) {
				f.Fix.Summary = "Find the member that comes and goes; with this client it is mostly one whose message or batch takes longer than the session" + s.said(keySession) + ", since it sends no heartbeat meanwhile: smaller batches, a heartbeat within them, or a longer session."
			}
			report(f)
			return
		}
	},
})

// rounds are the rebalances that a client tells: each begins with a word of it and ends
// with the client's join; of a client that logs joins alone, those.
func (l lane) rounds() []inspect.LogEvent {
	var told, joins []inspect.LogEvent
	open := false
	for _, e := range l.events {
		switch {
		case e.Sign == inspect.SignRejoining:
			if !open && e.Error == "REBALANCE_IN_PROGRESS" {
				told = append(told, e)
			}
			open = false
		case e.Sign == inspect.SignAlreadyRebalancing || e.Error == "REBALANCE_IN_PROGRESS":
			if !open {
				told = append(told, e)
			}
			open = true
		case e.Kind == inspect.LogJoined && e.Sign != inspect.SignAssignedByHand:
			joins = append(joins, e)
			open = false
		}
	}
	if len(told) > 1 {
		return once(told)
	}
	return once(joins)
}
