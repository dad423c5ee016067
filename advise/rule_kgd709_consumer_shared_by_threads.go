package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD709", Name: "consumer-shared-by-threads", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "Several threads use one consumer.",
		Why:     "The Java consumer throws ConcurrentModificationException when a second thread calls it, and kafka-python's is not safe for threads: polls fail or are late, and commits get lost.",
		Fix:     "Give each thread a consumer of its own, or let one thread poll and hand the records to others.",
		Price:   "none",
		Refs:    []string{"KafkaConsumer javadoc, Multi-threaded Processing", "ConcurrentModificationException"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActShared); found {
			report(s.acted(Warning, fmt.Sprintf("%s is called in the thread that begins at %s, and the same consumer is used outside of it: it is not safe for several threads (ConcurrentModificationException)", a.Call, line(*a.Other, a.Where.File)), a))
		}
	},
})
