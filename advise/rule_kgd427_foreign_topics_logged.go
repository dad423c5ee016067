package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD427", Name: "foreign-topics-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD404", "KGD405"},
	Doc: Doc{
		Summary: "A member was assigned topics that it does not subscribe to, as its log says.",
		Why: "The leader assigns the topics of all members by its own view. Where members of one group subscribe to different topics, clients that assume one subscription for all (kafkajs, franz-go, old Java) " +
			"get partitions that they do not consume, and other partitions are not consumed at all.",
		Fix:   "Let all members of a group subscribe to the same topics, or give those with other topics a group.id of their own.",
		Price: "a new group.id begins at auto.offset.reset unless its offsets are copied",
		Refs:  []string{"KafkaConsumer.subscribe", "kafkajs consumerGroup.js"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(signIs(inspect.SignForeignTopics))
		if len(es) == 0 {
			return
		}
		report(s.logged(Warning, "members of the group subscribe to different topics: one was assigned topics that it does not subscribe to", es))
	},
})
