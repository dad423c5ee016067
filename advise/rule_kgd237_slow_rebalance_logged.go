package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// The measures of a rebalance that a log times (policy, but for the last).
const (
	longRebalance  = 10 * time.Second // worth a word
	waitsRebalance = 30 * time.Second // longer than members take that poll now and then
	firstJoinDelay = 3 * time.Second  // group.initial.rebalance.delay.ms, the broker's default
)

var _ = register(Rule{
	ID: "KGD237", Name: "slow-rebalance-logged", Severity: Warning, Since: "v0.3.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	Uses:      []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD106", "KGD110", "KGD214", "KGD215", "KGD217", "KGD220", "KGD223", "KGD238"},
	Doc: Doc{
		Summary: "A rebalance took long, by the times of the lines that begin and end its join phase.",
		Why: "The coordinator answers JoinGroup when every member has rejoined. It waits for a busy one until that polls, for one that went without leaving until its session ends, and for either at most the rebalance " +
			"timeout (max.poll.interval.ms in Java, librdkafka and kafka-python). A group that was empty waits group.initial.rebalance.delay.ms (3 s) for more members.",
		Fix:   "Find the member that the group waited for: shorten its time between two polls, and let consumers close when they end, so that they leave at once.",
		Price: "none",
		Refs:  []string{"KIP-62", "KIP-134", "group.initial.rebalance.delay.ms"},
	},
	Check: func(s *Subject, report func(Finding)) {
		var worst joinPhase
		n := 0
		for _, p := range s.joinPhases() {
			if p.took >= longRebalance {
				n++
			}
			if p.took > worst.took {
				worst = p
			}
		}
		first := (worst.took - firstJoinDelay).Abs() <= 250*time.Millisecond
		if worst.took < longRebalance && !first {
			return
		}
		took := span(worst.took.Round(10 * time.Millisecond))
		if worst.took >= longRebalance {
			took = span(worst.took.Round(time.Second))
		}
		what := fmt.Sprintf("a rebalance took %s, from %s to %s", took, clockAt(worst.from), clockAt(worst.to))
		sev, summary := Warning, ""
		switch limit, name := s.waitedFor(worst.took); {
		case first:
			sev, what, summary = Info, what+": a group that was empty waits group.initial.rebalance.delay.ms (3 s by default) for more members", "Leave it; for tests, set group.initial.rebalance.delay.ms=0 on the broker."
		case limit > 0:
			what += fmt.Sprintf(", the whole rebalance timeout (%s): it waited for a member that neither rejoined nor left, one that was not polled or went without leaving", name)
		default:
			what += ": it waited for a member that was busy until its next poll, or for the session of one that went without leaving"
			if worst.took < waitsRebalance {
				sev = Info
			}
		}
		f := s.logged(sev, what, []inspect.LogEvent{worst.from})
		f.Message = what
		if n > 1 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%d rebalances took longer than %s", n, span(longRebalance)))
		}
		f.Confidence, f.Fix.Summary = inspect.Medium, summary
		report(f)
	},
})

// joinPhase is the time from the line that begins a rebalance to the one that ends the
// waiting for members.
type joinPhase struct {
	from, to inspect.LogEvent
	took     time.Duration
}

// joinPhases are those of the coordinator, and those of each client.
func (s *Subject) joinPhases() []joinPhase {
	out := phases(s.Logged(func(e inspect.LogEvent) bool { return e.Broker != nil }),
		signIs(inspect.SignPreparing), signIs(inspect.SignStabilized, "empty"))
	for _, l := range s.lanes() {
		out = append(out, phases(l.events, signIs(inspect.SignRejoining), func(e inspect.LogEvent) bool {
			return joined(e) || e.Sign == inspect.SignUnknownMember
		})...)
	}
	return out
}

// phases pairs the first line that begins with the next that ends.
func phases(es []inspect.LogEvent, begins, ends func(inspect.LogEvent) bool) []joinPhase {
	var out []joinPhase
	var from inspect.LogEvent
	for _, e := range es {
		switch {
		case e.Time.IsZero():
		case ends(e):
			if d := e.Time.Sub(from.Time.Time); !from.Time.IsZero() && d > 0 && d < 2*time.Hour && e.Sign != inspect.SignUnknownMember {
				out = append(out, joinPhase{from, e, d})
			}
			from = inspect.LogEvent{}
		case begins(e) && from.Time.IsZero():
			from = e
		}
	}
	return out
}

// waitedFor is the rebalance timeout that a rebalance lasted for, and how it is known;
// 0 where it lasted for none.
func (s *Subject) waitedFor(took time.Duration) (time.Duration, string) {
	near := func(d time.Duration) bool { return d > 0 && (took-d).Abs() <= max(time.Second, d/100) }
	for _, key := range []string{keyRebalance, keyPoll} {
		if v, ok := s.limitOf(key); ok && near(v.D) {
			return v.D, v.Say()
		}
	}
	if near(defaultPoll) {
		return defaultPoll, "max.poll.interval.ms, 5m by default"
	}
	return 0, ""
}
