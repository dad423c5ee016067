package advise

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

const keyRetention = "offsets.retention.minutes"

// defaultRetention is offsets.retention.minutes since Kafka 2.0 (KIP-186).
const defaultRetention = 7 * 24 * time.Hour

var _ = register(Rule{
	ID: "KGD304", Name: "offsets-retention-short", Severity: Warning, Since: "v0.1.0", Scope: PerCluster,
	Needs: []inspect.Fact{inspect.FactBrokerConfig},
	Doc: Doc{
		Summary: "The offsets of an idle group are dropped sooner than the default week.",
		Why: "Offsets of a group without members are removed after offsets.retention.minutes. A consumer that comes back later starts where " +
			"auto.offset.reset says: it reads everything again, or skips what was produced meanwhile. Before Kafka 2.0 the default was one day (KIP-186).",
		Fix:   "Set offsets.retention.minutes to at least 10080, and to more than the longest stop of a consumer.",
		Price: "a little more memory in the coordinator for unused groups; brokers restart one by one",
		Refs:  []string{"KIP-186", "KIP-211"},
	},
	Unknown: func(s *Subject) string { return s.unreadBrokerKey(keyRetention) },
	Check: func(s *Subject, report func(Finding)) {
		for _, b := range s.Case.Brokers {
			n, err := strconv.ParseInt(b.Config[keyRetention], 10, 32)
			if err != nil || n <= 0 {
				continue
			}
			keep := time.Duration(n) * time.Minute
			if keep >= defaultRetention {
				continue
			}
			sev := Info
			if keep <= 24*time.Hour {
				sev = Warning
			}
			f := s.Finding(sev, fmt.Sprintf("%s=%d on %s: a group that is stopped for %s loses its offsets", keyRetention, n, brokerName(b), span(keep)))
			f.Fix = &Fix{Set: map[string]string{keyRetention: strconv.Itoa(int(defaultRetention / time.Minute))}, Notes: notesFor(keyRetention, "a week, the default; on every broker")}
			report(f)
			return
		}
	},
})
