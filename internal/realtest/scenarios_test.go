//go:build realkafka

package realtest

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// Who takes part. Commits follow the work unless said otherwise.
var (
	javaRange  = party{kind: javaClient, assignor: "range", commit: "sync"}
	javaCoop   = party{kind: javaClient, assignor: "cooperative-sticky", commit: "sync"}
	javaAuto   = party{kind: javaClient, assignor: "cooperative-sticky", commit: "auto"}
	javaEpochs = party{kind: javaClient, protocol: "consumer", commit: "sync"}
	rdRange    = party{kind: librdkafka, assignor: "range", commit: "sync"}
	rdAuto     = party{kind: librdkafka, assignor: "range", commit: "auto"}
	rdEpochs   = party{kind: librdkafka, protocol: "consumer", commit: "sync"}
	franzRange = party{kind: franzGo, assignor: "range", commit: "sync"}
	kafkaPy    = party{kind: kafkaPython, commit: "sync"}
	aioPy      = party{kind: aiokafka, commit: "sync"}
)

// full leaves all of the parties to the long form.
func full(ps ...party) []party {
	for i := range ps {
		ps[i] = ps[i].inFull()
	}
	return ps
}

// scenarios are all faults: to classic groups, then to those of KIP-848.
func scenarios() []scenario { return append(classicScenarios(), epochScenarios()...) }

const (
	overrunCause = inspect.PollIntervalExceeded
	expired      = inspect.SessionExpired
	left         = inspect.MemberLeft
	rejoin       = inspect.RejoinTimedOut
	within       = inspect.RestartedWithinSession
	swapped      = inspect.StaticMemberRestarted
	fenced       = inspect.StaticMemberFenced
)

// causes is a list of causes that are right.
func causes(cs ...inspect.Cause) []inspect.Cause { return cs }

// also appends the parties of the long form.
func also(now []party, ps ...party) []party { return append(now, full(ps...)...) }

// refresh makes a client learn of new partitions soon, whichever it is.
func refresh(k kind) []string {
	if k == librdkafka {
		return []string{"topic.metadata.refresh.interval.ms=2000"}
	}
	return []string{"metadata.max.age.ms=2000"}
}

// deployed are the causes by which the parts of a rolling restart go.
var deployed = causes(inspect.RollingRestart, within, left, inspect.MemberJoined)

