package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD501", Name: "unknown-key", Severity: Warning, Since: "v0.1.0", Scope: PerFile,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A key is not a setting of a Kafka consumer; it may be misspelt.",
		Why: "The Java client ignores unknown keys and only logs a line: the default applies, not what the file says. " +
			"librdkafka refuses to start.",
		Fix:   "Correct the name of the key, or delete it.",
		Price: "the setting then has an effect",
		Refs:  []string{"AbstractConfig.logUnused", "apache/openwhisk#3912"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, p := range s.problems("unknown_key") {
			sev := Info
			if p.Nearest != "" {
				sev = Warning
			}
			f := s.problemFinding(sev, p)
			f.Fix = &Fix{Summary: "Delete it if no other program reads it.", Price: "none"}
			if v, ok := s.Get(p.Nearest); ok && v.Origin == inspect.OriginDefault {
				f.Evidence = append(f.Evidence, v.Say())
			}
			if p.Nearest != "" {
				f.Fix.Summary, f.Fix.Price = fmt.Sprintf("Write %s.", p.Nearest), ""
				if _, timed := parseMillis(p.Value); timed || p.Value != "" && !strings.HasSuffix(p.Nearest, ".ms") {
					f.Fix.Set, f.Fix.Delete = map[string]string{p.Nearest: p.Value}, []string{p.Key}
				}
			}
			report(f)
		}
	},
})
