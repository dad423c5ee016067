package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// slowCallback is how long a rebalance callback may take before it is worth a word,
// where the rebalance timeout is not known.
const slowCallback = time.Minute

var _ = register(Rule{
	ID: "KGD223", Name: "slow-callback-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Uses:  []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A rebalance callback took longer than the rebalance timeout, as a client's log says.",
		Why: "A member rejoins after its callback for revoked partitions has ended. The group waits for it up to the rebalance timeout (max.poll.interval.ms in Java, librdkafka and kafka-python) and " +
			"then evicts it.",
		Fix:   "Do less in the callback (finish the batch outside, commit only what is done), or raise the rebalance timeout above it.",
		Price: "a rebalance may wait for a slow member that long",
		Refs:  []string{"ConsumerRebalanceListener", "KIP-62"},
	},
	Check: func(s *Subject, report func(Finding)) {
		limit, known := slowCallback, false
		for _, key := range []string{keyRebalance, keyPoll} {
			if v, ok := s.limitOf(key); ok {
				limit, known = v.D, true
				break
			}
		}
		for _, l := range s.lanes() {
			took, e, how := l.longestCallback()
			if took < limit {
				continue
			}
			what := fmt.Sprintf("a rebalance callback took %s (%s)", span(took.Round(time.Second)), how)
			if known {
				what += ", longer than the rebalance timeout of " + span(limit)
			}
			f := s.logged(Warning, what, []inspect.LogEvent{e})
			f.Confidence = inspect.Medium
			report(f)
			return
		}
	},
})

// longestCallback is the longest time that a client spent in a rebalance callback: as
// a line says, or from the line that begins it to the one that ends or outlives it.
func (l lane) longestCallback() (took time.Duration, at inspect.LogEvent, how string) {
	for i, e := range l.events {
		if e.Sign == inspect.SignCallbackTook && inspect.Or(e.Length, 0) > took {
			took, at, how = e.Length.Duration(), e, "as the line says"
		}
		if e.Sign != inspect.SignRevokeEnd && e.Sign != inspect.SignRejoining && !(evicted(e) && (e.Sign != "" || e.Kind == inspect.LogCommitFailed)) {
			continue
		}
		start, ok := l.before(i, func(e inspect.LogEvent) bool {
			return e.Sign == inspect.SignRevokeStart || e.Kind == inspect.LogJoined || e.Sign == inspect.SignRejoining || e.Sign == inspect.SignRevokeEnd ||
				e.Kind == inspect.LogLeft || e.Sign == inspect.SignSubscribed || e.Sign == "reset" // it was closed, or began anew
		})
		if !ok || start.Sign != inspect.SignRevokeStart || start.Time.IsZero() || e.Time.IsZero() {
			continue
		}
		if d := e.Time.Sub(start.Time.Time); d > took {
			took, at, how = d, start, fmt.Sprintf("from %s to %s", clockAt(start), clockAt(e))
		}
	}
	return took, at, how
}
