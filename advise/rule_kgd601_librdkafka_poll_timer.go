package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD601", Name: "librdkafka-poll-timer", Severity: Warning, Since: "v0.1.0", Scope: PerClient,
	Families: []inspect.Family{inspect.Librdkafka},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Uses:     []inspect.Fact{inspect.FactClientLog},
	Unknown:  versionUnknown(inspect.Librdkafka),
	Doc: Doc{
		Summary: "This version of librdkafka measures the time between polls incorrectly.",
		Why: "librdkafka 1.0 does not count a poll that is still waiting for records, so a consumer of an idle topic leaves the group although it polls. How far the interval was exceeded tells " +
			"nothing: librdkafka looks every 500 ms, so the log names less than that however long the work took. 1.3.0 applies the limit to consumers without a group, and 2.1.0 does not count some polls.",
		Fix:   "Upgrade librdkafka to 2.3.0 or later.",
		Price: "an upgrade of the binding",
		Refs:  []string{"confluent-kafka-python#618", "librdkafka#4176", "librdkafka CHANGELOG.md"},
	},
	Check: func(s *Subject, report func(Finding)) {
		idle := "counts a blocking poll on an idle topic as no poll, and leaves the group"
		s.checkBugs([]bug{
			{inspect.Librdkafka, "1.0", "1.1", Warning, idle + ": that, or slow work, is behind the poll timeout; the log looks alike for both", "1.1.0", (*Subject).idlePollMayBe},
			{inspect.Librdkafka, "1.0", "1.1", Info, idle, "1.1.0", nil},
			{inspect.Librdkafka, "1.3", "1.4", Info, "applies max.poll.interval.ms to assign() too", "1.4.0", nil},
			{inspect.Librdkafka, "2.1.0", "2.1.1", Warning, "does not count some polls, and leaves the group", "2.1.1", (*Subject).pollTimeoutLogged},
			{inspect.Librdkafka, "2.1.0", "2.1.1", Info, "does not count some polls, and leaves the group", "2.1.1", nil},
			{inspect.Librdkafka, "1.4", "2.3", Info, "does not count polls through consume callbacks (librdkafka#4431)", "2.3.0", nil},
		}, report)
	},
})

// pollTimeoutLogged reports whether a log of the consumer has a poll timeout.
func (s *Subject) pollTimeoutLogged() bool {
	return s.anyLogged(func(e inspect.LogEvent) bool { return e.Kind == inspect.LogPollTimeout })
}

// idlePollMayBe reports whether a blocking poll that was not counted may be behind a poll
// timeout in the log: nobody said how long the work takes.
func (s *Subject) idlePollMayBe() bool {
	need, _ := s.declaredNeed()
	return need.D == 0 && s.pollTimeoutLogged()
}

// pollsMiscounted reports whether this version of librdkafka leaves the group without
// any slow work.
func (s *Subject) pollsMiscounted() bool {
	return s.Family == inspect.Librdkafka && s.Version != "" && atLeast(s.Version, "1.0") && !atLeast(s.Version, "1.1")
}
