package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD902", Name: "no-poll-check", Severity: Info, Since: "v0.1.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactTimeouts},
	Doc: Doc{
		Summary: "The client has no poll check, so a consumer that hangs never leaves the group.",
		Why: "franz-go, sarama, kafka-go and kafkajs have nothing like max.poll.interval.ms. The Go clients send heartbeats in the background, so a consumer whose work hangs keeps its partitions, and " +
			"only its lag shows it.",
		Fix:   "Watch the lag, or give the work a time limit of its own.",
		Price: "none",
		Refs:  []string{"kgo config.go", "sarama config.go"},
	},
	Check: func(s *Subject, report func(Finding)) {
		switch s.Family {
		case inspect.FranzGo, inspect.Sarama, inspect.KafkaGo:
			f := s.Finding(Info, fmt.Sprintf("%s has no poll check: a consumer that hangs keeps its partitions", s.Family))
			f.Fix = &Fix{}
			report(f)
		}
	},
})
