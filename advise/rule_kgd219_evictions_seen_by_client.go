package advise

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var _ = register(Rule{
	ID: "KGD219", Name: "evictions-seen-by-client", Severity: Warning, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	Uses:      []inspect.Fact{inspect.FactClientConfig},
	SymptomOf: []string{"KGD718", "KGD701", "KGD702", "KGD704", "KGD716", "KGD215", "KGD105", "KGD101", "KGD102", "KGD103", "KGD113", "KGD201", "KGD214", "KGD217", "KGD220", "KGD226", "KGD227", "KGD608"},
	Doc: Doc{
		Summary: "The coordinator no longer knew a member, as the client's log says.",
		Why: "A heartbeat or commit that is answered by UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION, and CommitFailedException, mean that the generation is over for the member: evicted (its session expired, or it did not " +
			"rejoin within the rebalance timeout), or, for a commit, the group rebalanced meanwhile or the consumer never joined. After a poll timeout the log has a line of its own; without one it was the session or the rebalance. The advice in CommitFailedException " +
			"about max.poll.interval.ms is the same whatever the cause was.",
		Fix:   "Look at what the process did in the time before the line: work longer than the rebalance timeout, a blocked heartbeat thread, a pause. The coordinator's log says which timeout it was.",
		Price: "none",
		Refs:  []string{"UNKNOWN_MEMBER_ID (25)", "ILLEGAL_GENERATION (22)", "CommitFailedException"},
	},
	Check: func(s *Subject, report func(Finding)) {
		var out []inspect.LogEvent
		told := "" // of a rebalance, without rejoining
		timeout := s.rebalanceTimeout()
		for _, l := range s.lanes() {
			mine, why := l.evictions(timeout)
			out = append(out, mine...)
			if told == "" {
				told = why
			}
		}
		if len(out) == 0 {
			return
		}
		f := s.logged(Warning, s.evictedWhat(out, told), out)
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
		if slices.ContainsFunc(out, func(e inspect.LogEvent) bool { return raisedAtTop.MatchString(e.Text) }) {
			f.Message += "; the line is an exception as a program prints it: where nothing catches it, the process ends, and its restart is the next rebalance"
			f.Fix.Summary = strings.TrimSpace(f.Fix.Summary + " Catch the exception of a commit, and go on polling.")
		}
		report(f)
	},
})

// raisedAtTop is how Python, .NET and PHP print the exception of a commit, most of all one
// that nothing has caught.
var raisedAtTop = pattern.New(`^(?:cimpl\.KafkaException: |confluent_kafka\.error\.|Unhandled exception\. Confluent\.Kafka|PHP Fatal error: +Uncaught RdKafka|kafka\.errors\.CommitFailedError: |aiokafka\.errors\.CommitFailedError: )`)

// evictions are a client's lines that say it was put out, but for those behind a poll
// timeout; told says so where it had been told of a rebalance and had not rejoined within
// a rebalance timeout, as far as that is known.
func (l lane) evictions(timeout time.Duration) (out []inspect.LogEvent, told string) {
	var last, first inspect.LogEvent // what was last said of the membership; the first line that told of the rebalance
	for i, e := range l.events {
		if evicted(e) && e.Cause != inspect.RejoinTimedOut && !l.rebalancing(i) && last.Kind != inspect.LogPollTimeout && last.Kind != inspect.LogFenced {
			if last.Sign == inspect.SignAlreadyRebalancing && told == "" && e.Time.Sub(first.Time.Time) >= timeout {
				told = fmt.Sprintf("it learned of a rebalance at %s and had not rejoined by %s", clockAt(first), clockAt(e))
			}
			out = append(out, e)
		}
		switch {
		case e.Sign == inspect.SignAlreadyRebalancing:
			if last = e; first.From.Line == 0 {
				first = e
			}
		case e.Kind == inspect.LogJoined || e.Sign == inspect.SignRejoining:
			last, first = e, inspect.LogEvent{}
		case e.Kind == inspect.LogPollTimeout || e.Kind == inspect.LogFenced:
			last = e
		}
	}
	return out, told
}

// rebalancing reports whether a refused commit's own error, a few lines on in the same
// stack trace, is that the group rebalances: what CommitFailedError says is boilerplate.
func (l lane) rebalancing(i int) bool {
	e := l.events[i]
	if e.Error == "REBALANCE_IN_PROGRESS" || e.Kind != inspect.LogCommitFailed && e.Sign != inspect.SignCommitRefused || hasText(e, "[Error 25]") || hasText(e, "[Error 22]") {
		return false
	}
	near := l.events[max(0, i-stackLines):min(len(l.events), i+stackLines+1)] // each event is a line at least
	return slices.ContainsFunc(near, func(o inspect.LogEvent) bool {
		return o.Error == "REBALANCE_IN_PROGRESS" && o.Kind != inspect.LogHeartbeatFailed && o.Sign != "heartbeat" && hasText(o, "RebalanceInProgress") && !hasText(o, "eartbeat") &&
			o.From.File == e.From.File && o.Time.Equal(e.Time.Time) && o.From.Line-e.From.Line <= stackLines && e.From.Line-o.From.Line <= stackLines
	})
}