func classicScenarios() []scenario {
	return []scenario{
		{name: "poll overrun", with: also([]party{javaRange, rdRange}, kafkaPy, javaAuto, rdAuto, aioPy), truth: causes(overrunCause), do: overrun},
		{name: "poll overrun, slow peer", with: also([]party{rdRange}, javaRange, javaCoop), truth: causes(overrunCause), hedge: true, do: slowPeer(overrun)},
		{name: "commits per record in a slow batch", with: also([]party{javaRange}, rdRange), truth: causes(overrunCause), hedge: true, do: inBatch},
		{name: "commits per record in a slow batch, slow peer", with: full(javaRange), truth: causes(overrunCause), hedge: true, do: slowPeer(inBatch)},

		{name: "SIGKILL", with: also([]party{rdRange, franzRange}, javaRange, javaAuto), truth: causes(expired), do: crash},
		{name: "SIGKILL, slow peer", with: also([]party{rdRange}, javaCoop), truth: causes(expired), hedge: true, do: slowPeer(crash)},
		{name: "SIGKILL, idle topic", with: also([]party{rdRange}, javaAuto), idle: true, truth: causes(expired), hedge: true, do: crash},
		{name: "SIGKILL, restarted after 3 s", with: also([]party{rdRange}, javaRange), truth: causes(within, expired), do: restart(3 * time.Second)},
		{name: "SIGKILL, restarted after 3 s, slow peer", with: full(rdRange, javaRange), truth: causes(within, expired), hedge: true, do: slowPeer(restart(3 * time.Second))},
		{name: "SIGKILL, restarted after 12 s", with: full(rdRange, javaRange), truth: causes(expired), do: restart(12 * time.Second)},
		{name: "SIGSTOP for two sessions", with: also([]party{rdRange}, javaRange), truth: causes(expired), do: frozen},
		{name: "SIGSTOP for two sessions, slow peer", with: full(rdRange, javaCoop), truth: causes(expired), hedge: true, do: slowPeer(frozen)},

		{name: "clean close", with: also([]party{rdRange}, javaRange, javaAuto), truth: causes(left), do: leave},
		{name: "clean close, slow peer", with: also([]party{rdRange}, javaRange), truth: causes(left), hedge: true, do: slowPeer(leave)},
		{name: "clean close, idle topic", with: full(rdRange, javaAuto), idle: true, truth: causes(left), hedge: true, do: leave},
		{name: "rolling restart of 4", with: also([]party{franzRange}, rdRange, javaCoop), members: 4, do: rolling, about: anyRestart, truth: deployed},
		{name: "rolling restart of 4, slow peer", with: full(franzRange, rdRange), members: 4, do: slowLast(rolling), about: anyRestart, truth: deployed, hedge: true},

		{name: "static restart inside the session", with: also([]party{franzRange}, rdRange, javaRange), static: true, session: 20000, maxPoll: 25000,
			truth: causes(swapped, fenced), do: cleanRestart(time.Second)},
		{name: "static restart inside the session, slow peer", with: full(rdRange, javaRange), static: true, session: 20000, maxPoll: 25000,
			truth: causes(swapped, fenced), do: slowPeer(cleanRestart(time.Second))},
		{name: "static restart beyond the session", with: also([]party{rdRange}, javaRange), static: true, truth: causes(expired), hedge: true, do: cleanRestart(9 * time.Second)},
		{name: "static restart beyond the session, slow peer", with: full(rdRange, javaRange), static: true, truth: causes(expired), hedge: true, do: slowPeer(cleanRestart(9 * time.Second))},
		{name: "duplicate instance id", with: also([]party{franzRange}, rdRange, javaRange), static: true, truth: causes(fenced), hedge: true, do: duplicate},
		{name: "duplicate instance id, slow peer", with: full(rdRange, javaRange), static: true, truth: causes(fenced), hedge: true, do: slowPeer(duplicate)},

		{name: "subscription changed", with: also([]party{javaRange}, rdRange), truth: causes(inspect.SubscriptionChanged), do: resubscribe, about: causedOrSame},
		{name: "subscription changed, slow peer", with: full(javaRange, rdRange), truth: causes(inspect.SubscriptionChanged), do: slowPeer(resubscribe), about: causedOrSame},
		{name: "partitions added", with: also([]party{javaRange}, rdRange), refresh: true, truth: causes(inspect.TopicMetadataChanged), do: morePartitions, about: causedOrSame},
		{name: "partitions added, slow peer", with: full(javaRange, rdRange), refresh: true, truth: causes(inspect.TopicMetadataChanged), do: slowPeer(morePartitions), about: causedOrSame},

		{name: "a late re-joiner holds a join", with: also([]party{rdRange}, javaRange, javaCoop), truth: causes(inspect.MemberJoined), do: heldJoin, about: newcomer},
		{name: "a frozen member holds a join to its rebalance timeout", with: also([]party{franzRange}, javaRange), session: 40000, maxPoll: 10000, truth: causes(rejoin), hedge: true, do: frozenJoin,
			broker: `Group %s removed dynamic members who haven't joined: (?:Set\(|.)victim`},
		{name: "a busy member is put out during a join", with: full(javaRange, rdRange), truth: causes(overrunCause), hedge: true, do: stalledJoin},
		{name: "cooperative slow poller during a join", with: full(javaCoop), truth: causes(inspect.SyncPhaseExpired, expired), hedge: true, do: slowJoin(9000)},
	}
}

// notGivenUp is how the coordinator says that a rebalance timeout of KIP-848 ended.
const notGivenUp = `GroupId %s\] Member .* fenced from the group because it failed to transition`

