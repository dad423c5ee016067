package advise

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD217", Name: "rejoin-timeouts-logged", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	Uses:      []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD112", "KGD105", "KGD207"},
	Doc: Doc{
		Summary: "Members did not rejoin within the rebalance timeout and were evicted, as the coordinator's log says.",
		Why: "In a rebalance every member must rejoin within the group's longest rebalance timeout (max.poll.interval.ms in Java, librdkafka and kafka-python). A member that is " +
			"busy with a batch for longer is evicted, comes back, and triggers the next rebalance.",
		Fix:   "Raise the rebalance timeout (max.poll.interval.ms) above the longest batch, or make batches smaller.",
		Price: "a rebalance may wait for a slow member that long",
		Refs:  []string{"KIP-62", "GroupCoordinator.onCompleteJoin"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool { return e.Cause == inspect.RejoinTimedOut })
		if len(es) == 0 {
			return
		}
		f := s.logged(Error, "members did not rejoin within the rebalance timeout"+s.said(keyRebalance)+s.waited(es), es)
		if family, _ := s.library(); family != "" && !s.polled(family) {
			f.Fix = &Fix{Summary: "Raise the rebalance timeout of the client above the longest batch or buffer that it drains, or make those smaller."}
		}
		report(f)
	},
})

// waited is ", 63s after the rebalance began" where the log has both lines.
func (s *Subject) waited(es []inspect.LogEvent) string {
	for _, p := range s.Logged(signIs(inspect.SignPreparing)) {
		if d := es[0].Time.Sub(p.Time.Time); !p.Time.IsZero() && !es[0].Time.IsZero() && d > time.Second && d < time.Hour {
			return ", " + span(d.Round(time.Second)) + " after the rebalance began"
		}
	}
	return ""
}
