package advise

import (
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD407", Name: "assignors-mixed", Severity: Error, Since: "v0.1.0", Scope: PerClient,
	Families: []inspect.Family{inspect.Librdkafka},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "librdkafka refuses a list that mixes eager and cooperative assignors.",
		Why: "All assignors of a librdkafka consumer must be of one kind; it cannot change from eager to cooperative while the group runs. The Java client " +
			"can: there a list with both is the first of two rolling restarts (KIP-429).",
		Fix:   "Name assignors of one kind; to change the kind, stop all members of the group and start them with the new list.",
		Price: "the whole group consumes nothing while it restarts",
		Refs:  []string{"rdkafka_assignor.c", "confluent-kafka-go#605", "KIP-429"},
	},
	Check: func(s *Subject, report func(Finding)) {
		v, ok := s.Set(keyAssignors)
		if !ok || s.Family != inspect.Librdkafka || s.ServerSide() {
			return
		}
		var coop, rest []string
		for _, a := range assignorNames(v.Text) {
			if cooperative(a) {
				coop = append(coop, a)
			} else {
				rest = append(rest, a)
			}
		}
		if len(coop) == 0 || len(rest) == 0 {
			return
		}
		f := s.Finding(Error, fmt.Sprintf("%s=%s mixes eager and cooperative assignors: librdkafka refuses to start", v.Spelled, v.Text), v)
		f.Fix = &Fix{Set: map[string]string{keyAssignors: strings.Join(rest, ",")}, Alternatives: []map[string]string{{keyAssignors: strings.Join(coop, ",")}},
			Notes: notesFor(keyAssignors, "the one kind; all members of the group must have the same")}
		report(f)
	},
})
