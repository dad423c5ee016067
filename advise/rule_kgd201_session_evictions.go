package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

var _ = register(Rule{
	ID: "KGD201", Name: "session-evictions", Severity: Warning, Since: "v0.1.0", Scope: PerClient,
	Needs:     []inspect.Fact{inspect.FactTimeouts, inspect.FactHistory},
	Uses:      []inspect.Fact{inspect.FactMembers, inspect.FactBrokerConfig, inspect.FactClientConfig},
	SymptomOf: []string{"KGD101", "KGD102", "KGD103", "KGD108", "KGD210"},
	Explains:  map[inspect.Cause]int{inspect.SessionExpired: 2},
	Doc: Doc{
		Summary: "Members were evicted because they sent no heartbeat for session.timeout.ms, and came back.",
		Why: "The coordinator evicts a member after session.timeout.ms without a heartbeat: a pause of the process (garbage collection, CPU " +
			"throttling, SIGSTOP), a cut network and a crash under a supervisor look alike. Each costs two rebalances.",
		Fix:   "Raise session.timeout.ms above the longest pause if the process kept running, or find out why it ended.",
		Price: "a dead member is noticed later; until then its partitions are not consumed",
		Refs:  []string{"KIP-735", "GroupCoordinator.onExpireHeartbeat"},
	},
	Check: func(s *Subject, report func(Finding)) {
		session, ok := s.Sane(keySession)
		if !ok {
			return
		}
		out := left(s.Timeline, func(d departure) bool {
			return d.Cause == inspect.SessionExpired && d.back() && d.BackAfter != nil && s.hasClient(d.ClientID, d.MemberID) &&
				inspect.WithMargin(d.BackAfter.Duration()) > session.D
		})
		if len(out) == 0 {
			return
		}
		longest := out[0]
		for _, d := range out {
			if d.BackAfter.Duration() > longest.BackAfter.Duration() {
				longest = d
			}
		}
		var same []departure
		for _, d := range out {
			if d.lane() == longest.lane() {
				same = append(same, d)
			}
		}
		expired := func(d departure) bool { return d.Cause == inspect.SessionExpired && d.lane() == longest.lane() }
		evicted := left(s.Timeline, expired)
		f := s.Finding(Warning, fmt.Sprintf("%s was evicted %s: no heartbeat for %s (%s); it came back %s",
			longest.lane(), times(evicted), session.Spelled, span(session.D), returns(evicted, longest.BackAfter.Duration())), session)
		f.Confidence = leastSure(same)
		if s.Config == nil {
			f.Subject = "client " + longest.ClientID
		}
		if n := len(out) - len(same); n > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s of other members with these settings", count(n, "such eviction")))
		}
		if n := len(goings(s.Timeline, expired)) - len(evicted); n > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s of it, of which that is only possible", count(n, "more departure")))
		}
		f.Evidence = append(f.Evidence, returnEvidence(longest))
		if open := openRivals(longest); open != "" {
			f.Evidence = append(f.Evidence, open)
		}
		f.Fix = s.sessionFix(session, longest)
		others := goings(s.Timeline, func(d departure) bool { return d.Cause.Eviction() && d.lane() != longest.lane() })
		if len(f.Fix.Set) > 0 && f.Fix.If == "" && longest.in.Members.Before > 1 && len(others) == 0 {
			f.Fix.If = ifItsSound
		}
		f.measured, f.silence = true, longest.BackAfter.Duration()
		report(f)
	},
})

// returns says how often a member came back of its evictions, and how long after its last
// commit at most.
func returns(evicted []departure, longest time.Duration) string {
	after := span(prose.ToCover(longest)) + " after its last commit"
	back := 0
	for _, d := range evicted {
		if d.back() {
			back++
		}
	}
	switch {
	case len(evicted) == 1:
		return after
	case back == len(evicted):
		return "each time, at most " + after
	}
	return fmt.Sprintf("%s, at most %s", count(back, "time"), after)
}

func returnEvidence(d departure) string {
	switch d.Returned {
	case inspect.ReturnedSameProcess:
		return "the same process came back: it was paused or cut off, it did not end"
	case inspect.ReturnedNewProcess:
		return "a new process came back: the old one ended"
	}
	return "whether the process was paused or ended is not in what was read; its own log or a GC log shows it (--log, --gc-log)"
}

// openRivals names the causes that a departure's evidence leaves open; "" for none.
func openRivals(d departure) string {
	open := inspect.CauseNames(inspect.OpenCauses(d.Rivals))
	if open == "" {
		return ""
	}
	return "could also be: " + open
}

// sessionFix gives the session that would have outlasted the silence, where it fits
// the broker's bounds and the poll interval; a process that ended is no matter of
// the session.
func (s *Subject) sessionFix(session Value, d departure) *Fix {
	x := &Fix{}
	to := inspect.RoundUp(inspect.WithMargin(d.BackAfter.Duration()))
	poll, hasPoll := s.Sane(keyPoll)
	switch {
	case d.Returned == inspect.ReturnedNewProcess:
		x.Summary = "Find out why the process ended; for planned restarts give the members a group.instance.id."
		x.Price = "none"
	case s.ServerSide():
		x.Summary = fmt.Sprintf("Set consumer.session.timeout.ms=%s for the group (kafka-configs --entity-type groups), within the broker's bounds.", ms(to))
	case to > s.sessionCeiling(), hasPoll && to > poll.D:
		x.Summary = "Shorten the pauses: no session timeout within the broker's bounds and the poll interval is long enough."
		x.Price = "none"
	default:
		x.Set = map[string]string{keySession: ms(to)}
		note := marginNote(d.BackAfter.Duration(), to)
		if def := s.DefaultOf(keySession); def > to && session.D < def && def <= s.sessionCeiling() && (!hasPoll || def <= poll.D) {
			note += fmt.Sprintf("; the client's default, %s, would notice a dead member later", ms(def))
		}
		if d.Returned != inspect.ReturnedSameProcess {
			x.If, x.Else = "if the process only paused", "if it crashed: nothing to set, see kubectl logs --previous"
		}
		x.Notes = notesFor(keySession, note)
		x.Price = fmt.Sprintf("a dead member is noticed after %s instead of %s", span(to), span(session.D))
	}
	return x
}
