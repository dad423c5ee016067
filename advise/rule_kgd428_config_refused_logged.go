package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var _ = register(Rule{
	ID: "KGD428", Name: "config-refused-logged", Severity: Error, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD102", "KGD107", "KGD111", "KGD401", "KGD407", "KGD501", "KGD502", "KGD506"},
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
		what, fix := "the client refuses its settings", &Fix{}
		switch e := es[0]; {
		case hasText(e, "Heartbeat must be set lower"):
			what = "the client does not start: heartbeat.interval.ms must be lower than session.timeout.ms; raise session.timeout.ms (with the default heartbeat of 3 s, above 3 s; 45000 is the default)"
		case hasText(e, "assignors must have the same protocol type"):
			what = "librdkafka does not start: partition.assignment.strategy mixes eager assignors (range, roundrobin) and cooperative-sticky; name one kind, the same in all members of the group"
			fix.Summary = "Name assignors of one kind; to change the kind, stop all members of the group and start them with the new list."
		case outsideRange.MatchString(e.Text):
			what = s.refusedRange(outsideRange.FindStringSubmatch(e.Text))
		case e.Reason != "":
			what += " (" + e.Reason + ")"
		}
		f := s.logged(Error, what, es)
		f.Fix = fix
		report(f)
	},
})

var outsideRange = pattern.New(`"([a-z.]+)" value (\d+) is outside (?:of )?allowed range (-?\d+)\.\.(\d+)`)

// refusedRange says which value is outside of its range, and where it comes from if it is
// no setting of the file: a wrapper that hands on twice as much.
func (s *Subject) refusedRange(m []string) string {
	what := fmt.Sprintf("the client does not start: %s=%s is outside of %s to %s", m[1], m[2], m[3], m[4])
	v, ok := s.limitOf(m[1])
	if got, most := number(m[2]), number(m[4]); ok && v.Timed && 2*v.D.Milliseconds() == got {
		what += fmt.Sprintf(", which is twice the %s of the file: the library around librdkafka doubles it, so that at most %d (%s) can be set", ms(v.D), most/2, span(time.Duration(most/2)*time.Millisecond))
	}
	return what
}

func number(text string) int64 {
	n, _ := whole(text)
	return n
}
