package advise

import (
	"fmt"
	"strconv"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD302", Name: "offsets-topic-below-min-isr", Severity: Error, Since: "v0.1.0", Scope: PerCluster,
	Needs:    []inspect.Fact{inspect.FactOffsetsTopic},
	Uses:     []inspect.Fact{inspect.FactBrokerConfig},
	Explains: map[inspect.Cause]int{inspect.AssignmentFailed: 3},
	Doc: Doc{
		Summary: "Partitions of __consumer_offsets have fewer in-sync replicas than min.insync.replicas.",
		Why: "The coordinator writes the group's metadata at the end of each rebalance. When the append fails with NOT_ENOUGH_REPLICAS, members " +
			"get COORDINATOR_NOT_AVAILABLE and the group prepares the next rebalance: it never becomes stable, and no offset can be committed.",
		Fix:   "Bring the missing replicas of __consumer_offsets back.",
		Price: "none",
		Refs:  []string{"GroupMetadataManager.appendGroupMetadataErrorToResponseError", "min.insync.replicas"},
	},
	Unknown: func(s *Subject) string {
		if _, ok := s.minISR(); !ok {
			return "min.insync.replicas was not read"
		}
		return ""
	},
	Check: func(s *Subject, report func(Finding)) {
		least, _ := s.minISR()
		var short []string
		for _, p := range s.Case.OffsetsTopic.Partitions {
			if p.Leader >= 0 && len(p.ISR) < least {
				short = append(short, fmt.Sprint(p.Partition))
			}
		}
		if len(short) == 0 {
			return
		}
		f := s.Finding(Error, fmt.Sprintf("%s of __consumer_offsets %s fewer than min.insync.replicas=%d replicas in sync (%s): rebalances of their groups cannot complete",
			count(len(short), "partition"), have(len(short)), least, list(short)))
		f.Fix = &Fix{}
		report(f)
	},
})

// minISR is min.insync.replicas of the offsets topic, or of the brokers where the
// topic's own is not known.
func (s *Subject) minISR() (int, bool) {
	if n, err := strconv.Atoi(s.Case.OffsetsTopic.Config[keyMinInSync]); err == nil {
		return n, true
	}
	most, ok := 0, false
	for _, b := range s.Case.Brokers {
		if n, err := strconv.Atoi(b.Config[keyMinInSync]); err == nil {
			most, ok = max(most, n), true
		}
	}
	return most, ok
}