// stackLines is how far apart the errors of one stack trace may stand.
const stackLines = 40

// shortestBatch is how long a member must at least have stayed away from a rebalance
// before a batch is blamed, where no rebalance timeout is known. It is kgdiag's own
// policy: no library has a default below it.
const shortestBatch = 30 * time.Second

// rebalanceTimeout is the time within which a member must rejoin, as far as it is known.
func (s *Subject) rebalanceTimeout() time.Duration {
	if v, ok := s.limitOf(keyRebalance); ok && v.Timed {
		return v.D
	}
	return shortestBatch
}

// evictedWhat says that a member was evicted, where the lines prove it, else what a
// refused commit may come from.
func (s *Subject) evictedWhat(es []inspect.LogEvent, told string) string {
	switch errors := distinct(es, func(e inspect.LogEvent) string { return e.Error }); {
	case told == "" && s.onlyCommits(es), len(errors) == 1 && errors[0] == "ILLEGAL_GENERATION":
		return s.refusedWhat(es) // the coordinator looks for the member first: it still had it
	case len(errors) == 1 && errors[0] == "FENCED_MEMBER_EPOCH":
		return "the coordinator refused a member's epoch (FENCED_MEMBER_EPOCH): it gave its partitions up and joins anew; it had been evicted, or the coordinator had it at another epoch"
	case len(errors) == 0 && told == "":
		return s.lostWhat(es)
	}
	return "a member was evicted: " + s.evictedHow(es, told)
}

// lostWhat is what partitions that were given up as lost prove: the membership is over, not
// who ended it.
func (s *Subject) lostWhat(es []inspect.LogEvent) string {
	what := "a consumer was no longer a member, and gave its partitions up as lost"
	polls := s.inTime()
	switch {
	case slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return hasText(e, "missed a rebalance") }):
		if fenced := s.Logged(errorIs("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")); len(fenced) > 0 {
			return "a Streams thread gave its tasks up because its producer was fenced (" + fenced[0].Error + "): the tasks had moved to another thread in a rebalance, since this one was not polled within max.poll.interval.ms" + s.its(keyPoll) +
				" or its session" + s.said(keySession) + " expired, or a transaction took longer than transaction.timeout.ms"
		}
		return what + "; its thread missed a rebalance: it was not polled within max.poll.interval.ms" + s.its(keyPoll) + " (a slow batch, a restore, an exception that ended the thread), its session" + s.said(keySession) +
			" expired, or with exactly-once a transaction took longer than transaction.timeout.ms"
	case beatsInPoll(s.library()):
		_, version := s.library()
		return what + "; this version (" + version + ") sends heartbeats only in poll(), so that session.timeout.ms" + s.its(keySession) + " bounds the time between two polls"
	}
	return what + ": its session" + s.said(keySession) + " expired, " + polls + ", or it did not rejoin in time; the lines do not say which"
}

// inTime is the way in which a member of this library goes when it works for too long.
func (s *Subject) inTime() string {
	if family, _ := s.library(); !s.polled(family) {
		return "its work took longer than the rebalance timeout" + s.said(keyRebalance)
	}
	return "it was not polled within max.poll.interval.ms" + s.its(keyPoll) + " and left by itself"
}

// provesSession reports whether a line is of a client whose session bounds its polls.
func provesSession(e inspect.LogEvent) bool {
	return hasText(e, "longer than the configured session.timeout.ms")
}

