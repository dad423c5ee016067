package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD303", Name: "offsets-partition-offline", Severity: Error, Since: "v0.1.0", Scope: PerCluster,
	Needs: []inspect.Fact{inspect.FactOffsetsTopic},
	Doc: Doc{
		Summary: "Partitions of __consumer_offsets have no leader, so their groups have no coordinator.",
		Why: "The coordinator of a group is the leader of its partition. Without one, FindCoordinator answers COORDINATOR_NOT_AVAILABLE, and every " +
			"consumer of these groups stops consuming and retries until a replica comes back.",
		Fix:   "Start a broker that holds an in-sync replica of these partitions.",
		Price: "none",
		Refs:  []string{"COORDINATOR_NOT_AVAILABLE (15)", "KafkaApis.handleFindCoordinator"},
	},
	Check: func(s *Subject, report func(Finding)) {
		var offline, brokers []string
		seen := map[int32]bool{}
		for _, p := range s.Case.OffsetsTopic.Partitions {
			if p.Leader >= 0 {
				continue
			}
			offline = append(offline, fmt.Sprint(p.Partition))
			for _, b := range p.Replicas {
				if !seen[b] {
					seen[b] = true
					brokers = append(brokers, fmt.Sprint(b))
				}
			}
		}
		if len(offline) == 0 {
			return
		}
		f := s.Finding(Error, fmt.Sprintf("%s of __consumer_offsets %s no leader (%s): their groups have no coordinator", count(len(offline), "partition"), have(len(offline)), list(offline)))
		f.Evidence = append(f.Evidence, "their replicas are on brokers "+list(brokers))
		f.Fix = &Fix{}
		report(f)
	},
})
