package advise

import (
	"fmt"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

var _ = register(Rule{
	ID: "KGD219", Name: "evictions-seen-by-client", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	Uses:      []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD105", "KGD101", "KGD102", "KGD103", "KGD113", "KGD201", "KGD214", "KGD215", "KGD217", "KGD220", "KGD226", "KGD227", "KGD608"},
	Doc: Doc{
		Summary: "The coordinator no longer knew a member, as the client's log says.",
		Why: "A heartbeat or commit that is answered by UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION, and CommitFailedException, mean that the member was evicted: its session expired, or it did not " +
			"rejoin within the rebalance timeout. After a poll timeout the log has a line of its own; without one it was the session or the rebalance. The advice in CommitFailedException " +
			"about max.poll.interval.ms is the same whatever the cause was.",
		Fix:   "Look at what the process did in the time before the line: work longer than the rebalance timeout, a blocked heartbeat thread, a pause. The coordinator's log says which timeout it was.",
		Price: "none",
		Refs:  []string{"UNKNOWN_MEMBER_ID (25)", "ILLEGAL_GENERATION (22)", "CommitFailedException"},
	},
	Check: func(s *Subject, report func(Finding)) {
		var out []inspect.LogEvent
		told := "" // of a rebalance, without rejoining
		for _, l := range s.lanes() {
			mine, why := l.evictions()
			out = append(out, mine...)
			if told == "" {
				told = why
			}
		}
		if len(out) == 0 {
			return
		}
		f := s.logged(Warning, "a member was evicted: "+s.evictedHow(out, told), out)
		f.Confidence = inspect.Medium
		if gap := s.silenceBefore(out[0]); gap != "" {
			f.Message += "; " + gap
		}
		if slow := s.slowAnswer(out[0]); slow != "" {
			f.Message += "; " + slow
		}
		if told == "" {
			f.Evidence = append(f.Evidence, "no line about a poll timeout precedes it")
		}
		f.Fix = s.evictedFix(out, told)
		report(f)
	},
})

// evictions are a client's lines that say it was put out, but for those behind a poll
// timeout; told says so where it had been told of a rebalance and had not rejoined.
func (l lane) evictions() (out []inspect.LogEvent, told string) {
	for i, e := range l.events {
		if !evicted(e) || e.Cause == inspect.RejoinTimedOut {
			continue
		}
		last, ok := l.before(i, func(e inspect.LogEvent) bool {
			return e.Kind == inspect.LogPollTimeout || e.Kind == inspect.LogJoined || e.Kind == inspect.LogFenced || e.Sign == inspect.SignAlreadyRebalancing || e.Sign == inspect.SignRejoining
		})
		if ok && (last.Kind == inspect.LogPollTimeout || last.Kind == inspect.LogFenced) {
			continue
		}
		if ok && last.Sign == inspect.SignAlreadyRebalancing && told == "" {
			first := l.firstTold(i)
			told = fmt.Sprintf("it learned of a rebalance at %s and had not rejoined by %s", clockAt(first), clockAt(e))
		}
		out = append(out, e)
	}
	return out, told
}

// firstTold is the first line of the run that told the client of a rebalance, ahead
// of event i.
func (l lane) firstTold(i int) inspect.LogEvent {
	first := l.events[i]
	for k := i - 1; k >= 0; k-- {
		switch e := l.events[k]; {
		case e.Sign == inspect.SignAlreadyRebalancing:
			first = e
		case e.Kind == inspect.LogJoined || e.Sign == inspect.SignRejoining:
			return first
		}
	}
	return first
}

// evictedHow says what the lines say, and which timeouts may stand behind it.
func (s *Subject) evictedHow(es []inspect.LogEvent, told string) string {
	what := "the coordinator no longer knew it"
	if slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return e.Kind == inspect.LogCommitFailed }) {
		what = "its commit was refused because it was no longer a member"
		if slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return e.Kind == inspect.LogEvicted }) {
			what = "the coordinator no longer knew it, and refused its commits"
		}
	}
	if codes := distinct(es, func(e inspect.LogEvent) string { return e.Error }); len(codes) > 0 {
		what += " (" + list(codes) + ")"
	}
	family, _ := s.library()
	switch {
	case slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return hasText(e, "longer than the configured session.timeout.ms") }):
		return what + "; in this client (Java before 0.10.1) session.timeout.ms" + s.said(keySession) + " bounds the time between two polls"
	case told != "":
		return what + "; " + told + ": its batch took longer than the rebalance timeout" + s.said(keyRebalance)
	case s.polled(family) && s.onlyCommits(es):
		return what + ", which follows from work longer than max.poll.interval.ms" + s.said(keyPoll) + ", or from an expired session" + s.said(keySession)
	}
	return what + "; its session" + s.said(keySession) + " or the rebalance timeout ran out"
}

// polled reports whether a library watches the time between polls.
func (s *Subject) polled(family inspect.Family) bool {
	if c := s.consumer(); c != nil {
		return c.Polls()
	}
	return family == "" || family.PollInterval()
}

// onlyCommits: with a log that has no heartbeats, a refused commit may follow a poll
// timeout of a library that logs none (Java before 2.1).
func (s *Subject) onlyCommits(es []inspect.LogEvent) bool {
	return !slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return e.Kind == inspect.LogEvicted })
}

// evictedFix is what to do about it.
func (s *Subject) evictedFix(es []inspect.LogEvent, told string) *Fix {
	family, _ := s.library()
	switch {
	case told != "" && !s.polled(family):
		return &Fix{Summary: "Make batches shorter than the rebalance timeout, or send a heartbeat within them, and rejoin when one says that the group is rebalancing."}
	case told != "":
		return &Fix{Summary: "Make batches shorter than the rebalance timeout (max.poll.interval.ms), so that the poll comes in time to rejoin."}
	case s.polled(family) && s.onlyCommits(es):
		return &Fix{Summary: "Make the work between two polls, retries and back-off included, shorter than max.poll.interval.ms: return fewer records per poll (max.poll.records), or raise the interval above it; retry outside of the poll loop."}
	}
	return &Fix{}
}

// silence is from how long on a gap in a client's own lines is worth a word.
const silence = 20 * time.Second

// silenceBefore says how long the client's log has no line of its group code before
// an eviction, where that is long.
func (s *Subject) silenceBefore(e inspect.LogEvent) string {
	if e.Quiet == nil || e.Quiet.Duration() < silence {
		return ""
	}
	return "its group code logged nothing in the " + span(e.Quiet.Duration().Round(time.Second)) + " before"
}

// slowAnswer names the coordinator where one of its answers was given up in the two
// minutes before an eviction.
func (s *Subject) slowAnswer(e inspect.LogEvent) string {
	for _, t := range s.Logged(signIs(inspect.SignRequestTimeout)) {
		d := e.Time.Sub(t.Time.Time)
		if t.Time.IsZero() || e.Time.IsZero() || d < 0 || d > 2*time.Minute || t.Length == nil {
			continue
		}
		who := "the coordinator"
		if t.Node != nil {
			who = fmt.Sprintf("broker %d, the coordinator,", *t.Node)
		}
		return fmt.Sprintf("%s had not answered a request for %s before", who, span(t.Length.Duration().Round(time.Second)))
	}
	return ""
}
