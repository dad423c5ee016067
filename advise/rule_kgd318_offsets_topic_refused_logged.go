package advise

import (
	"cmp"
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var _ = register(Rule{
	ID: "KGD318", Name: "offsets-topic-refused-logged", Severity: Error, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD313"},
	Doc: Doc{
		Summary: "__consumer_offsets cannot be created with so few brokers, as a broker's log says.",
		Why: "The topic is created at the first request for a coordinator, with offsets.topic.replication.factor replicas. With fewer live brokers that fails, and every client learns again and again that " +
			"the coordinator is not available.",
		Fix:   "Set offsets.topic.replication.factor to at most the number of brokers (1 on a single broker), or start the missing brokers.",
		Price: "with one replica, groups depend on one broker",
		Refs:  []string{"offsets.topic.replication.factor", "COORDINATOR_NOT_AVAILABLE (15)"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(signIs(inspect.SignOffsetsTopic))
		if len(es) == 0 {
			return
		}
		what := "the coordinator is not available, since __consumer_offsets cannot be created: offsets.topic.replication.factor is above the number of live brokers"
		if n := replicas.FindAllString(cmp.Or(es[0].Reason, es[0].Text), -1); len(n) >= 2 {
			what = fmt.Sprintf("%s (%s and %s in the line)", what, n[len(n)-2], n[len(n)-1])
		}
		report(s.logged(Error, what, es))
	},
})

// replicas are the numbers of brokers and replicas that the line ends with.
var replicas = pattern.New(`\b\d{1,4}\b`)
