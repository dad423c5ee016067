package advise

import (
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD420", Name: "static-membership-unsupported-logged", Severity: Error, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD412"},
	Doc: Doc{
		Summary: "A broker or member is too old for group.instance.id, as a log says.",
		Why: "Static membership needs JoinGroup version 5 (Kafka 2.3) of the broker and of every member, the leader above all: a leader of an older client cannot " +
			"handle static members, and the group stays in PreparingRebalance (KAFKA-14422).",
		Fix:   "Upgrade the brokers to 3.3.2 or later and all clients to 2.3 or later first, and set group.instance.id in a second rollout.",
		Price: "two rollouts",
		Refs:  []string{"KIP-345", "KAFKA-14422"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return strings.Contains(e.Text, "groupInstanceId at version") || strings.Contains(e.Text, "unset field group.instance.id") || strings.Contains(e.Text, "does not support KIP-345") || strings.Contains(e.Text, "does not support usage of config group.instance.id")
		})
		if len(es) == 0 {
			return
		}
		report(s.logged(Error, "group.instance.id is used with a version that does not support it", es))
	},
})
