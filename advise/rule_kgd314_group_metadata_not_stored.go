package advise

import (
	"strconv"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD314", Name: "group-metadata-not-stored", Severity: Error, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD302", "KGD301"},
	Doc: Doc{
		Summary: "The coordinator could not write the group's metadata to __consumer_offsets, as its log says.",
		Why: "The assignment of a generation is written to the group's partition of __consumer_offsets before members get it. With too few in-sync replicas, or a slow one, the write fails, and the " +
			"coordinator starts the rebalance over: the members did nothing wrong.",
		Fix:   "Bring the replicas of that partition back into sync: look at the brokers that hold them, at min.insync.replicas and at the replication factor of __consumer_offsets.",
		Price: "none",
		Refs:  []string{"GroupMetadataManager.storeGroup", "NOT_ENOUGH_REPLICAS (19)", "offsets.commit.timeout.ms"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Cause == inspect.AssignmentFailed && e.Sign == inspect.SignPreparing || e.Sign == inspect.SignAppendFailed || e.Sign == "isr_insufficient" && e.OffsetsPartition != nil
		})
		if len(es) == 0 {
			return
		}
		what := "the coordinator could not store the group's metadata (its assignment) in __consumer_offsets"
		if p := distinct(es, offsetsPartition); len(p) == 1 {
			what += "-" + p[0]
		}
		var shrunk []string
		for _, e := range s.Case.LogEvents { // of the broker, for whatever group
			if e.Sign == inspect.SignISRShrink {
				what += "; its replicas had fallen out of sync"
				shrunk = quoteLines([]inspect.LogEvent{e})
				break
			}
		}
		f := s.logged(Error, what, es)
		f.Evidence = append(f.Evidence, shrunk...)
		report(f)
	},
})

func offsetsPartition(e inspect.LogEvent) string {
	if e.OffsetsPartition == nil {
		return ""
	}
	return strconv.Itoa(int(*e.OffsetsPartition))
}
