package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
)

var _ = register(Rule{
	ID: "KGD510", Name: "value-refused", Severity: Error, Since: "v0.2.0", Scope: PerFile,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "The client does not accept the value of a setting.",
		Why: "Every client has bounds and lists of values for its settings, and refuses to start with another. librdkafka takes at most 86400000 for max.poll.interval.ms, and the Java " +
			"client knows earliest, latest and none for auto.offset.reset, where others have smallest or beginning.",
		Fix:   "Write a value that the client accepts.",
		Price: "none",
		Refs:  []string{"inspect/settings/data"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if s.dumped() {
			return
		}
		for _, set := range s.Config.Settings {
			def, ok := settings.Lookup(s.Family, s.Version, set.Key)
			if !ok || set.Value == "" || s.Config.Framework != "" {
				continue
			}
			v := s.values[set.Key]
			text := set.Value
			if v.Timed {
				text = ms(v.D)
			}
			why := def.Refuses(text)
			if why == "" || unitSlip(v) || placeholder(text) {
				continue
			}
			sev, then := s.refusal()
			f := s.Finding(sev, fmt.Sprintf("%s=%s is %s: %s", set.Spelled, set.Value, why, then), v)
			f.Evidence = append(f.Evidence, def.Source)
			f.Fix = &Fix{}
			if def.Default != "" && def.Refuses(def.Default) == "" {
				f.Fix.Set = map[string]string{set.Key: def.Default}
				f.Fix.Notes = notesFor(set.Key, "the default")
			}
			report(f)
		}
	},
})
