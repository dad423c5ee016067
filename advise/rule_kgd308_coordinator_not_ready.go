package advise

import (
	"fmt"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// fewErrors is how often a log may name a coordinator's error before it is more
// than the moment of a failover.
const fewErrors = 3

var _ = register(Rule{
	ID: "KGD308", Name: "coordinator-not-ready", Severity: Warning, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD321"},
	Doc: Doc{
		Summary: "The logs say again and again that the coordinator is loading or not available.",
		Why: "After a failover the new coordinator reads the group's partition of __consumer_offsets before it answers. When that takes long, the partition is " +
			"large because the log cleaner is dead or behind; when it never ends, the partition has no leader or its load has failed.",
		Fix:   "Look at the size and the leader of the group's offsets partition, and at the log cleaner of its broker.",
		Price: "none",
		Refs:  []string{"COORDINATOR_LOAD_IN_PROGRESS (14)", "COORDINATOR_NOT_AVAILABLE (15)", "KAFKA-19862"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, name := range []string{"COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE"} {
			es := s.Logged(errorIs(name))
			if often(es) <= fewErrors && (len(es) > fewErrors || !s.neverJoined(es)) {
				continue
			}
			if len(es) <= fewErrors && slices.ContainsFunc(s.logs, abandonedJoin) {
				continue // a coordinator was found, and sent JoinGroup: what is wrong comes after it
			}
			what := name
			if len(es) > 1 {
				what = fmt.Sprintf("%s appears %d times in the logs", name, len(es))
			}
			if first, last := es[0].Time, es[len(es)-1].Time; !first.IsZero() && last.Sub(first.Time) > time.Second {
				what += " within " + span(last.Sub(first.Time).Round(time.Second))
			}
			f := s.Finding(Warning, what+": "+notReady[name].means)
			where := es[0].From
			f.Where, f.Evidence = &where, quoteLines(es[:1])
			f.Fix = &Fix{Summary: notReady[name].do}
			report(f)
		}
		slow := s.Logged(func(e inspect.LogEvent) bool {
			return e.Sign == "loaded" && inspect.Or(e.Length, 0) >= slowLoad
		})
		if len(slow) == 0 {
			return
		}
		longest := slow[0]
		for _, e := range slow {
			if *e.Length > *longest.Length {
				longest = e
			}
		}
		what := "a partition of __consumer_offsets"
		if longest.OffsetsPartition != nil {
			what = fmt.Sprintf("__consumer_offsets-%d", *longest.OffsetsPartition)
		}
		report(s.logged(Warning, fmt.Sprintf("a coordinator took %s to load %s: until then its groups had none", span(longest.Length.Duration().Round(time.Second)), what), slow))
	},
})

// notReady is what the two errors mean, and what to do.
var notReady = map[string]struct{ means, do string }{
	"COORDINATOR_LOAD_IN_PROGRESS": {"the coordinator is reading its partition of __consumer_offsets, as after a restart or failover of its broker; this passes by itself",
		"Let the client try again instead of ending at this error. Where it goes on for minutes, look at the size of that partition and at the log cleaner of its broker."},
	"COORDINATOR_NOT_AVAILABLE": {"the group has no coordinator, since __consumer_offsets is not there yet or the group's partition of it has no leader: offsets.topic.replication.factor is above the number of brokers, brokers are down, or the cluster has just started",
		"Look at the topic and its leaders (kgdiag check), and set offsets.topic.replication.factor to at most the number of brokers (1 on a single broker). In a cluster that has just started it passes by itself."},
}

// slowLoad is from when on the load of a partition is worth a word: a clean one takes
// seconds.
const slowLoad = 30 * time.Second
