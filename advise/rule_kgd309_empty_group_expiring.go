package advise

import (
	"fmt"
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD309", Name: "empty-group-expiring", Severity: Warning, Since: "v0.1.0", Scope: PerGroup,
	Needs: []inspect.Fact{inspect.FactState, inspect.FactBrokerConfig},
	Uses:  []inspect.Fact{inspect.FactHistory},
	Doc: Doc{
		Summary: "The group is empty, and its offsets are about to be dropped.",
		Why: "Since KIP-211 the offsets of a group are kept for offsets.retention.minutes from the moment when its last member left. A consumer that comes " +
			"back after that starts where auto.offset.reset says.",
		Fix:   "Start a consumer of the group, or raise offsets.retention.minutes before they are dropped.",
		Price: "none",
		Refs:  []string{"KIP-211"},
	},
	Unknown: func(s *Subject) string {
		if s.Live.State == "Empty" && s.emptySince().IsZero() {
			if s.Timeline == nil {
				return "since when the group is empty is in __consumer_offsets, which was not read"
			}
			return "since when the group is empty is not in what was read of __consumer_offsets"
		}
		return s.unreadBrokerKey(keyRetention)
	},
	Check: func(s *Subject, report func(Finding)) {
		now := s.Case.GeneratedAt
		since := s.emptySince()
		if s.Live.State != "Empty" || since.IsZero() || now.IsZero() {
			return
		}
		idle := now.Sub(since.Time)
		for _, b := range s.Case.Brokers {
			n, err := strconv.ParseInt(b.Config[keyRetention], 10, 32)
			if err != nil || n <= 0 {
				continue
			}
			keep := time.Duration(n) * time.Minute
			if idle*5 < keep*4 {
				return
			}
			what := "its offsets are dropped in " + span((keep - idle).Truncate(time.Minute))
			if idle >= keep {
				what = "its offsets are dropped, or about to be"
			}
			f := s.Finding(Warning, fmt.Sprintf("empty for %s of %s=%d: %s", span(idle.Truncate(time.Minute)), keyRetention, n, what))
			f.Fix = &Fix{}
			report(f)
			return
		}
	},
})

// emptySince is when the last member of an empty group left: the coordinator's own time,
// which records of the consumer protocol lack, or that of the newest rebalance; zero
// unknown.
func (s *Subject) emptySince() inspect.Time {
	if !s.Live.StateSince.IsZero() || s.Timeline == nil || len(s.Timeline.Rebalances) == 0 {
		return s.Live.StateSince
	}
	if r := s.Timeline.Rebalances[len(s.Timeline.Rebalances)-1]; r.Members.After == 0 {
		return r.Time
	}
	return inspect.Time{}
}
