package advise

import (
	"fmt"
	"strconv"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD313", Name: "offsets-topic-cannot-be-created", Severity: Error, Since: "v0.1.0", Scope: PerCluster,
	Needs: []inspect.Fact{inspect.FactBrokerConfig},
	Uses:  []inspect.Fact{inspect.FactOffsetsTopic},
	Doc: Doc{
		Summary: "__consumer_offsets does not exist and cannot be created with these brokers.",
		Why: "The topic is created at the first request for a coordinator, with offsets.topic.replication.factor replicas. With fewer brokers that fails, and every " +
			"client receives COORDINATOR_NOT_AVAILABLE again and again.",
		Fix:   "Set offsets.topic.replication.factor to at most the number of brokers (1 on a development broker), or start the missing brokers.",
		Price: "with one replica, groups depend on one broker",
		Refs:  []string{"offsets.topic.replication.factor", "COORDINATOR_NOT_AVAILABLE (15)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if s.Case.OffsetsTopic != nil && len(s.Case.OffsetsTopic.Partitions) > 0 || s.Case.Cluster.OffsetsPartitions > 0 || s.Case.Cluster.Brokers == 0 {
			return
		}
		for _, b := range s.Case.Brokers {
			rf, err := strconv.Atoi(b.Config[keyOffsetsReplicas])
			if err != nil || rf <= s.Case.Cluster.Brokers {
				continue
			}
			f := s.Finding(Error, fmt.Sprintf("__consumer_offsets does not exist: offsets.topic.replication.factor is %d, with %s", rf, count(s.Case.Cluster.Brokers, "broker")))
			f.Fix = &Fix{}
			report(f)
			return
		}
	},
})
