package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD230", Name: "record-too-slow-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	Uses:      []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD127"},
	Doc: Doc{
		Summary: "One record took longer than the limit that the library or framework sets for it, as its log says.",
		Why: "Besides Kafka's own timeouts, some libraries limit the time of a single record: sarama stops a partition for a while after Consumer.MaxProcessingTime (100 ms by default), SmallRye stops a channel whose " +
			"record waits longer than throttled.unprocessed-record-max-age.ms (60 s by default).",
		Fix:   "Raise that limit well above the time that one record takes, the wait in the queue included, or make the work shorter.",
		Price: "a record that hangs is noticed later",
		Refs:  []string{"sarama Consumer.MaxProcessingTime", "SmallRye throttled commit strategy"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if es := s.Logged(signIs(inspect.SignRecordTooSlow)); len(es) > 0 {
			report(s.logged(Warning, "sarama gave partitions up because one message took longer than Consumer.MaxProcessingTime (100ms by default)", es))
		}
		es := s.Logged(signIs(inspect.SignThrottledAge))
		if len(es) == 0 {
			return
		}
		var took, limit time.Duration
		for _, e := range es {
			took, limit = max(took, inspect.Or(e.Length, 0)), max(limit, inspect.Or(e.Limit, 0))
		}
		what := "a record waited longer than throttled.unprocessed-record-max-age.ms" + s.its(keyRecordAge) + " to be acknowledged"
		fix := &Fix{}
		switch {
		case took > 0 && limit > 0:
			what = fmt.Sprintf("a record waited for %s to be acknowledged, longer than throttled.unprocessed-record-max-age.ms (%s)", span(took), span(limit))
			fix = s.recordAgeFix(inspect.RoundUp(inspect.WithMargin(took)))
		case took > 0:
			what = fmt.Sprintf("a record has waited for %s to be acknowledged; the limit is throttled.unprocessed-record-max-age.ms%s", span(took), s.said(keyRecordAge))
		}
		f := s.logged(Warning, what, es)
		f.Fix = fix
		f.settles(s.consumer())
		report(f)
	},
})

// recordAgeFix raises the limit for the records of a channel: as an edit where the file
// is known and has it shorter, else in words.
func (s *Subject) recordAgeFix(to time.Duration) *Fix {
	c := s.consumer()
	if c == nil {
		return &Fix{Summary: fmt.Sprintf("Raise %s above the time that one record takes, the wait in the queue included, for example to %s, or make the work shorter.", keyRecordAge, ms(to))}
	}
	if v, ok := c.Timed(keyRecordAge); ok && v.D >= to {
		return &Fix{Summary: "The limit is long enough for that record: find out why it was not acknowledged, such as a blocked event loop or a message that is neither acked nor nacked."}
	}
	return &Fix{Set: map[string]string{keyRecordAge: ms(to)}}
}
