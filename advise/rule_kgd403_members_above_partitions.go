package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD403", Name: "members-above-partitions", Severity: Warning, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactMembers, inspect.FactSubscription, inspect.FactTopics},
	Uses:  []inspect.Fact{inspect.FactHistory, inspect.FactAssignment},
	Doc: Doc{
		Summary: "The group has more members than partitions to read.",
		Why: "A partition is read by one member of a group, so the surplus members get nothing. They still take part in every rebalance, " +
			"and one that restarts (some treat an empty assignment as an error) rebalances the members that work.",
		Fix:   "Run at most as many members as there are partitions, or add partitions.",
		Price: "fewer members leave less reserve; more partitions cannot be taken back and change where keys go",
		Refs:  []string{"KafkaConsumer javadoc", "ConsumerPartitionAssignor"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if s.Live.Type == inspect.Share || s.Live.Type == inspect.Streams || s.Live.ProtocolType != "consumer" && s.Live.Type == inspect.Classic {
			return
		}
		partitions := s.partitions()
		idle := len(s.Members) - partitions
		if partitions <= 0 || idle <= 0 {
			return
		}
		f := s.Finding(Info, fmt.Sprintf("%s for %s: %d of them have nothing to consume", count(len(s.Members), "member"), count(partitions, "partition"), idle))
		if who, times := s.idleRestarts(); times > 1 {
			f.Severity = Warning
			f.Message += fmt.Sprintf(", and %s among them left and rejoined %d times", who, times)
		}
		f.Fix = &Fix{Summary: fmt.Sprintf("Run at most %s, or add partitions.", count(partitions, "member"))}
		report(f)
	},
})

// partitions counts the partitions of all topics that members subscribe to.
func (s *Subject) partitions() int {
	seen := map[string]bool{}
	for _, m := range s.Members {
		for _, t := range m.Topics {
			seen[t] = true
		}
		for _, tp := range m.Assignment {
			seen[tp.Topic] = true
		}
	}
	n := 0
	for _, t := range s.Case.Topics {
		if seen[t.Name] && t.Partitions > 0 {
			n += int(t.Partitions)
		}
	}
	return n
}

// idleRestarts finds the member without partitions that left the group most often
// in the window.
func (s *Subject) idleRestarts() (string, int) {
	idle := map[string]bool{}
	for _, m := range s.Members {
		if m.Assignment != nil && len(m.Assignment) == 0 {
			idle[m.ClientID] = true
		}
	}
	times := map[string]int{}
	for _, d := range departures(s.Timeline) {
		if idle[d.ClientID] {
			times[d.ClientID]++
		}
	}
	who, most := "", 0
	for _, id := range sortedKeys(times) {
		if times[id] > most {
			who, most = id, times[id]
		}
	}
	return who, most
}