// refusedWhat says what a refused commit may come from: the refusal alone does not name
// it.
func (s *Subject) refusedWhat(es []inspect.LogEvent) string {
	family, version := s.library()
	what := "a commit was refused"
	if !slices.ContainsFunc(es, func(e inspect.LogEvent) bool {
		return e.Kind == inspect.LogCommitFailed || e.Sign == inspect.SignCommitRefused
	}) {
		what = "a request of a member (a commit, a heartbeat) was refused"
	}
	what += inParens(distinct(es, func(e inspect.LogEvent) string { return e.Error }))
	if fixed := commitFault(family, version); fixed != "" {
		return fmt.Sprintf("%s: %s %s has a known fault that shows so (upgrade to %s or later); else the member is out of the group, or the group rebalanced meanwhile", what, family, version, fixed)
	}
	if slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return givingUp.MatchString(e.Text) }) {
		return what + ": it was for partitions that were being taken away (revoked, unassigned) in a rebalance, and carried the former generation; that is no sign of an eviction, and their next owner reads these records again"
	}
	if slices.ContainsFunc(es, provesSession) {
		return what + ": most likely the work between two polls took longer than session.timeout.ms" + s.its(keySession) + ", which bounds it in this client (" + s.oldClient() + "), or the group rebalanced meanwhile (a member joined or left, a deploy); the text of the error is the same for both"
	}
	if len(distinct(es, func(e inspect.LogEvent) string { return e.Error })) == 1 && es[0].Error == "ILLEGAL_GENERATION" {
		return what + ": it carried a former generation, since the group has rebalanced meanwhile: offsets from before a rebalance were committed after it (after a revoke, an unassign, a late batch), or this member did not rejoin in time (its session" + s.said(keySession) + s.orPoll() + ")" + s.neverMember() + "; it need not have been evicted"
	}
	why := "its session expired" + s.said(keySession)
	switch {
	case beatsInPoll(family, version):
		why += "; this version (" + version + ") sends heartbeats only in poll(), so its session bounds the work between two polls"
	case s.polled(family):
		why += ", or it was not polled within max.poll.interval.ms" + s.its(keyPoll)
	default:
		why += ", or it did not rejoin within the rebalance timeout" + s.said(keyRebalance)
	}
	what += ": the member is out of the group, evicted or left (" + why + "), or the group rebalanced meanwhile (a member joined or left, a deploy)"
	return what + s.neverMember() + "; the log does not show which"
}

// neverMember is the reading that the consumer is none of a group's members, where no
// line and no framework that subscribes rules it out.
func (s *Subject) neverMember() string {
	if s.everMember() {
		return ""
	}
	return ", or this consumer never joined (assign(), or a commit without subscribe()) and others use the same group.id"
}

// orPoll is the other limit of a member beside its session, where its library watches one.
func (s *Subject) orPoll() string {
	if family, _ := s.library(); !s.polled(family) {
		return " or its rebalance timeout" + s.said(keyRebalance)
	}
	return " or max.poll.interval.ms" + s.its(keyPoll)
}

// givingUp are the words of librdkafka for a commit within a rebalance.
var givingUp = pattern.New(`\(unassigned partitions\)|join-state wait-(?:incr-)?unassign`)

// subscribing are the names by which frameworks show that they subscribe.
var subscribing = pattern.New(`WorkerSinkTask|KafkaMessageListenerContainer|KafkaListenerEndpointContainer|ConsumeKafka|StreamThread|logstash`)

// oldClient names the clients whose session bounds the time between two polls.
func (s *Subject) oldClient() string {
	if family, _ := s.library(); family == inspect.KafkaPython {
		return "kafka-python before 1.4"
	}
	return "Java before 0.10.1"
}

// commitFault is the version that mends refused commits of a library's version; "" where
// none is known. Faults: aiokafka's changelog of 0.7.1, librdkafka's of 1.0.1.
func commitFault(family inspect.Family, version string) string {
	switch {
	case version == "":
	case family == inspect.AIOKafka && !atLeast(version, "0.7.1"):
		return "0.7.1"
	case family == inspect.Librdkafka && atLeast(version, "1.0.0") && !atLeast(version, "1.0.1"):
		return "1.0.1"
	}
	return ""
}

// beatsInPoll reports whether a version sends heartbeats only while it polls (KIP-62).
func beatsInPoll(family inspect.Family, version string) bool {
	return version != "" && family == inspect.Java && !atLeast(version, "0.10.1")
}

// everMember reports whether a line says that a client of the group joined, or was to.
func (s *Subject) everMember() bool {
	return slices.ContainsFunc(s.logs, func(e inspect.LogEvent) bool {
		return e.Broker == nil && (e.Kind == inspect.LogJoined && e.Sign != inspect.SignAssignedByHand || e.Kind == inspect.LogRejoinRequested || e.Kind == inspect.LogHeartbeatFailed ||
			e.Kind == inspect.LogRebalance || e.Sign == inspect.SignRejoining || e.Sign == inspect.SignSubscribed || e.Sign == inspect.SignCommitRefused && subscribing.MatchString(e.Text))
	})
}

// inParens is " (A, B)", "" for nothing.
func inParens(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + list(names) + ")"
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
	what += inParens(distinct(es, func(e inspect.LogEvent) string { return e.Error }))
	family, version := s.library()
	switch {
	case slices.ContainsFunc(es, provesSession):
		return what + "; in this client (" + s.oldClient() + ") session.timeout.ms" + s.its(keySession) + " bounds the time between two polls"
	case beatsInPoll(family, version):
		return what + "; this version (" + version + ") sends heartbeats only in poll(), so that session.timeout.ms" + s.its(keySession) + " bounds the time between two polls"
	case family != "" && !beatsAlone(family, version):
		return what + "; " + s.workBounded(told)
	case told != "":
		return what + "; " + told + ": its batch took longer than the rebalance timeout" + s.said(keyRebalance)
	}
	return what + "; its session" + s.said(keySession) + " or the rebalance timeout ran out"
}

