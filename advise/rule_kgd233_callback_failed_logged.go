package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD233", Name: "callback-failed-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "The application's rebalance listener failed, as a client's log says.",
		Why: "In a rebalance the client calls the application's listener for the partitions that it gives up and gets. Where the listener fails, the rebalance of this member does not end as it should: the Java client throws " +
			"out of poll(), others go on with partitions whose state the application has not prepared.",
		Fix:   "Catch in the listener what can fail, such as a commit or a connection, and look at the exception below the line.",
		Price: "none",
		Refs:  []string{"ConsumerRebalanceListener", "rebalance_cb"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if es := s.Logged(signIs(inspect.SignCallbackFailed)); len(es) > 0 {
			report(s.logged(Warning, "the application's rebalance listener (callback) failed", es))
		}
	},
})
