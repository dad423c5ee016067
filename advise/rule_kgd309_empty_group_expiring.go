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
		if s.Live.State == "Empty" && s.Live.StateSince.IsZero() {
			return "since when the group is empty is in __consumer_offsets, which was not read"
		}
		return s.unreadBrokerKey(keyRetention)
	},
	Check: func(s *Subject, report func(Finding)) {
		now := s.Case.GeneratedAt
		if s.Live.State != "Empty" || s.Live.StateSince.IsZero() || now.IsZero() {
			return
		}
		idle := now.Sub(s.Live.StateSince.Time)
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
