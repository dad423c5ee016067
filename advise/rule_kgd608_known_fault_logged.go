package advise

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// loggedFault is a fault of some versions of a library that a log proves.
type loggedFault struct {
	family        inspect.Family
	since, before string // versions that have it; "" of before: all later ones. Both "": whatever the version
	severity      Severity
	// shown are the lines that prove it; nil where the log does not.
	shown func(s *Subject) []inspect.LogEvent
	what  string // a clause
	do    string // a sentence
}

var loggedFaults = []loggedFault{
	{inspect.Librdkafka, "2.12", "2.15", Error, func(s *Subject) []inspect.LogEvent { return s.Logged(errorIs("STALE_MEMBER_EPOCH")) },
		"loses track of its member epoch under group.protocol=consumer: commits are refused with STALE_MEMBER_EPOCH (113)", "Upgrade librdkafka to 2.15.0 or later."},
	{inspect.Librdkafka, "1.3", "1.4", Warning, func(s *Subject) []inspect.LogEvent {
		return s.Logged(func(e inspect.LogEvent) bool { return e.Kind == inspect.LogPollTimeout })
	}, "applies max.poll.interval.ms also to consumers that use assign(), where nothing needs the poll in time", "Upgrade librdkafka to 1.4.0 or later; with subscribe(), fix the time between polls first."},
	{inspect.Librdkafka, "1.4", "1.6", Warning, func(s *Subject) []inspect.LogEvent { return s.many(errorIs("NOT_COORDINATOR")) },
		"can loop on NOT_COORDINATOR after a failover", "Upgrade librdkafka to 1.6.0 or later."},
	{inspect.Librdkafka, "0.11", "1.1", Warning, func(s *Subject) []inspect.LogEvent { return s.many(signIs("subscription_flip")) },
		"asks at its periodic metadata refresh for assigned topics only, so that the subscription seems to lose a topic and the member rejoins each time", "Upgrade librdkafka, or subscribe to one of the topics by a pattern (^name$), so that all metadata is asked for."},
	{inspect.Librdkafka, "1.0", "1.8", Warning, func(s *Subject) []inspect.LogEvent {
		return s.Logged(func(e inspect.LogEvent) bool {
			return e.Sign == inspect.SignSessionLost && e.Error == "REBALANCE_IN_PROGRESS"
		})
	}, "believes its session expired when a rebalance takes longer than the session", "Upgrade librdkafka to 1.8.0 or later."},
	{inspect.KafkaPython, "1.4", "2.0.2", Warning, func(s *Subject) []inspect.LogEvent { return s.Logged(signIs(inspect.SignSessionLost)) },
		"blocks its heartbeat thread (a lock that the fetcher has, or the interpreter): the session expires although the consumer is healthy", "Upgrade kafka-python to 2.0.2 or later (partly fixed), and set session_timeout_ms to 30000 or more."},
	{inspect.Brod, "", "", Warning, (*Subject).takenTurns,
		"two nodes of brod evict each other in turn: each join of one triggers a rebalance in which the other, which waits 5 s for SyncGroup, is lost", "Upgrade brod, or let one node join first and the other when the group is stable."},
	{inspect.RubyKafka, "", "", Warning, func(s *Subject) []inspect.LogEvent { return s.many(evicted) },
		"ruby-kafka is evicted again and again (UNKNOWN_MEMBER_ID): brokers 2.3.0 give its old JoinGroup a rebalance timeout of zero (KAFKA-8653); on other brokers its session expires, since heartbeats are sent between messages", "Upgrade brokers of 2.3.0 to 2.3.1 or later; on others, make the work for a message shorter than session_timeout."},
	{"", "", "", Warning, (*Subject).endedAtOnce,
		"rebalances end within milliseconds of a new member's arrival, before any other member could rejoin, so each newcomer puts the others out: their rebalance timeout is 0, as brokers 2.3.0 take it from old clients' JoinGroup (version 0; KAFKA-8653)", "Upgrade brokers of 2.3.0 to 2.3.1 or later, or the clients to a library that speaks a newer JoinGroup; where the broker is another version, look at the client's rebalance timeout."},
	{inspect.Java, "0.10.1", "2.6.1", Warning, (*Subject).expiredInSync, "sends no heartbeats between JoinGroup and SyncGroup (KAFKA-10134)", "Upgrade the client to 2.7.0 or later."},
}

