package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD717", Name: "work-between-polls", Severity: Warning, Since: "v0.3.0", Scope: PerClient,
	Needs: []inspect.Fact{inspect.FactClientConfig},
	Uses:  []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "The program waits for other systems between two polls.",
		Why: "A request or a database call between two polls has no length in the text. It is a warning where the logs show that the member was late, or where a full poll leaves less than a " +
			"second for each record.",
		Fix:   "Bound each call with a timeout, and return fewer records per poll or raise the limit above the longest time between two polls.",
		Price: "a consumer that hangs is noticed later where the limit is raised",
		Refs:  []string{"KIP-62", "KafkaConsumer javadoc, Detecting Consumer Failures"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if limit, ok := s.workLimit(); ok {
			s.worksUnmeasured(limit, report)
		}
	},
})

// tightBudget is the time for each record of a full poll below which a call of another
// system is likely to take longer now and then.
const tightBudget = time.Second

// worksUnmeasured reports calls whose length the text does not tell.
func (s *Subject) worksUnmeasured(limit Value, report func(Finding)) {
	works := s.acts(inspect.ActRequest, inspect.ActProcess, inspect.ActDatabase)
	if len(works) == 0 || s.measured() {
		return
	}
	late := s.lateLogged()
	a := works[0]
	each := limit.D / time.Duration(s.perPoll())
	budget := ""
	if s.perPoll() > 1 && a.Each {
		budget = fmt.Sprintf(": up to %d records of a poll leave %s for each", s.perPoll(), span(each))
	}
	sev := Info
	if len(late) > 0 || a.Each && s.perPoll() > 1 && each < tightBudget {
		sev = Warning
	}
	f := s.acted(sev, fmt.Sprintf("between two polls the program %s (%s); %s%s", workWords[a.Kind], a.Call, limit.Say(), budget), a)
	f.Confidence = inspect.Low
	if len(late) > 0 {
		f.Confidence = inspect.Medium
		f.Evidence = append(f.Evidence, quoteLines(late[:1])...)
	}
	for _, o := range works[1:min(len(works), 4)] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s too (%s, %s)", workWords[o.Kind], o.Call, line(o.Where, a.Where.File)))
	}
	f.Fix.Summary = "Measure it (--record-time, --batch-time say how long it takes), bound each call with a timeout, and return fewer records per poll or raise " + limit.Spelled + "."
	report(f)
}

// measured reports whether how long the work takes is known, so that KGD105 tells.
func (s *Subject) measured() bool {
	d := s.Case.Declared
	return d.BatchTime != nil || d.RecordTime != nil || len(d.BatchTimes) > 0
}

var workWords = map[inspect.ActKind]string{
	inspect.ActRequest: "waits for an HTTP request", inspect.ActDatabase: "waits for a database", inspect.ActProcess: "runs another program",
}
