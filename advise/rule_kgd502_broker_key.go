package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD502", Name: "broker-key", Severity: Error, Since: "v0.1.0", Scope: PerFile,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A broker setting is in a consumer's configuration.",
		Why: "Settings such as group.max.session.timeout.ms or group.max.size limit what consumers may request, and only a broker reads them. The Java client " +
			"ignores them, librdkafka refuses to start.",
		Fix:   "Delete the key here, and set it on the brokers if it is wanted.",
		Price: "none",
		Refs:  []string{"librdkafka#2956"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, p := range s.problems("broker_key") {
			sev := Warning
			if s.Family == inspect.Librdkafka {
				sev = Error
			}
			f := s.problemFinding(sev, p)
			f.Fix = &Fix{Delete: []string{p.Key}}
			report(f)
		}
	},
})
