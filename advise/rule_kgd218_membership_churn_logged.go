package advise

import (
	"sort"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// The measures of churn are kgdiag's own policy. One deploy must not count: it moves
// each client once or twice, within minutes.
const (
	churnWithin = time.Minute     // in which one client may not come and go
	churnOfOne  = 6               // times
	churnSlot   = 5 * time.Minute // a deploy stays within one or two of these
	churnSlots  = 4               // of an hour
)

var _ = register(Rule{
	ID: "KGD218", Name: "membership-churn-logged", Severity: Warning, Since: "v0.1.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD201", "KGD204", "KGD213", "KGD214", "KGD215", "KGD217"},
	Doc: Doc{
		Summary: "Members keep joining and leaving, as the coordinator's log says.",
		Why: "Each restart of a process is a leave and a join, and each of them rebalances all members. Platforms that scale up and down, pods that are killed for memory, and " +
			"programs that rejoin the group for every subscription do so continuously.",
		Fix:   "Keep the processes alive: memory, a cool-down of the autoscaler, one subscription with the full list of topics; give stable pods a group.instance.id and a session longer than a restart.",
		Price: "none",
		Refs:  []string{"KIP-345", "dapr/components-contrib#3297"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Kind == inspect.LogRebalance && (e.Cause == inspect.MemberJoined || e.Cause == inspect.MemberLeft)
		})
		sort.SliceStable(es, func(i, j int) bool { return es[i].Time.Before(es[j].Time.Time) })
		lanes := map[string][]inspect.LogEvent{}
		for _, e := range es {
			lanes[laneOf(e)] = append(lanes[laneOf(e)], e)
		}
		atOnce := len(s.endedAtOnce()) > 0 // a fault of the broker's, whoever comes
		for _, name := range sortedKeys(lanes) {
			if mostWithin(lanes[name], churnWithin) >= churnOfOne && !atOnce {
				// Many processes may share one client id, and be deployed in that minute.
				f := s.logged(Warning, "client "+name+" joins and leaves within seconds: one process, or a deploy of many that share the id", lanes[name])
				f.Confidence = inspect.Medium
				report(f)
				return
			}
		}
		if mostWithin(es, time.Hour) >= stormInHour && busySlots(es) >= churnSlots {
			what := "members joined and left again and again"
			var left []inspect.LogEvent
			for _, e := range es {
				if e.Cause == inspect.MemberLeft {
					left = append(left, e)
				}
			}
			if every, ok := period(left); ok {
				what += ", one leaves every " + span(every.Round(time.Second))
				if (every - defaultPoll).Abs() <= defaultPoll/25 {
					what += ", which is the default of max.poll.interval.ms: it may not be polled in time"
				}
			}
			report(s.logged(Warning, what, es))
		}
	},
})

// mostWithin is the largest number of events in any span of time; events without a
// time count as one moment each, far apart.
func mostWithin(es []inspect.LogEvent, span time.Duration) int {
	most, first := 0, 0
	for i, e := range es {
		if e.Time.IsZero() {
			first = i + 1
			continue
		}
		for e.Time.Sub(es[first].Time.Time) > span {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

var memberUUID = pattern.New(`-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// laneOf is the client behind an event: its client id, which classic member ids begin
// with.
func laneOf(e inspect.LogEvent) string {
	if e.ClientID != "" {
		return e.ClientID
	}
	return memberUUID.ReplaceAllString(e.MemberID, "")
}

// busySlots counts the slots of time in which anything happened, in the hour that has
// the most.
func busySlots(es []inspect.LogEvent) int {
	most := 0
	for i := range es {
		slots := map[int64]bool{}
		for _, e := range es[i:] {
			if e.Time.IsZero() || es[i].Time.IsZero() || e.Time.Sub(es[i].Time.Time) > time.Hour {
				continue
			}
			slots[e.Time.Unix()/int64(churnSlot/time.Second)] = true
		}
		most = max(most, len(slots))
		if i > 1000 {
			break // enough has been seen
		}
	}
	return most
}
