package advise

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD601", Name: "librdkafka-poll-timer", Severity: Error, Since: "v0.1.0", Scope: PerClient,
	Families: []inspect.Family{inspect.Librdkafka},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Uses:     []inspect.Fact{inspect.FactClientLog},
	Unknown:  versionUnknown(inspect.Librdkafka),
	Doc: Doc{
		Summary: "This version of librdkafka measures the time between polls incorrectly.",
		Why: "librdkafka 1.0 does not count a poll that is still waiting for records, so a consumer of an idle topic leaves the group although it polls; the overrun in the log is some " +
			"milliseconds. 1.3.0 applies the limit to consumers without a group, and 2.1.0 does not count some polls.",
		Fix:   "Upgrade librdkafka to 2.3.0 or later.",
		Price: "an upgrade of the binding",
		Refs:  []string{"confluent-kafka-python#618", "librdkafka#4176", "librdkafka CHANGELOG.md"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if v := s.Version; v != "" && s.Family == inspect.Librdkafka && atLeast(v, "1.0") && !atLeast(v, "1.1") {
			if es := s.tinyOverruns(); len(es) > 0 && !s.declaredTooSlow(es[0]) {
				f := s.Finding(Error, "librdkafka "+v+" counts a blocking poll on an idle topic as no poll: the limit was exceeded by milliseconds only, too little for any work")
				f.Evidence = append(f.Evidence, es[0].Text)
				f.Fix = &Fix{}
				report(f)
				return
			}
		}
		s.checkBugs([]bug{
			{inspect.Librdkafka, "1.0", "1.1", Warning, "counts a blocking poll on an idle topic as no poll, and leaves the group", "1.1.0", nil},
			{inspect.Librdkafka, "1.3", "1.4", Info, "applies max.poll.interval.ms to assign() too", "1.4.0", nil},
			{inspect.Librdkafka, "2.1.0", "2.1.1", Warning, "does not count some polls, and leaves the group", "2.1.1", nil},
			{inspect.Librdkafka, "1.4", "2.3", Info, "does not count polls through consume callbacks (librdkafka#4431)", "2.3.0", nil},
		}, report)
	},
})

// tinyOverrun is how little over the limit a poll interval may be before work, and not
// the timer, is to blame.
const tinyOverrun = time.Second

// declaredTooSlow reports whether the work was declared to take longer than the interval
// that the line names: how late the check came says nothing of how long the work took.
func (s *Subject) declaredTooSlow(e inspect.LogEvent) bool {
	need, _ := s.declaredNeed()
	return e.Limit != nil && need.D > e.Limit.Duration()
}

// tinyOverruns are logged poll timeouts of the subject that exceed the limit by next
// to nothing.
func (s *Subject) tinyOverruns() []inspect.LogEvent {
	var out []inspect.LogEvent
	for _, e := range s.Case.LogEvents {
		if e.Kind == inspect.LogPollTimeout && e.Length != nil && e.Length.Duration() < tinyOverrun && s.logsOf(e) {
			out = append(out, e)
		}
	}
	return out
}
