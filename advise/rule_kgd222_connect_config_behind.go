package advise

import (
	"fmt"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD222", Name: "connect-config-behind", Severity: Error, Since: "v0.2.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A Connect worker forces one rebalance after the other because its config topic lacks what the leader has, as its log says.",
		Why: "Workers of one group.id must read one config.storage.topic. A worker that finds its own end of that topic behind the leader's offset forces a rebalance and reads again. Where it reads another " +
			"topic it never catches up: two Connect clusters share a group.id.",
		Fix:   "Give each Connect cluster a group.id of its own, with config, offset and status topics of its own; workers of one cluster need the same three topics.",
		Price: "connectors start again in the cluster whose group.id changes",
		Refs:  []string{"DistributedHerder", "config.storage.topic"},
	},
	Check: func(s *Subject, report func(Finding)) {
		if es := s.Logged(signIs(inspect.SignConfigBehind)); len(es) >= fewErrors {
			what := "a worker forces one rebalance after the other: its config topic lacks what the leader has"
			if m := configOffsets.FindStringSubmatch(es[len(es)-1].Text); m != nil {
				what = fmt.Sprintf("a worker forces one rebalance after the other: its config topic ends at offset %s, the leader's at %s", m[1], m[2])
			}
			if every, ok := period(es); ok {
				what += ", every " + span(every.Round(100*time.Millisecond))
			}
			f := s.logged(Error, what+"; two Connect clusters share this group.id but have different config.storage.topic", es)
			f.Confidence = inspect.Medium
			report(f)
			return
		}
		if es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Sign == inspect.SignConfigBehind && hasText(e, "config state offset -1 does not match")
		}); len(es) > 0 {
			f := s.logged(Warning, "a worker read its config topic to the end and found it empty, while the leader's has records, so it forces a rebalance: the workers have different config.storage.topic (two Connect clusters share this group.id), or the topic was made anew", es)
			f.Confidence = inspect.Medium
			report(f)
			return
		}
		es := s.Logged(signIs(inspect.SignConfigMismatch))
		if len(es) == 0 || s.configCaughtUp(es[len(es)-1]) && len(once(es)) < fewErrors {
			return
		}
		f := s.logged(Warning, "the Connect group rebalances again at once: the leader does not have the latest configuration that another worker reports (error 1, CONFIG_MISMATCH). Where it repeats, the workers do not read one and the same config.storage.topic to its end: two Connect clusters share this group.id, the topic differs between workers or was made anew, or the leader cannot read it", es)
		f.Confidence = inspect.Medium
		report(f)
	},
})

// configCaughtUp reports whether connectors were assigned after a leader had lacked a
// configuration.
func (s *Subject) configCaughtUp(last inspect.LogEvent) bool {
	return slices.ContainsFunc(s.logs, func(e inspect.LogEvent) bool {
		return e.Kind == inspect.LogJoined && hasText(e, "got assignment") && behind(e, last)
	})
}
