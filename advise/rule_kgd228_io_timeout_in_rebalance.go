package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD228", Name: "io-timeout-in-rebalance", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	Uses:      []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD111", "KGD112"},
	Doc: Doc{
		Summary: "A client gave up reading from its coordinator while a rebalance waited, as its log says.",
		Why: "The coordinator answers JoinGroup when all members have rejoined. A member whose handler is still busy with a record, or its retries, holds the others up; their read timeout (Net.ReadTimeout of sarama " +
			"is 30 s) ends the wait before the rebalance timeout does, they come back, and the rebalance starts over.",
		Fix:   "Bound the retries of the handler below the rebalance timeout, and set the read timeout above the rebalance timeout.",
		Price: "a dead connection is noticed later",
		Refs:  []string{"sarama Net.ReadTimeout", "JoinGroupRequest"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(signIs(inspect.SignIOTimeout))
		if len(es) == 0 {
			return
		}
		failed := s.Logged(signIs(inspect.SignProcessingFailed))
		what := "a read from the coordinator ended by i/o timeout"
		for _, e := range es {
			for _, f := range failed {
				d := e.Time.Sub(f.Time.Time)
				if e.Time.IsZero() || f.Time.IsZero() || d < 5*time.Second || d > 5*time.Minute {
					continue
				}
				what += fmt.Sprintf(" %s after a record had failed: the handler blocks in its retries while the group waits in JoinGroup for the rebalance, and the read timeout ends the wait", span(d.Round(100*time.Millisecond)))
				fi := s.logged(Warning, what, es)
				fi.Confidence, fi.Evidence = inspect.Medium, append(fi.Evidence, quoteLines([]inspect.LogEvent{f})...)
				report(fi)
				return
			}
		}
		read, rebalance, below := s.readBelowRebalance()
		if below {
			what += fmt.Sprintf(": %s, and %s; in a rebalance JoinGroup waits that long, and each abandoned attempt triggers the next", read.Say(), rebalance.Say())
			if read.Origin == inspect.OriginDefault {
				what += "; it waits for a member that does not come back, as one whose ConsumeClaim does not return when session.Context() is done"
			}
			f := s.logged(Warning, what, es)
			f.Confidence = inspect.Medium
			f.Fix = &Fix{Set: map[string]string{keySocket: ms(inspect.RoundUp(rebalance.D + 5*time.Second))}}
			f.settles(s.consumer())
			report(f)
			return
		}
		if read.Origin == inspect.OriginSet && read.D < defaultRead && len(es) > 1 {
			f := s.logged(Warning, what+fmt.Sprintf(": %s; the broker holds JoinGroup for longer in a rebalance, and each abandoned attempt triggers the next", read.Say()), es)
			f.Confidence = inspect.Medium
			f.Fix = &Fix{Set: map[string]string{keySocket: ms(2 * defaultRead)}}
			f.settles(s.consumer())
			report(f)
			return
		}
		if len(es) > fewErrors || len(es) > 1 && s.neverJoined(es) {
			f := s.logged(Warning, what+"; in a rebalance the answer to JoinGroup may take as long as the rebalance timeout (60 s in sarama), and sarama's Net.ReadTimeout is 30 s: while a member is waited for, as one whose ConsumeClaim does not return when session.Context() is done, the others' attempts end so, and each begins the wait anew", es)
			if f.Confidence = inspect.Low; s.neverJoined(es) {
				f.Confidence = inspect.Medium
			}
			report(f)
		}
	},
})

// defaultRead is Net.ReadTimeout of sarama.
const defaultRead = 30 * time.Second

// readBelowRebalance reports whether the consumer gives a read up before a rebalance
// may be over.
func (s *Subject) readBelowRebalance() (read, rebalance Value, below bool) {
	read, ok := s.limitOf(keySocket)
	rebalance, okRebalance := s.limitOf(keyRebalance)
	return read, rebalance, ok && okRebalance && read.D < rebalance.D
}
