package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

// brokerBugs are faults of brokers that show in their groups, newest first.
var brokerBugs = []struct {
	since, before string
	severity      Severity
	what, fixed   string
}{
	{"2.4", "3.3", Info, "can leave a group stuck when a static member joins while the leader is older than 2.3 (KAFKA-14422)", "3.3.2"},
	{"2.3", "2.4", Warning, "may give JoinGroup v0 clients a rebalance timeout of 0, so that each joiner puts the others out (2.3.0, KAFKA-8653)", "2.3.1"},
	{"", "2.2", Warning, "keeps members of JoinGroups that have timed out, so that groups grow and get stuck (KAFKA-7610)", "2.5.0"},
}

var _ = register(Rule{
	ID: "KGD607", Name: "broker-group-faults", Severity: Warning, Since: "v0.1.0", Scope: PerCluster,
	Needs: []inspect.Fact{inspect.FactBrokerConfig},
	Doc: Doc{
		Summary: "The brokers are of a version with known faults in group coordination.",
		Why: "Before 2.2 a coordinator keeps members whose JoinGroup has timed out; 2.3.0 gives old clients a rebalance timeout of zero; 2.4 to 3.3.1 can get stuck when static membership is introduced " +
			"in the same restart that upgrades clients from before 2.3.",
		Fix:   "Upgrade the brokers.",
		Price: "a rolling upgrade",
		Refs:  []string{"KAFKA-7610", "KAFKA-8653", "KAFKA-9752", "KAFKA-14422"},
	},
	Unknown: func(s *Subject) string {
		for _, b := range s.Case.Brokers {
			if b.Version != "" {
				return ""
			}
		}
		return "the version of the brokers could not be told"
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, b := range s.Case.Brokers {
			// "3.7-3.9" is as near as ApiVersions tells: the newest counts, so that
			// nothing is said of a broker that may be well.
			v := b.Version
			if i := strings.LastIndexByte(v, '-'); i >= 0 {
				v = v[i+1:]
			}
			if v == "" {
				continue
			}
			for _, bug := range brokerBugs {
				if !atLeast(v, bug.since) || atLeast(v, bug.before) {
					continue
				}
				f := s.Finding(bug.severity, fmt.Sprintf("broker %d is Kafka %s, which %s", b.ID, b.Version, bug.what))
				f.Confidence = inspect.Medium
				f.Fix = &Fix{Summary: fmt.Sprintf("Upgrade the brokers to %s or later.", bug.fixed)}
				report(f)
				return
			}
		}
	},
})
