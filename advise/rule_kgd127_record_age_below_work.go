package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

const (
	keyRecordAge = "throttled.unprocessed-record-max-age.ms"
	keyCommit    = "commit-strategy"
)

var _ = register(Rule{
	ID: "KGD127", Name: "record-age-below-work", Severity: Error, Since: "v0.2.0", Scope: PerClient,
	Families: []inspect.Family{inspect.Java},
	Needs:    []inspect.Fact{inspect.FactClientConfig},
	Uses:     []inspect.Fact{inspect.FactDeclared},
	Unknown: func(s *Subject) string {
		if _, ok := s.Timed(keyRecordAge); ok && s.throttled() && s.recordWork() <= 0 {
			return "how long the work on a record takes is not known (add --record-time)"
		}
		return ""
	},
	Doc: Doc{
		Summary: "A record takes longer than SmallRye allows one to stay unprocessed.",
		Why: "SmallRye polls on a thread of its own, so slow work does not delay a poll. Its throttled commit strategy instead stops the channel when a record was read " +
			"more than throttled.unprocessed-record-max-age.ms ago and is not processed. The time counts from the arrival of the record, the wait behind others in the queue included.",
		Fix:   "Raise throttled.unprocessed-record-max-age.ms above the records that wait times the work on one, or fetch fewer records at a time.",
		Price: "a record that hangs is noticed later",
		Refs:  []string{"SmallRye Reactive Messaging KafkaConnector", "KafkaThrottledLatestProcessedCommit"},
	},
	Check: func(s *Subject, report func(Finding)) {
		age, ok := s.Timed(keyRecordAge)
		each := s.recordWork()
		if !ok || each <= 0 || age.D <= 0 || !s.throttled() || 2*each <= age.D {
			return
		}
		what := fmt.Sprintf("one record takes %s (--record-time)", span(each))
		if s.Case.Declared.RecordTime == nil {
			what = fmt.Sprintf("the work takes %s (--batch-time)", span(each))
		}
		sev, then := Error, "the channel is stopped"
		if each < age.D {
			sev, then = Warning, "the time counts from the record's arrival, so the second record in the queue is too old before its turn"
		}
		f := s.Finding(sev, fmt.Sprintf("%s; %s: %s", age.Say(), what, then), age)
		to := inspect.RoundUp(inspect.WithMargin(2 * each))
		f.Fix = &Fix{Set: map[string]string{keyRecordAge: ms(to)}, Price: fmt.Sprintf("a record that hangs is noticed after %s instead of %s", span(to), span(age.D)),
			Notes: notesFor(keyRecordAge, fmt.Sprintf("2 records x %s x 1.25, rounded up; more where more records wait", span(each)))}
		if records, v, ok := s.Int(keyRecords); ok && records > 1 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("up to %s of %d records (%s) may wait in the queue", count(2, "poll"), records, v.Spelled))
		}
		report(f)
	},
})

// throttled reports whether the channel commits by SmallRye's throttled strategy, which is
// its default unless the client commits by itself.
func (s *Subject) throttled() bool {
	if v, ok := s.Set(keyCommit); ok {
		return v.Text == "throttled"
	}
	auto, ok := s.Set("enable.auto.commit")
	return !ok || auto.Text != "true"
}

// recordWork is the declared time of one record, or of what is handled together.
func (s *Subject) recordWork() time.Duration {
	return inspect.Or(s.Case.Declared.RecordTime, inspect.Or(s.Case.Declared.BatchTime, 0))
}
