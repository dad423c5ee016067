package advise

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD240", Name: "rebalance-logged", Severity: Info, Since: "v0.3.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD213", "KGD214", "KGD215", "KGD217", "KGD218", "KGD219", "KGD220", "KGD221", "KGD222", "KGD223", "KGD224", "KGD226", "KGD227", "KGD228", "KGD231", "KGD232", "KGD235", "KGD237",
		"KGD238", "KGD239", "KGD308", "KGD312", "KGD314", "KGD316", "KGD418", "KGD424", "KGD427", "KGD608"},
	Doc: Doc{
		Summary: "A group rebalanced, as a log shows; by itself that is no fault.",
		Why: "Each member that joins, leaves or is evicted rebalances its group, and the others learn of it by the answer to a heartbeat (REBALANCE_IN_PROGRESS), which some clients log as an error. A member's own log mostly " +
			"does not say who began it. A client that ends at this answer has taken a part of every rebalance for a fault.",
		Fix:   "Leave it where it came with a start, a stop or a deploy. Where it goes on, the coordinator's log and kgdiag history name the member that comes and goes.",
		Price: "none",
		Refs:  []string{"REBALANCE_IN_PROGRESS (27)", "KIP-429"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := once(s.Logged(ofRebalance))
		if len(es) == 0 {
			return
		}
		if ended := endedAtRebalance(es); len(ended) > 0 {
			f := s.logged(Warning, "the client takes REBALANCE_IN_PROGRESS for a fault and gives up: the group was only rebalancing, because a member joined, left or was evicted, and a client that joins again is part of it", ended)
			f.Confidence = inspect.Medium
			f.Fix.Summary = "Catch the error, poll or join again; start the process again when it ends at it; a newer client library may try again by itself. Then look at who began the rebalance: a deploy, or a member that is too slow or expires."
			report(f)
			return
		}
		if of, over := s.revokedInVain(es); len(of) > 0 {
			f := s.logged(Warning, fmt.Sprintf("the group rebalances again and again: its partitions were revoked %d times within %s, and no line says that any came back", len(of), span(over)), of)
			f.Confidence = inspect.Medium
			report(f)
			return
		}
		what, of := s.rebalanceTold(es)
		f := s.logged(Info, what, of)
		if family, version := s.library(); family != "" && !beatsAlone(family, version) {
			f.Fix.Summary = "Leave it where it came with a start, a stop or a deploy. Where it goes on, make the work for a message or batch shorter than the session" + s.said(keySession) + ", or send a heartbeat within it: this client sends none while it works."
		}
		report(f)
	},
})

// ofRebalance reports whether a line tells of a rebalance, or of a member that came or went.
func ofRebalance(e inspect.LogEvent) bool {
	switch e.Kind {
	case inspect.LogRejoinRequested, inspect.LogLeft, inspect.LogRebalance:
		return true
	case inspect.LogJoined:
		return e.Sign != inspect.SignAssignedByHand
	case inspect.LogHeartbeatFailed, inspect.LogError, inspect.LogNote:
		return e.Error == "REBALANCE_IN_PROGRESS" || e.Sign == inspect.SignAlreadyRebalancing || e.Sign == inspect.SignRejoining || e.Sign == inspect.SignRevokeStart
	}
	return false
}

// giveUps are the words with which clients and programs end at an error that they do not
// know how to go on from.
var giveUps = []string{"Unexpected error in join group response", "FATAL", "Unhandled", "unhandled", "uncaught", "Uncaught", "Crash: "}

func endedAtRebalance(es []inspect.LogEvent) []inspect.LogEvent {
	return slices.DeleteFunc(slices.Clone(es), func(e inspect.LogEvent) bool {
		return e.Error != "REBALANCE_IN_PROGRESS" || !slices.ContainsFunc(giveUps, func(w string) bool { return hasText(e, w) })
	})
}

