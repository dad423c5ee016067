package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD722", Name: "claim-left-early", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "sarama's ConsumeClaim returns before the session ends.",
		Why: "sarama ends a session as soon as one ConsumeClaim returns: the claims of all partitions end, Consume returns, and its next call joins the group again. A return at a timer rebalances the group at that " +
			"period; a return with the error of a record does so with each such record, and reads it again if it was not marked.",
		Fix:   "Return from ConsumeClaim only when claim.Messages() is closed or session.Context() is done; try a record again, or put it aside and mark it, within the loop.",
		Price: "none",
		Refs:  []string{"sarama ConsumerGroupHandler.ConsumeClaim"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if a, found := s.firstAct(inspect.ActClaimTimer); found {
			report(s.acted(Warning, "ConsumeClaim returns at a timer while the session goes on: sarama then ends the session of all claims, and the group rebalances each time", a))
		}
		if a, found := s.firstAct(inspect.ActClaimError); found {
			report(s.acted(Info, fmt.Sprintf("ConsumeClaim returns the error of a record (%s): sarama then ends the session of all claims, and the group rebalances with each such record, which is read again unless it was marked", a.Call), a))
		}
	},
})
