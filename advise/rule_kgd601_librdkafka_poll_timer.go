package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD601", Name: "librdkafka-poll-timer", Severity: Warning, Since: "v0.1.0", Scope: PerClient,
	Needs:   []inspect.Fact{inspect.FactClientConfig},
	Unknown: versionUnknown(inspect.Librdkafka),
	Doc: Doc{
		Summary: "This version of librdkafka measures the time between polls wrongly.",
		Why: "librdkafka 1.0 does not count a poll that is still waiting for records, so that a consumer of an idle topic leaves the group although it polls; the overrun in the log is some " +
			"milliseconds. 1.3.0 applies the limit to consumers without a group, and 2.1.0 does not count some polls.",
		Fix:   "Upgrade librdkafka to 2.3.0 or later.",
		Price: "an upgrade of the binding",
		Refs:  []string{"confluent-kafka-python#618", "librdkafka#4176", "librdkafka CHANGELOG.md"},
	},
	Check: func(s *Subject, report func(Finding)) {
		s.checkBugs([]bug{
			{inspect.Librdkafka, "1.0", "1.1", Warning, "counts a blocking poll on an idle topic as no poll, and leaves the group", "1.1.0", nil},
			{inspect.Librdkafka, "1.3", "1.4", Info, "applies max.poll.interval.ms to assign() too", "1.4.0", nil},
			{inspect.Librdkafka, "2.1.0", "2.1.1", Warning, "does not count some polls, and leaves the group", "2.1.1", nil},
			{inspect.Librdkafka, "1.4", "2.3", Info, "does not count polls through consume callbacks (librdkafka#4431)", "2.3.0", nil},
		}, report)
	},
})
