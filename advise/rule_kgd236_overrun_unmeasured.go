package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD236", Name: "overrun-unmeasured", Severity: Warning, Since: "v0.2.0", Scope: PerClient,
	Needs:     []inspect.Fact{inspect.FactTimeouts, inspect.FactHistory},
	SymptomOf: []string{"KGD105", "KGD210"},
	Explains:  map[inspect.Cause]int{inspect.PollIntervalExceeded: 3},
	Doc: Doc{
		Summary: "A member exceeds a max.poll.interval.ms below the client's default again and again, and nothing shows how long its work takes.",
		Why: "A consumer that commits nothing before its batch is done leaves no trace of how long the batch takes, only that it takes longer than the " +
			"poll interval. The client's default suits most work; a shorter one is a choice that this work does not fit.",
		Fix:   "Set max.poll.interval.ms back to the client's default, then measure the time between two polls.",
		Price: "a consumer that hangs is noticed later",
		Refs:  []string{"KIP-62"},
	},
	Check: func(s *Subject, report func(Finding)) {
		poll, ok := s.Sane(keyPoll)
		to := s.DefaultOf(keyPoll)
		if need, _ := s.PollNeed(); !ok || need.D > 0 || !s.Polls() || s.Worker() || poll.D >= to {
			return
		}
		out := left(s.Timeline, func(d departure) bool {
			return d.Cause == inspect.PollIntervalExceeded && d.Stall == nil && s.hasClient(d.ClientID, d.MemberID)
		})
		if len(out) < leastOverruns {
			return
		}
		f := s.Finding(Warning, fmt.Sprintf("%s exceeded max.poll.interval.ms (%s) %s, by how much is not in what was read", out[0].lane(), span(poll.D), times(out)), poll)
		f.Confidence = leastSure(out)
		if s.Config == nil {
			f.Subject = "client " + out[0].ClientID
		}
		f.Fix = &Fix{Set: map[string]string{keyPoll: ms(to)}, Notes: notesFor(keyPoll, "the client's default; give the time between two polls with --batch-time for a number of its own"),
			Price: fmt.Sprintf("a consumer that hangs is noticed after %s instead of %s", span(to), span(poll.D))}
		report(f)
	},
})

// leastOverruns are enough for a habit (policy).
const leastOverruns = 2
