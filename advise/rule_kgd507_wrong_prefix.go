package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD507", Name: "wrong-prefix", Severity: Error, Since: "v0.1.0", Scope: PerFile,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A consumer's setting lacks the prefix under which this program reads it.",
		Why: "In a Connect worker's file a key without a prefix configures the worker's own group; the consumers of its sink tasks take consumer.… there, and consumer.override.… " +
			"in the connector. Kafka Streams and Spring have prefixes of their own. Without it the consumer runs with its default.",
		Fix:   "Put the prefix in front of the key.",
		Price: "the setting then has an effect",
		Refs:  []string{"confluentinc/kafka-connect-hdfs#88", "KIP-458"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, p := range s.problems("wrong_prefix") {
			f := s.problemFinding(Error, p)
			f.Fix = &Fix{}
			if p.Nearest != "" {
				f.Fix.Summary = "Write " + p.Nearest + "."
			}
			report(f)
		}
	},
})
