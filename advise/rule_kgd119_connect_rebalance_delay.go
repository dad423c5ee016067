package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD119", Name: "connect-rebalance-delay", Severity: Warning, Since: "v0.1.0", Scope: PerClient,
	Families: []inspect.Family{inspect.Connect},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "The tasks of a lost Connect worker wait for scheduled.rebalance.max.delay.ms.",
		Why: "Since Kafka 2.3 a Connect cluster leaves the tasks of a lost worker unassigned for this time, so that a restart does not move " +
			"them twice (KIP-415). This is intended, but five minutes without progress look like a fault. A delay of 0 is not immediate before 3.5.2, 3.6.1 and 3.7.0 (KAFKA-15693).",
		Fix:   "Set scheduled.rebalance.max.delay.ms to the time that a restart of a worker takes.",
		Price: "a restart that takes longer moves the tasks twice",
		Refs:  []string{"KIP-415", "KAFKA-15693"},
	},
	Check: func(s *Subject, report func(Finding)) {
		delay, ok := s.Timed(keyDelay)
		if !ok || !s.Worker() {
			return
		}
		switch {
		case delay.D == 0 && s.delayZeroBroken():
			f := s.Finding(Warning, fmt.Sprintf("%s=0 is not immediate in Connect %s (KAFKA-15693)", delay.Spelled, s.Version), delay)
			f.Fix = &Fix{Summary: "Upgrade to 3.5.2, 3.6.1, 3.7.0 or later, or set a short delay.", Set: map[string]string{keyDelay: ms(time.Minute)}}
			report(f)
		case delay.D >= 2*time.Minute:
			f := s.Finding(Info, fmt.Sprintf("%s: for that long the tasks of a lost worker do not run", delay.Say()), delay)
			f.Fix = &Fix{Set: map[string]string{keyDelay: ms(time.Minute)}, Notes: notesFor(keyDelay, "if a worker restarts within a minute")}
			report(f)
		}
	},
})

func (s *Subject) delayZeroBroken() bool {
	switch {
	case s.Version == "", atLeast(s.Version, "3.7"):
		return false
	case atLeast(s.Version, "3.6"):
		return !atLeast(s.Version, "3.6.1")
	}
	return !atLeast(s.Version, "3.5.2")
}
