package collect

import (
	"context"
	"fmt"

	"github.com/kgdiag/kgdiag/locate"
)

const (
	// probes is how many made-up ids tell one way of placing ids from another: on
	// two brokers a wrong way fits by chance once in 2^64.
	probes = 64
	// enoughProbes of them must have been answered.
	enoughProbes = 40
	// maxCount is the largest partition count that is tried as an explanation.
	maxCount = 10_000
)

// findReasons looks for what explains brokers that still disagree: made-up ids,
// which FindCoordinator answers like any other without creating anything, show by
// which rule a broker places them.
func (c *Collector) findReasons(ctx context.Context, l *Located, q LocateQuery) {
	var open []*Location
	for i := range l.Locations {
		loc := &l.Locations[i]
		switch {
		case loc.Agreement == Unverified && loc.State.Leader < 0:
			loc.Reason, loc.Why = ReasonNoLeader, "the partition has no leader"
		case loc.Agreement == Disagrees && loc.Reason == "":
			open = append(open, loc)
		}
	}
	if len(open) == 0 {
		return
	}
	ids := make([]string, probes)
	for i := range ids {
		ids[i] = fmt.Sprintf("kgdiag-probe-%d", i)
	}
	rules := l.rules(c.askVerifiers(ctx, l, q, ids), !q.Transactional)
	for _, loc := range open {
		loc.explain(rules, int32(len(l.Topic.Partitions)))
	}
}

// rule is how one broker places ids.
type rule struct {
	redpanda bool
	count    int32 // partitions that it counts; 0 unknown
}

// rules finds the rule of each broker from its answers about the probes.
func (l *Located) rules(answers map[string][]Answer, groups bool) map[int32]rule {
	byBroker := map[int32]map[string]int32{}
	for id, as := range answers {
		for _, a := range as {
			if a.Err != nil {
				continue
			}
			if byBroker[a.Broker] == nil {
				byBroker[a.Broker] = map[string]int32{}
			}
			byBroker[a.Broker][id] = a.Coordinator
		}
	}
	out := map[int32]rule{}
	for b, said := range byBroker {
		if len(said) < enoughProbes {
			continue
		}
		if r, ok := l.ruleOf(said, groups); ok {
			out[b] = r
		}
	}
	return out
}

// ruleOf is the one rule that explains all the answers, if there is exactly one.
func (l *Located) ruleOf(said map[string]int32, groups bool) (rule, bool) {
	n := int32(len(l.Topic.Partitions))
	fits := func(place func(string, int32) (int32, error), count int32) bool {
		for id, coordinator := range said {
			p, err := place(id, count)
			if err != nil || p >= n || l.Topic.Partitions[p].Leader != coordinator {
				return false
			}
		}
		return true
	}
	if fits(locate.Partition, n) {
		return rule{count: n}, true
	}
	var found []rule
	if groups && fits(locate.RedpandaPartition, n) {
		found = append(found, rule{redpanda: true, count: n})
	}
	for count := int32(1); count < min(n, maxCount); count++ {
		if fits(locate.Partition, count) {
			found = append(found, rule{count: count})
		}
	}
	if len(found) != 1 {
		return rule{}, false
	}
	return found[0], true
}

// explain sets Reason from the rules of the brokers that answered otherwise than
// computed.
func (loc *Location) explain(rules map[int32]rule, n int32) {
	for _, a := range loc.Answers {
		if a.Err != nil || a.Coordinator == loc.State.Leader {
			continue
		}
		r, known := rules[a.Broker]
		switch {
		case !known:
		case r.redpanda:
			loc.redpanda()
			return
		case r.count < n:
			loc.Reason = ReasonPartitionCount
			loc.Why = fmt.Sprintf("%s still counts %d partitions where the topic has %d: partitions were added, and it was not restarted since",
				brokerName(a.Broker), r.count, n)
			return
		case r.count == n && loc.Reason == "":
			loc.Reason = ReasonElection
			loc.Why = fmt.Sprintf("%s places other ids as computed: the leader is changing, or its metadata is behind", brokerName(a.Broker))
		}
	}
}

// redpanda says that the cluster is Redpanda, whose hash is another.
func (loc *Location) redpanda() {
	loc.Reason = ReasonRedpanda
	loc.Why = "Redpanda places groups by another hash, so the computed partition is not theirs"
}
