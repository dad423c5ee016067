package advise

import (
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD231", Name: "member-rejoins-logged", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD218", "KGD222", "KGD224"},
	Doc: Doc{
		Summary: "One member of a stable group rejoins again and again, as the coordinator's log says.",
		Why: "A member that sends JoinGroup in a stable group triggers a rebalance for all. The leader does so for new partitions or topics, any member for a new subscription, and a client at fault for no reason: the " +
			"coordinator only says who it was.",
		Fix:   "Look at the log of that client at that time: it rejoins by itself, and its log says why (Java since 3.0 names a reason, librdkafka with debug=cgrp).",
		Price: "none",
		Refs:  []string{"GroupCoordinator.doJoinGroup", "KIP-800"},
	},
	Check: func(s *Subject, report func(Finding)) {
		by := map[string][]inspect.LogEvent{}
		for _, e := range s.Logged(signIs(inspect.SignPreparing)) {
			low := strings.ToLower(e.Reason)
			if e.MemberID != "" && (strings.Contains(low, "re-joining group") || strings.Contains(low, "updating metadata for member") || strings.Contains(low, "joining group during stable")) {
				by[e.MemberID] = append(by[e.MemberID], e)
			}
		}
		for _, member := range sortedKeys(by) {
			es := by[member]
			if len(es) < fewErrors {
				continue
			}
			what := "one member rejoins again and again, and the group rebalances each time"
			if gap := es[1].Time.Sub(es[0].Time.Time); len(es) == fewErrors && !es[0].Time.IsZero() && gap > time.Minute {
				continue // three in a long log are deploys
			}
			if every, ok := period(es); ok {
				what = "one member rejoins every " + span(every.Round(time.Second)) + ", and the group rebalances each time"
			}
			f := s.logged(Warning, what+": the client itself rejoins; its own log says why", es)
			if told := clientsReason(es); told != "" {
				f = s.logged(Warning, what+"; "+told, es)
				f.Fix.Summary = "Look at what changes: topics that come and go under a pattern, a partition count, topics that the client may see only at times, or a program that subscribes anew."
			}
			f.Confidence = inspect.Medium
			report(f)
			return
		}
	},
})

// clientsReason is what the client itself gave as the reason of most of its joins; ""
// where it gave none.
func clientsReason(es []inspect.LogEvent) string {
	metadata, subscription := 0, 0
	for _, e := range es {
		switch e.Cause {
		case inspect.TopicMetadataChanged:
			metadata++
		case inspect.SubscriptionChanged:
			subscription++
		}
	}
	switch {
	case 2*metadata > len(es):
		return "the client says that the metadata of its topics changed: topics or partitions were added, or went"
	case 2*subscription > len(es):
		return "the client says that its subscription changed"
	}
	return ""
}
