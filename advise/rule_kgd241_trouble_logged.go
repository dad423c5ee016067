package advise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/errcode"
)

var _ = register(Rule{
	ID: "KGD241", Name: "trouble-logged", Severity: Warning, Since: "v0.3.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD121", "KGD122", "KGD213", "KGD214", "KGD215", "KGD216", "KGD217", "KGD219", "KGD220", "KGD221", "KGD222", "KGD223", "KGD226", "KGD227", "KGD228", "KGD229", "KGD231", "KGD232", "KGD233",
		"KGD235", "KGD237", "KGD238", "KGD239", "KGD308", "KGD311", "KGD312", "KGD314", "KGD315", "KGD316", "KGD317", "KGD318", "KGD321", "KGD418", "KGD419", "KGD420", "KGD421", "KGD426", "KGD427", "KGD428", "KGD608"},
	Doc: Doc{
		Summary: "A request of a group failed, or a part of it did something unusual, as a log says.",
		Why: "Clients tell in a line of its own what went wrong with a join, a heartbeat, a commit or the search for the coordinator, and try again. Once it is the moment of a failover or a rebalance; what it means is " +
			"in the finding, and nothing more than the line proves.",
		Fix:   "Look at the error that the line names, and whether it comes again.",
		Price: "none",
		Refs:  []string{"log statements of the client libraries"},
	},
	Check: func(s *Subject, report func(Finding)) {
		told := s.tellTroubles(troubles, report)
		s.otherErrors(told, report)
	},
})

// tellTroubles tells of the lines that a table speaks of, each kind once, and returns where
// those lines are.
func (s *Subject) tellTroubles(table []trouble, report func(Finding)) map[inspect.Position]bool {
	told := map[inspect.Position]bool{}
	for _, t := range table {
		es := once(s.Logged(func(e inspect.LogEvent) bool {
			return t.of(e) && !told[e.From] && (e.Error != "REBALANCE_IN_PROGRESS" || e.Sign == "append_slow")
		}))
		if len(es) == 0 {
			continue
		}
		for _, e := range es {
			told[e.From] = true
		}
		sev := t.severity
		if sev == Info && t.persists && often(es) > fewErrors && (s.neverJoined(es) || tellsAgain[es[0].Sign]) {
			sev = Warning
		}
		if es[0].Kind == inspect.LogCommitFailed && len(es) >= fewErrors && all(es, errorIs("REQUEST_TIMED_OUT")) {
			sev, t.what, t.do = Warning, commitsNotStored, "Look at the coordinator's broker and the replicas of __consumer_offsets (kgdiag check); the records are read again if the partition moves before a commit succeeds."
		}
		f := s.logged(sev, t.what+firstReason(es), es)
		f.Confidence = inspect.Medium
		f.Fix = &Fix{Summary: t.do}
		report(f)
	}
	return told
}

// commitsNotStored is what commits mean that the coordinator answers by REQUEST_TIMED_OUT.
const commitsNotStored = "the coordinator did not store commits in time (offsets.commit.timeout.ms of the broker, 5 s by default): a replica of its partition of __consumer_offsets is slow or out of sync, or the broker is overloaded"

// all reports whether a condition holds for each of some lines.
func all(es []inspect.LogEvent, holds func(inspect.LogEvent) bool) bool {
	return !slices.ContainsFunc(es, func(e inspect.LogEvent) bool { return !holds(e) })
}

// otherErrors tells the errors of Kafka that no rule speaks of, each in the words of the
// protocol.
func (s *Subject) otherErrors(told map[inspect.Position]bool, report func(Finding)) {
	es := s.Logged(func(e inspect.LogEvent) bool { return e.Kind == inspect.LogError && e.Sign == "" && !told[e.From] })
	for _, name := range distinct(es, func(e inspect.LogEvent) string { return cmp.Or(e.Error, "?") }) {
		c, known := errcode.Lookup(name)
		if known && c.Meaning != "" && (!saidElsewhere[name] || name != "REQUEST_TIMED_OUT") {
			continue // KGD317 says it, or a rule of its own
		}
		what := "the client or its framework logged an error"
		if known {
			what = fmt.Sprintf("%s (%d): %s", c.Name, c.Number, cmp.Or(c.Meaning, c.Message))
		}
		f := s.logged(Info, strings.TrimRight(what, "."), once(slices.DeleteFunc(slices.Clone(es), func(e inspect.LogEvent) bool { return cmp.Or(e.Error, "?") != name })))
		f.Confidence, f.Fix = inspect.Medium, &Fix{Summary: c.Do}
		report(f)
	}
}

// tellsAgain are the signs that weigh more when they come again, though members joined
// between.
var tellsAgain = map[inspect.Sign]bool{"nobody_to_ask": true, inspect.SignClaimEnded: true, inspect.SignRebalancingSeen: true}

// loopBlocked is from when on a blocked event loop delays heartbeats: their usual interval.
const loopBlocked = 3 * time.Second

