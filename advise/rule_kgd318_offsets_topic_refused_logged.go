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
		es, others := s.Logged(func(e inspect.LogEvent) bool {
			return e.Sign == inspect.SignOffsetsTopic && !anotherTopic.MatchString(e.Text)
		}),
			s.Logged(func(e inspect.LogEvent) bool {
				return e.Sign == inspect.SignOffsetsTopic && anotherTopic.MatchString(e.Text)
			})
		if len(others) > 0 {
			f := s.logged(Error, "a topic of the application cannot be created: its replication factor is above the number of live brokers"+inTheLine(others[0]), others)
			f.Fix = &Fix{Summary: "Set the replication factor of that topic to at most the number of brokers (Kafka Streams: replication.factor; Connect: config.storage.replication.factor, offset.storage.replication.factor and status.storage.replication.factor), or start the missing brokers."}
			report(f)
		}
		if len(es) == 0 {
			return
		}
		report(s.logged(Error, "the coordinator is not available, since __consumer_offsets cannot be created: offsets.topic.replication.factor is above the number of live brokers"+inTheLine(es[0]), es))
	},
})

// anotherTopic are the words of clients that make topics of their own.
var anotherTopic = pattern.New(`Could not create (?:internal )?topic|Error while attempting to create/find topic|Unable to create topic|create/find topic\(s\)`)

// inTheLine is " (3 and 1 in the line)", the two numbers that a refusal ends with.
func inTheLine(e inspect.LogEvent) string {
	n := replicas.FindAllString(cmp.Or(e.Reason, e.Text), -1)
	if len(n) < 2 {
		return ""
	}
	return fmt.Sprintf(" (%s and %s in the line)", n[len(n)-2], n[len(n)-1])
}

// replicas are the numbers of brokers and replicas that the line ends with.
var replicas = pattern.New(`\b\d{1,4}\b`)
