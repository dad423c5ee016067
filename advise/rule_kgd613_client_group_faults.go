package advise

import (
	"fmt"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
)

var _ = register(Rule{
	ID: "KGD613", Name: "client-group-faults", Severity: Warning, Since: "v0.2.0", Scope: PerClient,
	Families: []inspect.Family{inspect.Java, inspect.Librdkafka, inspect.Sarama, inspect.FranzGo, inspect.KafkaJS, inspect.KafkaPython, inspect.AIOKafka},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Unknown: versionUnknown(inspect.Java, inspect.Librdkafka, inspect.Sarama, inspect.FranzGo, inspect.KafkaJS, inspect.KafkaPython,
		inspect.AIOKafka),
	Doc: Doc{
		Summary: "The changelog of the client names faults of this version that show in consumer groups.",
		Why: "Each library has released versions with faults in how it joins, sends heartbeats and commits. A version alone proves little, so these faults are listed for information; where a log shows " +
			"the effect of one, other rules report it. It is a warning where the settings ask for what the version does wrong.",
		Fix:   "Upgrade the client.",
		Price: "an upgrade of the library",
		Refs:  []string{"inspect/settings/data/faults.tsv"},
	},
	Check: func(s *Subject, report func(Finding)) {
		var faults []settings.Fault
		newest := ""
		for _, f := range settings.Faults(s.Family, s.Version) {
			if !s.meets(f.When) {
				continue
			}
			faults = append(faults, f)
			if newest == "" || atLeast(f.Fixed, newest) {
				newest = f.Fixed
			}
		}
		if len(faults) == 0 {
			return
		}
		slices.SortStableFunc(faults, func(a, b settings.Fault) int { return Severity(b.Severity).Rank() - Severity(a.Severity).Rank() })
		more := ""
		if len(faults) > 1 {
			more = fmt.Sprintf(", and has %s more", count(len(faults)-1, "known fault"))
		}
		f := s.Finding(Severity(faults[0].Severity), fmt.Sprintf("%s %s %s%s", s.Family, s.Version, faults[0].What, more))
		for i, x := range faults {
			if i > 0 {
				f.Evidence = append(f.Evidence, x.What+" ("+x.Source+")")
				continue
			}
			f.Evidence = append(f.Evidence, x.Source)
		}
		f.Fix = &Fix{Summary: fmt.Sprintf("Upgrade to %s %s or later.", s.Family, newest)}
		report(f)
	},
})

// meets reports whether a consumer is of the kind to which a fault is narrowed.
func (s *Subject) meets(when string) bool {
	switch when {
	case "consumer":
		return s.ServerSide()
	case "cooperative":
		v, ok := s.Set(keyAssignors)
		if !ok {
			return false
		}
		for _, a := range assignorNames(v.Text) {
			if cooperative(a) {
				return true
			}
		}
		return false
	}
	return true
}
