package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD110", Name: "poll-interval-disabled", Severity: Warning, Since: "v0.1.0", Scope: PerClient, Member: true,
	Needs: []inspect.Fact{inspect.FactTimeouts},
	Uses:  []inspect.Fact{inspect.FactDeclared, inspect.FactHistory, inspect.FactClientLog},
	Doc: Doc{
		Summary: "max.poll.interval.ms is Integer.MAX_VALUE, so a consumer that hangs is never noticed.",
		Why: "The heartbeat thread of a hanging consumer goes on, so the session never expires, and without a poll check nothing else ends " +
			"its membership. Its partitions are not consumed, and the next rebalance waits for it for up to 24 days. Streams 0.10.2 to 2.2 had this as its default (changed by KIP-442).",
		Fix:   "Set max.poll.interval.ms to what the work needs, with a margin.",
		Price: "a batch that takes longer than the new interval makes the consumer leave the group",
		Refs:  []string{"KIP-442", "KAFKA-6399"},
	},
	Check: func(s *Subject, report func(Finding)) {
		poll, ok := s.Timed(keyPoll)
		if !ok || !s.Polls() || poll.D != maxInt {
			return
		}
		sev := Warning
		if poll.Origin == inspect.OriginDefault {
			sev = Info
		}
		f := s.Finding(sev, fmt.Sprintf("%s: a consumer that hangs keeps its partitions forever", poll.Say()), poll)
		need, _ := s.PollNeed()
		to := max(inspect.PollIntervalFor(need.D, defaultPoll, 0), s.roomForSession())
		f.Fix = &Fix{}
		if to <= mostAdvised {
			f.Fix.Set = map[string]string{keyPoll: ms(to)}
			f.Fix.Notes = notesFor(keyPoll, "the default of current clients")
			if to > defaultPoll {
				f.Fix.Notes = notesFor(keyPoll, marginNote(need.D, to))
			}
		}
		report(f)
	},
})

// defaultPoll is max.poll.interval.ms of every current client that has it.
const defaultPoll = 5 * time.Minute
