package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD424", Name: "subscription-churn-logged", Severity: Warning, Since: "v0.1.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "Members rejoin again and again because topics or partitions change, as their logs say.",
		Why: "A member whose pattern matches another topic, or whose topic has more partitions, rejoins when its metadata is refreshed (metadata.max.age.ms, 5 minutes by " +
			"default). Members refresh at different times: before Java 2.0.1 one new topic could cost a rebalance for each of them (KAFKA-7126).",
		Fix:   "Subscribe to a fixed list of topics, or create topics in one go; upgrade Java clients before 2.0.1.",
		Price: "none",
		Refs:  []string{"KAFKA-7126", "metadata.max.age.ms"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Kind == inspect.LogRejoinRequested && (e.Cause == inspect.SubscriptionChanged || e.Cause == inspect.TopicMetadataChanged)
		})
		if len(es) <= fewErrors {
			return
		}
		report(s.logged(Warning, "members rejoined because topics or partitions changed", es))
	},
})
