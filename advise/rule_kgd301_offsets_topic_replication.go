package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD301", Name: "offsets-topic-replication", Severity: Warning, Since: "v0.1.0", Scope: PerCluster,
	Needs:    []inspect.Fact{inspect.FactOffsetsTopic},
	Explains: map[inspect.Cause]int{inspect.CoordinatorMoved: 2, inspect.AssignmentFailed: 2},
	Doc: Doc{
		Summary: "Partitions of __consumer_offsets have only one replica, or replicas that are not in sync.",
		Why: "The leader of a group's partition of __consumer_offsets is its coordinator. With one replica, a broker that stops leaves its " +
			"groups without a coordinator and, if its disk is lost, without offsets; out-of-sync replicas cannot take over without loss.",
		Fix:   "Reassign __consumer_offsets to three replicas (kafka-reassign-partitions), or bring the missing brokers back.",
		Price: "copying the data loads the brokers",
		Refs:  []string{"offsets.topic.replication.factor", "kafka-reassign-partitions"},
	},
	Check: func(s *Subject, report func(Finding)) {
		var single, behind []string
		for _, p := range s.Case.OffsetsTopic.Partitions {
			switch {
			case len(p.Replicas) == 1:
				single = append(single, fmt.Sprint(p.Partition))
			case len(p.ISR) < len(p.Replicas) && p.Leader >= 0:
				behind = append(behind, fmt.Sprint(p.Partition))
			}
		}
		if len(single) > 0 {
			sev, where := Warning, "when that broker stops, its groups have no coordinator"
			if n := s.Case.Cluster.Brokers; n == 1 || n == 0 && len(s.Case.Brokers) == 1 {
				sev, where = Info, "with one broker there is no other way"
			}
			f := s.Finding(sev, fmt.Sprintf("%s of __consumer_offsets %s one replica (%s): %s", count(len(single), "partition"), have(len(single)), list(single), where))
			f.Fix = &Fix{}
			report(f)
		}
		if len(behind) > 0 {
			f := s.Finding(Warning, fmt.Sprintf("%s of __consumer_offsets %s replicas out of sync (%s)", count(len(behind), "partition"), have(len(behind)), list(behind)))
			f.Fix = &Fix{Summary: "Find out why the brokers of the missing replicas do not follow: stopped, overloaded, or cut off.", Price: "none"}
			report(f)
		}
	},
})

func have(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}