// rebalanceTold says what some lines tell of rebalances, and which of them do: the first
// of these that there is, since each of the following is a part of it.
func (s *Subject) rebalanceTold(es []inspect.LogEvent) (string, []inspect.LogEvent) {
	pick := func(want func(inspect.LogEvent) bool) []inspect.LogEvent {
		return slices.DeleteFunc(slices.Clone(es), func(e inspect.LogEvent) bool { return !want(e) })
	}
	const unsaid = ": another member joined or left (a start, a stop, a deploy), its session expired, or it was too slow; these lines do not say which, and once is normal"
	if began := s.Logged(signIs(inspect.SignPreparing)); len(began) > 0 {
		return "the coordinator began a rebalance of the group" + inParens(distinct(began, begunFor)), began
	}
	if changed := pick(func(e inspect.LogEvent) bool {
		return e.Cause == inspect.TopicMetadataChanged || e.Cause == inspect.SubscriptionChanged
	}); len(changed) > 0 {
		return "a member joins again because its topics, their partitions or its subscription changed", changed
	}
	if told := pick(func(e inspect.LogEvent) bool {
		return e.Error == "REBALANCE_IN_PROGRESS" || e.Sign == inspect.SignAlreadyRebalancing
	}); len(told) > 0 {
		return "a member learned that its group rebalances (REBALANCE_IN_PROGRESS)" + everySaid(told) + s.waitsForJoin() + unsaid, told
	}
	if revoked := pick(signIs(inspect.SignRevokeStart)); len(revoked) > 0 {
		return "a rebalance took a member's partitions (revoked)" + everySaid(revoked) + s.waitsForJoin() + unsaid, revoked
	}
	if left := pick(func(e inspect.LogEvent) bool { return e.Kind == inspect.LogLeft }); len(left) > 0 {
		return "a member left the group by itself (LeaveGroup), as it does when it is closed", left
	}
	if joins := pick(joined); len(joins) > 0 {
		return "a member joined its group" + everySaid(joins), joins
	}
	return "the group rebalanced" + s.waitsForJoin(), es
}

// revokedInVain are revocations that come again and again within an hour in a log that has
// no assignment at all.
func (s *Subject) revokedInVain(es []inspect.LogEvent) ([]inspect.LogEvent, time.Duration) {
	var of []inspect.LogEvent
	for _, e := range es {
		switch {
		case e.Sign == inspect.SignRevokeStart && !e.Time.IsZero():
			of = append(of, e)
		case e.Sign == "assign_start" || joined(e) || e.Sign == inspect.SignRejoining:
			return nil, 0
		}
	}
	if len(of) < fewErrors {
		return nil, 0
	}
	over := of[len(of)-1].Time.Sub(of[0].Time.Time).Round(time.Second)
	if over > time.Hour || over < time.Minute {
		return nil, 0
	}
	return of, over
}

// everySaid is ", every 5m" for lines at regular intervals; "" for others.
func everySaid(es []inspect.LogEvent) string {
	every, ok := period(es)
	if !ok {
		return ""
	}
	return ", every " + span(every.Round(time.Second))
}

// begunFor names why the coordinator began a rebalance; "" where its line does not say.
func begunFor(e inspect.LogEvent) string {
	low := strings.ToLower(e.Reason)
	if e.Cause == "" && (strings.Contains(low, "re-joining group") || strings.Contains(low, "updating metadata for") || strings.Contains(low, "joining group during stable")) {
		return "a member that joined again by itself"
	}
	return e.Cause.Info().Name
}

// longWait is from how long on the wait for the answer to a JoinGroup is worth a word.
const longWait = 10 * time.Second

// waitsForJoin says that the log ends while a client waits for the answer to its JoinGroup.
func (s *Subject) waitsForJoin() string {
	for _, l := range s.lanes() {
		var asked, last inspect.LogEvent
		for _, e := range l.events {
			if last = e; e.Sign == inspect.SignRejoining {
				asked = e
			}
		}
		d := last.Time.Sub(asked.Time.Time)
		if asked.Time.IsZero() || d < longWait || slices.ContainsFunc(s.logs, func(e inspect.LogEvent) bool {
			return behind(e, asked) && (joined(e) || e.Kind == inspect.LogLeft || e.Kind == inspect.LogEvicted)
		}) {
			continue
		}
		return fmt.Sprintf("; the log goes on for %s without an answer to its JoinGroup, which comes when all members have rejoined", span(d.Round(time.Second)))
	}
	return ""
}