// workBounded says what bounds the work of a client that sends heartbeats only between
// messages.
func (s *Subject) workBounded(told string) string {
	if told != "" {
		told += "; "
	}
	return told + "this client sends heartbeats only between messages, so the work for a message or batch, its retries included, may not take longer than its session (sessionTimeout, session.timeout.ms" + s.its(keySession) + ") or, while the group rebalances, the rebalance timeout"
}

// polled reports whether a library watches the time between polls.
func (s *Subject) polled(family inspect.Family) bool {
	if c := s.consumer(); c != nil {
		return c.Polls()
	}
	return family == "" || family.PollInterval()
}

// onlyCommits reports whether no sentence of a library says that the member was put out:
// a refused commit, or the error alone in an application's words, may follow a poll
// timeout of a library that logs none (Java before 2.1), or a rebalance.
func (s *Subject) onlyCommits(es []inspect.LogEvent) bool {
	return !slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return e.Kind == inspect.LogEvicted && e.Sign != "" })
}

// evictedFix is what to do about it.
func (s *Subject) evictedFix(es []inspect.LogEvent, told string) *Fix {
	family, version := s.library()
	switch {
	case commitFault(family, version) != "":
		return &Fix{Summary: "Upgrade to " + string(family) + " " + commitFault(family, version) + " or later."}
	case beatsInPoll(family, version):
		return &Fix{Summary: "Upgrade the client to 0.10.1 or later, which sends heartbeats from a thread of its own, or make the work between two polls shorter than session.timeout.ms."}
	case slices.ContainsFunc(es, provesSession):
		return &Fix{Summary: "Raise session.timeout.ms above the longest work between two polls, within the broker's group.max.session.timeout.ms, or do less between two polls (fewer records per poll). Newer clients send heartbeats from a thread of their own."}
	case slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return givingUp.MatchString(e.Text) }):
		return &Fix{Summary: "Commit in the rebalance callback before the partitions are given up; drop what comes after it, since their next owner reads it again."}
	case family == inspect.Sarama:
		return &Fix{Summary: "Return from ConsumeClaim as soon as session.Context() is done, and make the work for a message shorter than Consumer.Group.Rebalance.Timeout; commit nothing after it."}
	case family == inspect.KafkaJS && !slices.ContainsFunc(es, errorIs("ILLEGAL_GENERATION")):
		return &Fix{Summary: "Call heartbeat() within eachMessage or eachBatch (processing of a long message, retries), make batches shorter, or raise sessionTimeout above the longest work."}
	case family == inspect.RubyKafka:
		return &Fix{Summary: "Make a batch shorter than session_timeout, or call trigger_heartbeat within it: while a batch is worked on this client sends no heartbeat."}
	case told != "" && !s.polled(family):
		return &Fix{Summary: "Make batches shorter than the rebalance timeout, or send a heartbeat within them, and rejoin when one says that the group is rebalancing."}
	case told != "":
		return &Fix{Summary: "Make batches shorter than the rebalance timeout (max.poll.interval.ms), so that the poll comes in time to rejoin."}
	case family == inspect.KafkaJS && version != "" && atLeast(version, "2.0.1") && !atLeast(version, "2.2.4") && slices.ContainsFunc(es, errorIs("ILLEGAL_GENERATION")):
		return &Fix{Summary: "Upgrade to kafkajs 2.2.4 or later, which joins again after ILLEGAL_GENERATION instead of crashing; until then restart on the crash event."}
	case s.onlyCommits(es) && !s.everMember() && !slices.ContainsFunc(es, signIs(inspect.SignCommitRefused)):
		return &Fix{Summary: "Look in the coordinator's log whether it evicted a member; join again after this error. Give a consumer that assigns its own partitions a group.id of its own."}
	case s.polled(family) && s.onlyCommits(es):
		return &Fix{Summary: "Make the work between two polls, retries and back-off included, shorter than max.poll.interval.ms: return fewer records per poll (max.poll.records), or raise the interval above it; retry outside of the poll loop."}
	}
	return &Fix{}
}

// silence is from how long on a gap in a client's own lines is worth a word.
const silence = 20 * time.Second

// silenceBefore says for how long at most the client's log had no line of its group code
// before an eviction, since the last join that it shows, where that is long: the gap need
// not be the last one.
func (s *Subject) silenceBefore(e inspect.LogEvent) string {
	if e.Quiet == nil || e.Quiet.Duration() < silence {
		return ""
	}
	return "the longest gap between two lines of its group code before that was " + span(e.Quiet.Duration().Round(time.Second))
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
