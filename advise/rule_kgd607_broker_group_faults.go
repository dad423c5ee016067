package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// brokerBugs are faults of brokers that show in their groups, newest first.
var brokerBugs = []struct {
	since, before string
	severity      Severity
	what, fixed   string
}{
	{"2.4", "3.3", Info, "can leave a group stuck when a static member joins while the leader is older than 2.3 (KAFKA-14422)", "3.3.2"},
	{"2.3", "2.4", Warning, "may give JoinGroup v0 clients a rebalance timeout of 0, so that each joiner evicts the others (2.3.0, KAFKA-8653)", "2.3.1"},
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
			if exactVersion(b.Version) != "" {
				return ""
			}
		}
		for _, b := range s.Case.Brokers {
			if b.Version != "" {
				return "which of several versions the brokers are is not known: " + b.Version
			}
		}
		return "the version of the brokers was not read"
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, b := range s.Case.Brokers {
			v := exactVersion(b.Version)
			if v == "" {
				continue
			}
			for _, bug := range brokerBugs {
				if !atLeast(v, bug.since) || atLeast(v, bug.before) {
					continue
				}
				f := s.Finding(bug.severity, fmt.Sprintf("broker %d is Kafka %s, which %s", b.ID, v, bug.what))
				f.Confidence = inspect.Medium
				f.Fix = &Fix{Summary: fmt.Sprintf("Upgrade the brokers to %s or later.", bug.fixed)}
				report(f)
				return
			}
		}
	},
})

var plainVersion = pattern.New(`^v?(\d+\.\d+)$`)

// exactVersion is the version of a broker where its answer to ApiVersions fits one
// alone. A range, as proxies and other makers' brokers give, proves nothing.
func exactVersion(guess string) string {
	if m := plainVersion.FindStringSubmatch(guess); m != nil {
		return m[1]
	}
	return ""
}
