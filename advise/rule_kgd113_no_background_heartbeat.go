package advise

import (
	"fmt"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD113", Name: "no-background-heartbeat", Severity: Error, Since: "v0.1.0", Scope: PerClient, Member: true,
	Families:  []inspect.Family{inspect.KafkaJS, inspect.Java, inspect.StreamsLib, inspect.KafkaPython, inspect.RubyKafka},
	Needs:     []inspect.Fact{inspect.FactTimeouts, inspect.FactPollTime},
	Uses:      []inspect.Fact{inspect.FactBrokerConfig},
	SymptomOf: []string{"KGD108"},
	Doc: Doc{
		Summary: "The client sends heartbeats between records only, and the work takes longer than the session.",
		Why: "kafkajs, ruby-kafka, Java before 0.10.1 and kafka-python before 1.4 have no thread for heartbeats: while a record is being processed, none " +
			"is sent. There the session timeout bounds the processing time, which is the reason why KIP-62 gave heartbeats a thread of their own.",
		Fix:   "Raise the session timeout above the longest work, call heartbeat() inside it, or give external calls a timeout.",
		Price: "a dead member is noticed later",
		Refs:  []string{"KIP-62", "kafkajs consumer/runner.js"},
	},
	Check: func(s *Subject, report func(Finding)) {
		session, ok := s.Sane(keySession)
		need, _ := s.PollNeed()
		if (s.Family == inspect.KafkaJS || s.Family == inspect.RubyKafka) && s.Case.Declared.RecordTime != nil {
			each := s.Case.Declared.RecordTime.Duration()
			need = Need{D: each, Text: fmt.Sprintf("one record takes %s (--record-time)", span(each))}
		}
		if !ok || need.D <= 0 || beatsAlone(s.Family, s.Version) || inspect.WithMargin(need.D) <= session.D {
			return
		}
		sev, what := Error, "no heartbeat is sent meanwhile, and the member is evicted"
		if need.D < session.D {
			sev, what = Warning, "no heartbeat is sent meanwhile, which leaves little room"
		}
		f := s.Finding(sev, fmt.Sprintf("%s is %s; %s: %s", session.Spelled, span(session.D), need.Text, what), session)
		f.Fix = &Fix{}
		if to := inspect.PollIntervalFor(need.D, s.DefaultOf(keySession), session.D); to <= s.sessionCeiling() {
			f.Fix.Set = map[string]string{keySession: ms(to)}
			f.Fix.Notes = notesFor(keySession, marginNote(need.D, to)+"; needs the broker's group.max.session.timeout.ms")
			f.Fix.Price = fmt.Sprintf("a dead member is noticed after %s instead of %s", span(to), span(session.D))
		} else {
			f.Fix.Summary = "Call heartbeat() inside the work; no session is long enough for " + span(need.D) + "."
		}
		report(f)
	},
})
