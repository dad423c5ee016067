package advise

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD319", Name: "offsets-topic-settings", Severity: Error, Since: "v0.2.0", Scope: PerCluster,
	Needs: []inspect.Fact{inspect.FactBrokerConfig},
	Doc: Doc{
		Summary: "A broker's file creates __consumer_offsets with too few or too many replicas.",
		Why: "__consumer_offsets is created with offsets.topic.replication.factor replicas, and each append to it needs min.insync.replicas of them. With fewer replicas than that, no rebalance can end and no offset " +
			"can be committed; with just as many, one broker that is down is enough for it. With fewer brokers than replicas the topic is not created, and no group finds a coordinator.",
		Fix:   "Set offsets.topic.replication.factor to at most the number of brokers, and min.insync.replicas below it.",
		Price: "brokers restart one by one; an existing __consumer_offsets keeps its replicas until it is reassigned",
		Refs:  []string{"offsets.topic.replication.factor", "min.insync.replicas", "GroupCoordinatorConfig"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if s.Case.OffsetsTopic != nil || s.Case.Cluster.OffsetsPartitions > 0 {
			return // the topic itself is judged
		}
		for _, b := range s.Case.Brokers {
			replicas, err := strconv.Atoi(b.Config[keyOffsetsReplicas])
			if err != nil || b.From == "" || replicas < 1 {
				continue
			}
			inSync, err := strconv.Atoi(b.Config[keyMinInSync])
			if err != nil {
				inSync = 1
			}
			if f, bad := s.offsetsSettings(b, replicas, inSync); bad {
				report(f)
				return
			}
		}
	},
})

const (
	keyOffsetsReplicas = "offsets.topic.replication.factor"
	keyMinInSync       = "min.insync.replicas"
)

// offsetsSettings judges how a broker of a file would create __consumer_offsets.
func (s *Subject) offsetsSettings(b inspect.Broker, replicas, inSync int) (Finding, bool) {
	says := fmt.Sprintf("%s=%d", keyOffsetsReplicas, replicas)
	var f Finding
	switch brokers := s.brokersOf(b); {
	case brokers > 0 && replicas > brokers:
		f = s.Finding(Error, fmt.Sprintf("%s with %s (%s): __consumer_offsets cannot be created, and no group finds a coordinator (COORDINATOR_NOT_AVAILABLE)", says, count(brokers, "broker"), b.From))
		f.Fix = &Fix{Set: map[string]string{keyOffsetsReplicas: strconv.Itoa(brokers)}}
	case replicas < inSync:
		f = s.Finding(Error, fmt.Sprintf("%s is below %s=%d (%s): nothing can be written to __consumer_offsets, no rebalance ends and no offset is committed", says, keyMinInSync, inSync, b.From))
		f.Fix = &Fix{Set: map[string]string{keyOffsetsReplicas: strconv.Itoa(inSync + 1)}, Alternatives: []map[string]string{{keyMinInSync: strconv.Itoa(replicas)}}}
	case replicas == inSync && replicas > 1:
		f = s.Finding(Warning, fmt.Sprintf("%s equals %s=%d (%s): while one broker is down, nothing can be written to __consumer_offsets and no group can rebalance", says, keyMinInSync, inSync, b.From))
		f.Fix = &Fix{Set: map[string]string{keyMinInSync: strconv.Itoa(inSync - 1)}}
	default:
		return f, false
	}
	f.Where = &inspect.Position{File: b.From}
	return f, true
}

// brokersOf is how many brokers the cluster of a broker's file has, as far as the file
// tells; 0 where it does not.
func (s *Subject) brokersOf(b inspect.Broker) int {
	n := 0
	for _, other := range s.Case.Brokers {
		if other.From == b.From {
			n++
		}
	}
	if strings.HasSuffix(b.From, ".properties") || strings.Count(b.Config["controller.quorum.voters"], "@") > n {
		return 0
	}
	return n
}
