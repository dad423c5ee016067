package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD509", Name: "lost-value", Severity: Warning, Since: "v0.1.0", Scope: PerFile,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Uses:  []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A value is written in a way that does not reach the consumer.",
		Why: "Frameworks map their own files to the client's settings, and drop what they do not know: Spring Boot has no typed property for the session timeout, and " +
			"makes a YAML list under properties into keys that the client does not know. Spark hands on what begins with kafka., and has limits of its own with names that sound alike.",
		Fix:   "Write the value where the framework passes it on.",
		Price: "the setting then has an effect",
		Refs:  []string{"Spring Boot KafkaProperties"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, p := range s.problems("lost_value") {
			f := s.problemFinding(Warning, p)
			f.Fix = &Fix{}
			if p.Nearest != "" {
				f.Fix.Summary = "Write " + p.Nearest + "."
			}
			report(f)
		}
		for _, p := range s.problems("other_limit") {
			sev := Info // it is a setting of its own; only who meant the other limit has lost anything
			if s.pollTimeoutLogged() {
				sev = Warning
			}
			f := s.problemFinding(sev, p)
			f.Fix = &Fix{Summary: fmt.Sprintf("Set %s as an option of the source (max.poll.interval.ms among the kafkaParams of a DStream).", p.Nearest)}
			report(f)
		}
	},
})
