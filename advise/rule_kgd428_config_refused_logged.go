package advise

import (
	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD428", Name: "config-refused-logged", Severity: Error, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD102", "KGD107", "KGD111", "KGD401", "KGD501", "KGD502", "KGD506"},
	Doc: Doc{
		Summary: "A client does not start with its settings, as its log says.",
		Why:     "Client libraries check some settings against each other, and librdkafka every key, before they connect. The line says what was refused.",
		Fix:     "Correct the settings that the line names: heartbeat.interval.ms below session.timeout.ms, session.timeout.ms not above max.poll.interval.ms, request timeouts above the session.",
		Price:   "none",
		Refs:    []string{"ConsumerConfig", "librdkafka CONFIGURATION.md"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Sign == inspect.SignConfigRefused || e.Sign == "unknown_key" && e.Family == inspect.Librdkafka
		})
		if len(es) == 0 {
			return
		}
		what := "the client refuses its settings"
		switch e := es[0]; {
		case hasText(e, "Heartbeat must be set lower"):
			what = "the client does not start: heartbeat.interval.ms must be lower than session.timeout.ms; raise session.timeout.ms (with the default heartbeat of 3 s, above 3 s; 45000 is the default)"
		case e.Reason != "":
			what += " (" + e.Reason + ")"
		}
		report(s.logged(Error, what, es))
	},
})