func epochScenarios() []scenario {
	return []scenario{
		{name: "poll overrun", with: also([]party{javaEpochs}, rdEpochs), truth: causes(overrunCause), do: overrun},
		{name: "poll overrun, slow peer", with: full(javaEpochs, rdEpochs), truth: causes(overrunCause), do: slowPeer(overrun)},
		{name: "commits per record in a slow batch", with: full(javaEpochs, rdEpochs), truth: causes(overrunCause), hedge: true, do: inBatch},
		{name: "commits per record in a slow batch, slow peer", with: full(javaEpochs), truth: causes(overrunCause), hedge: true, do: slowPeer(inBatch)},

		{name: "SIGKILL", with: also([]party{rdEpochs}, javaEpochs), truth: causes(expired), do: crash},
		{name: "SIGKILL, slow peer", with: full(rdEpochs, javaEpochs), truth: causes(expired), do: slowPeer(crash)},
		{name: "SIGKILL, idle topic", with: full(rdEpochs), idle: true, truth: causes(expired), hedge: true, do: crash},
		{name: "SIGKILL, restarted after 3 s", with: full(rdEpochs, javaEpochs), truth: causes(within, expired), do: restart(3 * time.Second)},
		{name: "SIGKILL, restarted after 3 s, slow peer", with: full(rdEpochs), truth: causes(within, expired), do: slowPeer(restart(3 * time.Second))},
		{name: "SIGKILL, restarted after 12 s", with: full(rdEpochs), truth: causes(expired), do: restart(12 * time.Second)},
		{name: "SIGSTOP for two sessions", with: full(javaEpochs, rdEpochs), truth: causes(expired), do: frozen},
		{name: "SIGSTOP for two sessions, slow peer", with: full(javaEpochs, rdEpochs), truth: causes(expired), do: slowPeer(frozen)},

		{name: "clean close", with: also([]party{rdEpochs}, javaEpochs), truth: causes(left), do: leave},
		{name: "clean close, slow peer", with: full(rdEpochs, javaEpochs), truth: causes(left), do: slowPeer(leave)},
		{name: "clean close, idle topic", with: full(rdEpochs), idle: true, truth: causes(left), hedge: true, do: leave},
		{name: "rolling restart of 4", with: full(rdEpochs, javaEpochs), members: 4, do: rolling, about: anyRestart, truth: deployed},
		{name: "rolling restart of 4, slow peer", with: full(rdEpochs), members: 4, do: slowLast(rolling), about: anyRestart, truth: deployed},

		{name: "static restart inside the session", with: full(rdEpochs, javaEpochs), static: true, session: 20000, maxPoll: 25000, truth: causes(swapped), do: cleanRestart(time.Second)},
		{name: "static restart inside the session, slow peer", with: full(rdEpochs), static: true, session: 20000, maxPoll: 25000, truth: causes(swapped), do: slowPeer(cleanRestart(time.Second))},
		// It says that it goes for a while, and comes back too late.
		{name: "static restart beyond the session", with: full(rdEpochs, javaEpochs), static: true, truth: causes(left, expired), do: cleanRestart(9 * time.Second)},
		{name: "static restart beyond the session, slow peer", with: full(rdEpochs), static: true, truth: causes(left, expired), do: slowPeer(cleanRestart(9 * time.Second))},
		// Sooner the coordinator refuses the new process, whose client then gives up for good, Java's and librdkafka's alike.
		{name: "static SIGKILL, restarted after 9 s", with: full(rdEpochs, javaEpochs), static: true, truth: causes(expired, swapped), do: restart(9 * time.Second)},
		// The coordinator refuses the second one and writes nothing.
		{name: "duplicate instance id", with: also([]party{rdEpochs}, javaEpochs), static: true, calm: true, do: duplicate},
		{name: "duplicate instance id, slow peer", with: full(rdEpochs), static: true, calm: true, do: slowPeer(duplicate)},

		{name: "subscription changed", with: also([]party{rdEpochs}, javaEpochs), truth: causes(inspect.SubscriptionChanged), do: resubscribe, about: causedOrSame},
		{name: "subscription changed, slow peer", with: full(rdEpochs, javaEpochs), truth: causes(inspect.SubscriptionChanged), do: slowPeer(resubscribe), about: causedOrSame},
		{name: "partitions added", with: full(rdEpochs, javaEpochs), refresh: true, truth: causes(inspect.TopicMetadataChanged), do: morePartitions, about: causedOrSame},
		{name: "partitions added, slow peer", with: full(rdEpochs), refresh: true, truth: causes(inspect.TopicMetadataChanged), do: slowPeer(morePartitions), about: causedOrSame},

		{name: "a busy member holds a join", with: full(rdEpochs, javaEpochs), members: 1, truth: causes(inspect.MemberJoined), do: heldJoin, about: newcomer},
		// librdkafka goes on heartbeating for a while after its poll interval: the coordinator puts it out first.
		{name: "a busy member does not give partitions up in time", with: []party{rdEpochs}, members: 1, session: 20000, truth: causes(rejoin), do: stalledJoin, broker: notGivenUp},
		{name: "a busy member is put out during a join", with: full(javaEpochs), members: 1, truth: causes(overrunCause), hedge: true, do: stalledJoin},
	}
}