var _ = register(Rule{
	ID: "KGD608", Name: "known-fault-logged", Severity: Error, Since: "v0.2.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Uses:  []inspect.Fact{inspect.FactClientConfig},
	Doc: Doc{
		Summary: "A log shows what a known fault of the client library's version writes.",
		Why: "Some faults of client libraries write log lines that nothing else writes, or that are conclusive together with the version. librdkafka 2.12 to 2.14 loses its member epoch; kafka-python before 2.0.2 blocks its " +
			"heartbeat thread; brod's nodes can evict each other in turn; brokers 2.3.0 give old JoinGroups no time.",
		Fix:   "Upgrade the library.",
		Price: "an upgrade",
		Refs:  []string{"librdkafka CHANGELOG.md", "kafka-python#2149", "brod#379", "KAFKA-8653"},
	},
	Check: func(s *Subject, report func(Finding)) {
		family, version := s.library()
		for _, b := range loggedFaults {
			if b.family != "" && b.family != family || b.since != "" && (version == "" || !atLeast(version, b.since)) || b.before != "" && atLeast(version, b.before) {
				continue
			}
			es := b.shown(s)
			if len(es) == 0 {
				continue
			}
			what := b.what
			if b.since != "" {
				what = fmt.Sprintf("%s %s %s", family, version, b.what)
			}
			f := s.logged(b.severity, what, es)
			if b.since == "" {
				f.Confidence = inspect.Medium
			}
			f.Fix = &Fix{Summary: b.do}
			report(f)
		}
	},
})

// many are the events for which want holds, where they are more than a moment's.
func (s *Subject) many(want func(inspect.LogEvent) bool) []inspect.LogEvent {
	es := once(s.Logged(want))
	if len(es) <= fewErrors-1 {
		return nil
	}
	return es
}

// takenTurns are the lines of a member that is put out at regular intervals, two
// generations further each time: in between another one joined alone.
func (s *Subject) takenTurns() []inspect.LogEvent {
	es := s.many(errorIs("UNKNOWN_MEMBER_ID"))
	if len(es) == 0 {
		return nil
	}
	jumps := 0
	for i := 1; i < len(es); i++ {
		if es[i].Generation != nil && es[i-1].Generation != nil && *es[i].Generation-*es[i-1].Generation >= 2 {
			jumps++
		}
	}
	if jumps*2 < len(es)-1 {
		return nil
	}
	return es
}

// atOnce is a time in which no member hears of a rebalance and rejoins: that takes its
// next heartbeat.
const atOnce = 20 * time.Millisecond

// endedAtOnce are the lines of newcomers whose rebalance ended at once although the group
// had members, which had not left.
func (s *Subject) endedAtOnce() []inspect.LogEvent {
	var out []inspect.LogEvent
	var from inspect.LogEvent
	full := false // the generation before had a member that did not go
	for _, e := range s.logs {
		switch {
		case e.Broker == nil || e.Time.IsZero():
		case e.Sign == "empty" || e.Kind == inspect.LogLeft || e.Kind == inspect.LogEvicted:
			full, from = false, inspect.LogEvent{}
		case e.Sign == inspect.SignPreparing:
			if from = (inspect.LogEvent{}); e.Cause == inspect.MemberJoined && full {
				from = e
			}
		case e.Sign == inspect.SignStabilized:
			if !from.Time.IsZero() && e.Time.Sub(from.Time.Time) <= atOnce {
				out = append(out, from)
			}
			full = true
		}
	}
	if len(out) < fewErrors {
		return nil
	}
	return out
}
