package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD224", Name: "rebalance-period-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	Uses:      []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD222", "KGD608"},
	Doc: Doc{
		Summary: "A client rejoins at regular intervals that equal one of its settings, as its log says.",
		Why: "What repeats at the period of a setting is caused by it: a metadata refresh that changes the subscription each time, an idle limit that cuts the connection, a session or poll interval " +
			"that runs out again and again.",
		Fix:   "Look at what happens at that period: for a metadata refresh whether topics come and go or cannot all be seen, for an idle limit which of client, broker and proxy cuts first.",
		Price: "none",
		Refs:  []string{"metadata.max.age.ms", "topic.metadata.refresh.interval.ms", "connections.max.idle.ms"},
	},
	Check: func(s *Subject, report func(Finding)) {
		for _, l := range s.lanes() {
			var es []inspect.LogEvent
			for _, e := range l.events {
				if e.Kind == inspect.LogRejoinRequested && e.Sign != inspect.SignRejoining && e.Sign != inspect.SignAlreadyRebalancing && e.Sign != inspect.SignRebalanceTold {
					es = append(es, e)
				}
			}
			every, ok := period(es)
			if !ok || len(es) < 5 {
				continue
			}
			key, v := s.settingOf(every)
			if key == "" {
				continue
			}
			f := s.logged(Warning, fmt.Sprintf("the client rejoins every %s, which equals %s", span(every.Round(100*time.Millisecond)), v), es)
			f.Confidence = inspect.Medium
			report(f)
			return
		}
	},
})

// periodKeys are the settings whose values may drive rebalances.
var periodKeys = []string{"topic.metadata.refresh.interval.ms", "metadata.max.age.ms", keySession, keyPoll, "connections.max.idle.ms"}

// settingOf names the setting of the consumer, or the usual default, that a period
// equals; "" for none.
func (s *Subject) settingOf(every time.Duration) (key, said string) {
	near := func(d time.Duration) bool { return d > 0 && (every-d).Abs() <= d/25 }
	if c := s.consumer(); c != nil {
		for _, k := range periodKeys {
			if v, ok := c.Timed(k); ok && near(v.D) {
				return k, fmt.Sprintf("%s (%s)", k, v.Say())
			}
		}
		return "", ""
	}
	if near(5 * time.Minute) {
		return "metadata.max.age.ms", "the default of metadata.max.age.ms and max.poll.interval.ms"
	}
	return "", ""
}