// trouble is what a kind of line means.
type trouble struct {
	of       func(inspect.LogEvent) bool
	severity Severity
	persists bool // a warning where it comes again and again
	what, do string
}

// firstReason is " (why)": the error, or the reason, that the first of some lines gives.
func firstReason(es []inspect.LogEvent) string {
	for _, e := range es {
		switch {
		case e.Sign == "no_poll_limit" && e.Limit != nil:
			return fmt.Sprintf(" (%s: %s)", keySession, span(e.Limit.Duration()))
		case e.Error != "" && e.Reason != "" && e.Reason != e.Error && len(e.Reason) < 120:
			return fmt.Sprintf(" (%s: %s)", e.Error, e.Reason)
		case e.Error != "":
			return " (" + e.Error + ")"
		case e.Reason != "" && len(e.Reason) < 160:
			return " (" + e.Reason + ")"
		}
	}
	return ""
}

// troubles are the kinds of lines, by their signs, that no rule of their own speaks of, or
// only where they come together with others.
var troubles = []trouble{
	{signIs("heartbeat_thread"), Warning, false, "the thread that sends heartbeats ended with an error: the session expires without it, though the consumer may poll",
		"Look at the error behind the line, and start the client again; where the library itself failed, upgrade it."},
	{signIs("coordination_ended"), Warning, false, "the task that joins the group and keeps the member in it ended with an error: this consumer does not rejoin, though the process runs",
		"Look at the traceback behind the line; end the process when the consumer raises, or make a new consumer. Where the library itself failed, upgrade it."},
	{func(e inspect.LogEvent) bool {
		return e.Sign == "loop_blocked" && inspect.Or(e.Length, 0) >= loopBlocked
	}, Warning, false,
		"the event loop was held up: while one call blocks it, no heartbeat is sent and nothing is polled, and past the session timeout the member is evicted",
		"Find the call that blocks: sleep, a synchronous request or driver, computing. Await it, or run it in a thread (asyncio.to_thread) or a process."},
	{signIs("generation_lost"), Warning, false, "the member took part in a rebalance with generation -1: a commit that was refused meanwhile had reset its membership, so that it is none, and the group rebalances again and again",
		"Upgrade aiokafka to 0.7.1 or later (faust: what it brings), which keeps the generation of a rejoin."},
	{signIs("revoke_waits"), Warning, false, "the rebalance waits for this worker: faust gives partitions up only when its agents are done with the events they have begun, and one is not; past the rebalance timeout the group goes on without the worker",
		"Find what that agent waits for (the line names topic and offset): I/O, a lock, a loop without end. Or set stream_wait_empty=False: the partitions are given up at once, and those events are read again."},
	{signIs("stream_stalled"), Warning, false, "faust's stream does not get on: an agent hangs in an event (waiting for I/O, a lock, a loop without end), or its commits make no progress",
		"Find what the agent waits for in the event that the line names, and put a timeout on it; lower concurrency and broker_max_poll_records where it is slow only."},
	{signIs("fetch_stalled"), Warning, false, "faust has seen no fetch for a partition for a while: its consumer does not poll it, as after a rebalance that was not finished, or it is no longer a member",
		"Look at the lines before it for a rebalance that did not end, or an event loop that was blocked; restart the worker, and upgrade faust and aiokafka."},
	{signIs("assignor_broken"), Warning, false, "the group's leader could not assign its partitions, or gave one to two members: its assignor failed",
		"Look at the assignor that the line names, a custom one above all."},
	{func(e inspect.LogEvent) bool {
		return e.Sign == "eager_assign" && !hasText(e, "application *assign() call failed")
	}, Warning, false, "the application changes its assignment by a call that does not fit the group's rebalance protocol",
		"Call incremental_assign() and incremental_unassign() under a cooperative assignor, assign() and unassign() under others, or register no rebalance callback."},
	{signIs("assignor_mixed"), Warning, false, "the group went back from cooperative to eager rebalances, which no client supports: one of its members has eager assignors alone",
		"Give all members the same list of assignors; to change the kind, stop all of them first, or roll twice (KIP-429)."},
	{signIs("slow_revoke"), Warning, false, "the callback for revoked partitions was still running while heartbeats failed: the group waits for it, at most for its rebalance timeout, and then goes on without this member",
		"Do less in OnPartitionsRevoked, or raise the rebalance timeout above it."},
	{signIs("migration_refused"), Warning, false, "a group could not change between the classic and the consumer protocol",
		"Look at the reason in the line: group.consumer.migration.policy of the brokers, or members that do not use the consumer's embedded protocol."},
	{signIs("append_slow"), Warning, false, "the coordinator refused a JoinGroup, which may be a slow write to __consumer_offsets (its replicas), as the line itself says, or the next rebalance",
		"Where it goes on, look at the replicas of __consumer_offsets (kgdiag check); once it is a rebalance that came between."},
	{signIs("reloaded"), Warning, false, "a coordinator loads its partition of __consumer_offsets anew, since its state did not fit the log",
		"Look at the lines before it; where it comes again, upgrade the broker."},
	{signIs("no_poll_limit"), Warning, false, "the broker is older than Kafka 0.10.1, or acts as one, and knows no rebalance timeout: max.poll.interval.ms has no effect, and session.timeout.ms bounds the time between two polls",
		"Upgrade the broker, or make the work between two polls shorter than session.timeout.ms."},
	{signIs("no_static"), Warning, false, "the broker has no static membership (it came with Kafka 2.3): group.instance.id has no effect, and each restart rebalances the group",
		"Upgrade the broker, or leave group.instance.id out."},
	{signIs("no_rejoin"), Warning, false, "a rebalance ended without members: none of them rejoined in time",
		"Look at the clients: they are busy for longer than the rebalance timeout, or gone."},
	{signIs("coordinator_away"), Warning, false, "the coordinator was not reached for so long that the member gave its work up",
		"Look at the coordinator's broker and the network to it; kgdiag check tries both."},
	{signIs("all_down"), Info, true, "no broker was connected at that moment",
		"See whether the brokers are reached from this host (kgdiag check). One such line while brokers restart passes."},
	{signIs("corrupted"), Warning, false, "state of Streams tasks was lost or did not fit its changelog: the tasks are restored from it, which triggers a rebalance",
		"Look at the exception behind the line; restoring takes as long as the changelog is."},
	{signIs("unassigned_topics"), Warning, false, "subscribed topics were assigned to no member: the leader does not know their partitions. Either they do not exist or may not be described, or members of one group.id (or application.id) subscribe to different topics",
		"See whether every member of the group subscribes to the same topics, two applications with one group.id do not; then look at the names and at the permission to describe them; with a topic that is made later the next refresh of the metadata brings them in."},
	{signIs("no_offset"), Info, false, "the group has no committed offset for a partition, so it starts where auto.offset.reset says",
		"Nothing for a new group or partition; else see whether offsets expired (offsets.retention.minutes)."},
	{signIs("crash"), Info, true, "the consumer crashed", "Look at the error; kafkajs restarts by itself only after errors that may pass."},
	{signIs("fatal"), Warning, false, "the client met a fatal error: this instance does not go on", "Look at the error, close the client and make a new one."},
	{signIs("unknown_key", "unused_keys"), Info, false, "a setting was given that the client does not know, or does not use", "Correct the key, or leave it out."},
	{signIs("unsupported"), Info, false, "the broker does not support something that the client asked for", "See what the line names, and which version of the broker brings it."},
	{signIs(inspect.SignISRShrink, "isr_insufficient"), Info, true, "replicas fell out of sync", "Look at the brokers that hold them: disk, pauses, network."},
	{func(e inspect.LogEvent) bool { return e.Cause == inspect.CoordinatorMoved }, Info, false, "the coordinator of a partition of __consumer_offsets moved between brokers", "Nothing, if brokers were restarted; their groups find the new one."},
	{signIs("join_failed", "sync_failed", "manage_loop"), Info, true, "joining the group failed, and the client tries again", "Look at the error; where it goes on, the coordinator's log says why it refuses."},
	{signIs(inspect.SignUnreachable, inspect.SignConnectFailed), Info, false, "a connection to a broker failed", "See whether that address is reached from this host (kgdiag check)."},
	{signIs("closed_in_use"), Info, false, "a connection that was in use, or idle, was closed by the other side: an idle limit of the broker (connections.max.idle.ms, 10 min) or of what lies between, or a restart; the client opens another one, and the group is not touched",
		"Nothing, where the consumer goes on; log.connection.close=false keeps the line away."},
	{signIs(inspect.SignRequestTimeout, inspect.SignIOTimeout), Info, true, "a request to a broker got no answer in time", "Where it goes on, look at that broker and at what lies between; in a rebalance the answer to JoinGroup comes only when all members have rejoined."},
	{signIs("find_coordinator", inspect.SignUnavailable, inspect.SignLoading), Info, true, "the search for the coordinator failed, and the client tries again", "Where it goes on, see whether __consumer_offsets is there and has leaders (kgdiag check)."},
	{func(e inspect.LogEvent) bool {
		return e.Kind == inspect.LogHeartbeatFailed && e.Sign != inspect.SignRequestTimeout && e.Sign != "slow_revoke"
	}, Info, false, "a heartbeat failed, and the client tries again: the member stays in the group until its session ends", "Where it goes on, look at the error."},
	{func(e inspect.LogEvent) bool { return e.Kind == inspect.LogCommitFailed && !evicted(e) }, Info, false, "a commit failed: the records since the last one are read again if the partition moves before the next commit succeeds", "Look at the error; where it goes on, commit after each batch and retry."},
	{func(e inspect.LogEvent) bool { return e.Sign == "nobody_to_ask" }, Info, true, "no connected broker can be asked for the group's coordinator: none is connected, or all of them are older than Kafka 0.9, which has no groups",
		"See whether the brokers are reached at their advertised addresses (kgdiag check), and which version they have."},
}
