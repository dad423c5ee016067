package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD723", Name: "seek-before-assignment", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A program seeks right after subscribe(), when nothing is assigned yet.",
		Why: "subscribe() only says which topics; partitions come within poll(), when the group has assigned them. Until then seek() is refused: Unknown partition or Erroneous state in librdkafka, " +
			"IllegalState or an assertion in Java and the Python clients. It is not known either that this member will get the partition.",
		Fix:   "Seek in the callback for assigned partitions (on_assign, onPartitionsAssigned), or give assign() the start offset in place of subscribe().",
		Price: "none",
		Refs:  []string{"KafkaConsumer.seek", "rd_kafka_seek"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActSeekEarly); found {
			report(s.acted(Warning, fmt.Sprintf("%s follows subscribe (%s) with no poll between: no partition is assigned yet, so the seek is refused", a.Call, line(*a.Other, a.Where.File)), a))
		}
	},
})
