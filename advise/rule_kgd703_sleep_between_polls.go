package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD703", Name: "sleep-between-polls", Severity: Error, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "The program sleeps between two polls for longer than it may.",
		Why: "All that is done with the records of a poll counts against the time between polls, a sleep and the back-off of an error handler too. A sleep for each record counts as often as a poll " +
			"returns records.",
		Fix:   "Sleep for less, return fewer records per poll, or raise the limit above the longest time between two polls.",
		Price: "a consumer that hangs is noticed later where the limit is raised",
		Refs:  []string{"KIP-62", "KafkaConsumer javadoc, Detecting Consumer Failures"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActCallbackSleeps); found {
			sev := Info
			if length(a) >= longCallback {
				sev = Warning
			}
			f := s.acted(sev, fmt.Sprintf("%s waits %s within a rebalance callback, which runs within poll: meanwhile nothing is polled, and the group's rebalance waits for a callback of revoked partitions, at most for its rebalance timeout", a.Call, span(length(a))), a)
			f.Fix.Summary = "Only commit or store in a rebalance callback, and return at once; do the rest in the poll loop or in another thread."
			report(f)
		}
		limit, ok := s.workLimit()
		if ok {
			s.sleepsTooLong(limit, report)
		}
	},
})

// longCallback is from when on a callback that sleeps is worth a warning: longer than a
// heartbeat's interval, so that the others of the group wait visibly.
const longCallback = 3 * time.Second

// sleepsTooLong reports a sleep or a back-off that alone exceeds the limit, or does so for
// a full poll.
func (s *Subject) sleepsTooLong(limit Value, report func(Finding)) {
	for _, a := range s.acts(inspect.ActSleep, inspect.ActBackOff) {
		d, full := length(a), length(a)
		if a.Each && a.Kind == inspect.ActSleep {
			full = min(time.Duration(s.perPoll())*d, maxInt)
		}
		if d <= 0 || full <= limit.D {
			continue
		}
		sev, what := Error, fmt.Sprintf("%s waits %s between two polls", a.Call, span(d))
		if d <= limit.D {
			sev, what = Warning, fmt.Sprintf("%s waits %s for each record, and up to %d records of a poll take %s", a.Call, span(d), s.perPoll(), span(full))
		}
		f := s.acted(sev, fmt.Sprintf("%s; %s", what, limit.Say()), a)
		if limit.Key == keyPoll {
			f.Fix = s.pollFix(limit, Need{D: full})
			f.Fix.WouldHaveAvoided = nil
			if !a.Each { // fewer records shorten no single wait
				f.Fix.Alternatives = nil
			}
		}
		report(f)
		return
	}
}
