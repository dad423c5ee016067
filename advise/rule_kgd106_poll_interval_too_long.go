package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

const (
	pollLongInfo    = 15 * time.Minute // from here on it is worth knowing
	pollLongWarning = 30 * time.Minute // from here on, and over twice the need, it is a risk
)

var _ = register(Rule{
	ID: "KGD106", Name: "poll-interval-too-long", Severity: Warning, Since: "v0.1.0", Scope: PerClient,
	Needs:    []inspect.Fact{inspect.FactTimeouts},
	Uses:     []inspect.Fact{inspect.FactDeclared, inspect.FactHistory, inspect.FactClientLog},
	Explains: map[inspect.Cause]int{inspect.RejoinTimedOut: 4},
	Doc: Doc{
		Summary: "max.poll.interval.ms is so long that a stuck consumer holds up every rebalance for that time.",
		Why: "max.poll.interval.ms is sent as the rebalance timeout: the join phase waits that long for members that do not rejoin because " +
			"they do not poll. One stuck consumer keeps the whole group from getting partitions, and is itself noticed only after that time.",
		Fix:   "Lower max.poll.interval.ms to what the work needs, with a margin.",
		Price: "a batch that takes longer than the new interval makes the consumer leave the group",
		Refs:  []string{"KIP-62", "ClassicGroup.rebalanceTimeoutMs"},
	},
	Check: func(s *Subject, report func(Finding)) {
		poll, ok := s.Sane(keyPoll)
		if !ok || !s.Polls() || poll.D < pollLongInfo || poll.D == maxInt {
			return
		}
		need, known := s.PollNeed()
		wide := inspect.WithMargin(need.D)
		if need.D > 0 && poll.D <= 2*wide {
			return
		}
		sev := Info
		if known && need.D > 0 && poll.D >= pollLongWarning || poll.D >= maxTimeout {
			sev = Warning
		}
		f := s.Finding(sev, fmt.Sprintf("%s: a stuck consumer holds up every rebalance for up to %s", poll.Say(), span(poll.D)), poll)
		f.Fix = &Fix{}
		if need.D > 0 {
			f.Evidence = append(f.Evidence, need.Text)
			to := max(inspect.PollIntervalFor(need.D, s.DefaultOf(keyPoll), 0), s.roomForSession())
			if to < poll.D {
				f.Fix.Set = map[string]string{keyPoll: ms(to)}
				f.Fix.Notes = notesFor(keyPoll, fmt.Sprintf("%s x 1.25 = %s, rounded up, not below the default", span(need.D), span(wide)))
				f.Fix.Price = fmt.Sprintf("a batch that takes longer than %s makes the consumer leave the group", span(to))
			}
		} else {
			f.Evidence = append(f.Evidence, "how long the work takes is not known; with --batch-time kgdiag suggests a value")
		}
		report(f)
	},
})

// roomForSession is the shortest poll interval that is not below the session.
func (s *Subject) roomForSession() time.Duration {
	session, ok := s.Sane(keySession)
	if !ok {
		return 0
	}
	return inspect.RoundUp(session.D)
}
