package clientlog

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// phrase is one text of one library. The literal must stand in the line; the pattern,
// if any, takes its parts: member, group, gen, instance, reason, ms, client, broker.
type phrase struct {
	literal string
	pattern *regexp.Regexp
	kind    inspect.LogKind
	cause   inspect.Cause
	family  inspect.Family
	err     string
	more    func(*inspect.LogEvent, map[string]string) // what a pattern cannot say
}

func re(s string) *regexp.Regexp { return regexp.MustCompile(s) }

// phrases are tried in order: the first whose literal and pattern match decides. More
// telling texts stand before those that they contain.
var phrases = []phrase{
	// Broker, both coordinators: the coordinator's own word outranks a client's.
	{literal: "Preparing to rebalance group ", kind: inspect.LogRebalance,
		pattern: re(`Preparing to rebalance group (?P<group>.+?)(?: in state (?P<state>\w+))? with old generation (?P<gen>-?\d+)(?: \(__consumer_offsets-\d+\))?(?: \(reason: (?P<reason>.*?)\.?\)\.?)?$`), more: brokerReason},
	{literal: "Preparing to restabilize group ", kind: inspect.LogRebalance, pattern: re(`restabilize group (?P<group>.+) with old generation (?P<gen>-?\d+)`)},
	{literal: "Stabilized group ", kind: inspect.LogRebalance, pattern: re(`Stabilized group (?P<group>.+?) generation (?P<gen>\d+)`)},
	{literal: "Assignment received from leader", kind: inspect.LogRebalance, pattern: re(`leader(?: (?P<member>\S+))? for group (?P<group>.+?) for generation (?P<gen>\d+)`)},
	{literal: "has failed, removing it from the group", kind: inspect.LogEvicted, cause: inspect.SessionExpired, pattern: re(`Member (?P<member>\S+) in group (?P<group>.+) has failed, removing`)},
	{literal: "dynamic members who haven't joined", kind: inspect.LogEvicted, cause: inspect.RejoinTimedOut, pattern: re(`Group (?P<group>.+) removed? dynamic members who haven't joined: (?P<reason>.*)$`), more: firstMember},
	{literal: "through explicit `LeaveGroup`", kind: inspect.LogLeft, cause: inspect.MemberLeft, pattern: re("(?:\\[Group (?P<group>[^\\]]+)\\] )?Member (?P<member>\\S+) has left group (?P<group2>.+?) through explicit `LeaveGroup`(?: request)?(?:; client reason: (?P<reason>.*))?"), more: leaveReason},
	{literal: "has left, removing it from the group", kind: inspect.LogLeft, cause: inspect.MemberLeft, pattern: re(`Member ?(?:\[group\.instance\.id (?P<instance>.*?), member\.id (?P<member>[^\]]+)\]|(?P<member2>\S+)) in group (?P<group>.+) has left, removing`)},
	{literal: "is now empty", kind: inspect.LogRebalance, cause: inspect.GroupEmptied, pattern: re(`Group (?P<group>.+) with generation (?P<gen>\d+) is now empty`)},
	{literal: "has been removed after session timeout expiration", kind: inspect.LogEvicted, pattern: re(`Pending member (?P<member>\S+) in group (?P<group>.+) has been removed`)},
	{literal: "could not complete rebalance because no members rejoined", kind: inspect.LogRebalance, cause: inspect.AssignmentFailed, pattern: re(`Group (?P<group>.+) could not complete rebalance`)},
	{literal: "is identified as a known static member", kind: inspect.LogFenced, cause: inspect.StaticMemberFenced, err: "FENCED_INSTANCE_ID", pattern: re(`given member\.id (?P<member>\S+) is identified as a known static member (?P<instance>[^,]+),`)},
	{literal: "for static member with groupInstanceId=", kind: inspect.LogFenced, cause: inspect.StaticMemberFenced, err: "FENCED_INSTANCE_ID", pattern: re(`Request memberId=(?P<member>\S+) for static member with groupInstanceId=(?P<instance>.+?) is fenced by`)},
	{literal: "Replacing previously mapped member", kind: inspect.LogJoined, pattern: re(`groupInstanceId=(?P<instance>.+?) and unknown member id joins group (?P<group>.+?) in \w+ state. Replacing previously mapped member (?P<member>\S+) with`)},
	{literal: "failed to join before the rebalance timeout", kind: inspect.LogEvicted, cause: inspect.RejoinTimedOut, pattern: re(`memberId: (?P<member>[^,\]]+)`)},
	{literal: "fenced from the group because the member session expired", kind: inspect.LogEvicted, cause: inspect.SessionExpired, pattern: re(`Member (?P<member>\S+) fenced`)},
	{literal: "fenced from the group because its session expired", kind: inspect.LogEvicted, cause: inspect.SessionExpired, pattern: re(`Member (?P<member>\S+) fenced`)},
	{literal: "fenced from the group because it failed to", kind: inspect.LogEvicted, cause: inspect.RejoinTimedOut, pattern: re(`Member (?P<member>\S+) fenced from the group because it (?P<reason>failed to .*? within (?P<ms>\d+)ms)`)},
	{literal: "temporarily left the consumer group", kind: inspect.LogLeft, cause: inspect.MemberLeft, pattern: re(`Static [Mm]ember (?P<member>\S+) with instance id (?P<instance>.+) temporarily left`)},
	{literal: "left the consumer group", kind: inspect.LogLeft, cause: inspect.MemberLeft, pattern: re(`Member (?P<member>\S+) left the consumer group`)},
	{literal: "re-joins the consumer group", kind: inspect.LogJoined, cause: inspect.StaticMemberRestarted, pattern: re(`with instance id (?P<instance>.+?) re-joins the consumer group.*Created a new member (?P<member>\S+) to replace`)},
	{literal: "cannot join the group because the instance id is", kind: inspect.LogFenced, cause: inspect.StaticMemberFenced, err: "UNRELEASED_INSTANCE_ID", pattern: re(`Static member (?P<member>\S+) with instance id (?P<instance>.+?) cannot join`)},
	{literal: "is fenced by existing member", kind: inspect.LogFenced, cause: inspect.StaticMemberFenced, err: "FENCED_INSTANCE_ID", pattern: re(`Static member (?P<member>\S+) with instance id (?P<instance>.+?) is fenced`)},
	{literal: "joins the consumer group", kind: inspect.LogJoined, cause: inspect.MemberJoined, pattern: re(`[Mm]ember (?P<member>\S+)(?: with instance id (?P<instance>.+?))? joins the consumer group`)},
	{literal: "Bumped group epoch to ", kind: inspect.LogRebalance, pattern: re(`Bumped group epoch to (?P<gen>\d+)`)},
	{literal: "Elected as the group coordinator for partition", kind: inspect.LogCoordinatorLost, cause: inspect.CoordinatorMoved, pattern: re(`for (?P<reason>partition \d+ in epoch \d+)`)},
	{literal: "Resigned as the group coordinator for partition", kind: inspect.LogCoordinatorLost, cause: inspect.CoordinatorMoved, pattern: re(`for (?P<reason>partition \d+ in epoch \d+)`)},
	{literal: "Finished loading of metadata from __consumer_offsets", kind: inspect.LogCoordinatorLost, cause: inspect.CoordinatorMoved, pattern: re(`epoch (?P<reason>\d+) in (?P<ms>\d+)ms`)},
	{literal: "Finished loading offsets and group metadata from", kind: inspect.LogCoordinatorLost, cause: inspect.CoordinatorMoved, pattern: re(`in (?P<ms>\d+) milliseconds`)},
	{literal: "Failed to load metadata from __consumer_offsets", kind: inspect.LogError, err: "NOT_COORDINATOR", pattern: re(`due to (?P<reason>.*)`)},
	{literal: "below required minimum", kind: inspect.LogError, err: "NOT_ENOUGH_REPLICAS"},
	{literal: "is insufficient to satisfy the min.isr requirement", kind: inspect.LogError, err: "NOT_ENOUGH_REPLICAS"},
	{literal: "Error processing append operation on partition __consumer_offsets", kind: inspect.LogError},
	{literal: "larger than available brokers", kind: inspect.LogError, err: "INVALID_REPLICATION_FACTOR"},
	{literal: "Cannot upgrade classic group ", kind: inspect.LogError, pattern: re(`classic group (?P<group>.+?) to consumer group because (?P<reason>.*)`)},
	{literal: "Cannot downgrade consumer group ", kind: inspect.LogError, pattern: re(`consumer group (?P<group>.+?) to classic group because (?P<reason>.*)`)},
	{literal: "removing member ", kind: inspect.LogEvicted, cause: inspect.SessionExpired, pattern: re(`removing member (?P<member>\S+) on heartbeat expiration`)},

	// The poll interval, in the words of each library.
	{literal: "exceeded approximately by ", kind: inspect.LogPollTimeout, cause: inspect.PollIntervalExceeded, family: inspect.Java, pattern: re(`exceeded approximately by (?P<ms>\d+) ms\. Member (?P<member>\S+) will rejoin`)},
	{literal: "Application maximum poll interval (", kind: inspect.LogPollTimeout, cause: inspect.PollIntervalExceeded, family: inspect.Librdkafka, pattern: re(`interval \((?P<limit>\d+)ms\) exceeded by (?P<ms>\d+)ms`), more: withReason("max.poll.interval.ms %s", "limit")},
	{literal: "Maximum application poll interval (max.poll.interval.ms) exceeded", kind: inspect.LogPollTimeout, cause: inspect.PollIntervalExceeded, family: inspect.Librdkafka},
	{literal: "worker poll timeout has expired", kind: inspect.LogPollTimeout, family: inspect.Connect},
	{literal: "onsumer poll timeout has expired", kind: inspect.LogPollTimeout, cause: inspect.PollIntervalExceeded, more: unlessKnown(inspect.Java),
		pattern: re(`(?:Member (?P<member>\S+) sending LeaveGroup request to coordinator .*?due to )?(?P<reason>[Cc]onsumer poll timeout has expired)`)},
	{literal: "Heartbeat poll expired, leaving group", kind: inspect.LogPollTimeout, cause: inspect.PollIntervalExceeded, family: inspect.KafkaPython},

	// Java, classic.
	{literal: "sending LeaveGroup request to coordinator", kind: inspect.LogLeft, cause: inspect.MemberLeft, family: inspect.Java, pattern: re(`Member (?P<member>\S+) sending LeaveGroup request to coordinator .*?due to (?P<reason>.*)`), more: leaveReason},
	{literal: "Request joining group due to: ", kind: inspect.LogRejoinRequested, family: inspect.Java, pattern: re(`Request joining group due to: (?P<reason>.*)`), more: rejoinReason},
	{literal: "since the assignment metadata has changed from", kind: inspect.LogRejoinRequested, cause: inspect.TopicMetadataChanged, family: inspect.Java},
	{literal: "trigger rebalance since the subscription has changed", kind: inspect.LogRejoinRequested, cause: inspect.SubscriptionChanged, family: inspect.Java},
	{literal: "Need to revoke partitions", kind: inspect.LogRejoinRequested, family: inspect.Java},
	{literal: "gets fenced", kind: inspect.LogFenced, cause: inspect.StaticMemberFenced, err: "FENCED_INSTANCE_ID", family: inspect.Java},
	{literal: "Caught fenced group.instance.id", kind: inspect.LogFenced, cause: inspect.StaticMemberFenced, err: "FENCED_INSTANCE_ID", family: inspect.Java, pattern: re(`group\.instance\.id (?:Optional\[)?(?P<instance>[^\] ]+)\]? error`)},
	{literal: "has been fenced by another instance", kind: inspect.LogFenced, cause: inspect.StaticMemberFenced, err: "FENCED_INSTANCE_ID", family: inspect.Java, pattern: re(`group instance id (?:Optional\[)?(?P<instance>[^\] ]+)\]? has been fenced`)},
	{literal: "Attempt to heart", kind: inspect.LogHeartbeatFailed, family: inspect.Java, pattern: re(`Attempt to heart ?beat (?P<reason>.*)`), more: heartbeatReason},
	{literal: "Marking the coordinator", kind: inspect.LogCoordinatorLost, pattern: re(`Marking the coordinator (?P<reason>.*?dead.*)`)},
	{literal: "is unavailable or invalid", kind: inspect.LogCoordinatorLost, family: inspect.Java, pattern: re(`unavailable or invalid(?: due to cause: (?P<reason>.*?)\.? ?isDisconnected|, | due to cause: (?P<reason2>.*?)\. Redisc)`)},
	{literal: "Consumer has been disconnected from the group coordinator for", kind: inspect.LogCoordinatorLost, family: inspect.Java, pattern: re(`for (?P<ms>\d+)ms`)},
	{literal: "is either not started or not valid", kind: inspect.LogCoordinatorLost, err: "NOT_COORDINATOR"},
	{literal: "obsolete coordinator information", kind: inspect.LogCoordinatorLost, err: "NOT_COORDINATOR", family: inspect.Java, pattern: re(`join group (?P<group>.+) failed`)},
	{literal: "is loading the group", kind: inspect.LogCoordinatorLost, err: "COORDINATOR_LOAD_IN_PROGRESS"},
	{literal: "Discovered group coordinator ", kind: inspect.LogCoordinatorLost, family: inspect.Java, pattern: re(`coordinator (?P<reason>\S+)`)},
	{literal: "Discovered coordinator ", kind: inspect.LogCoordinatorLost, family: inspect.Java, pattern: re(`coordinator (?P<reason>\S+).* for group (?P<group>.+?)\.?$`)},
	{literal: "Inconsistent Protocol Type", kind: inspect.LogError, err: "INCONSISTENT_GROUP_PROTOCOL", family: inspect.Java},
	{literal: "JoinGroup failed due to unsupported version", kind: inspect.LogError, err: "UNSUPPORTED_VERSION", family: inspect.Java},
	{literal: "Attempted to write a non-default groupInstanceId", kind: inspect.LogError, err: "UNSUPPORTED_VERSION", family: inspect.Java},
	{literal: "which could indicate a replication timeout on the broker", kind: inspect.LogError, err: "REBALANCE_IN_PROGRESS"},
	{literal: "JoinGroup failed", kind: inspect.LogError, pattern: re(`JoinGroup failed(?: due to (?:fatal|non-fatal) error)?: (?P<reason>.*)`)},
	{literal: "Attempt to join group", kind: inspect.LogError, pattern: re(`Attempt to join group (?:(?P<group>.+?) )?failed due to (?:fatal error: )?(?P<reason>.*)`)},
	{literal: "SyncGroup failed", kind: inspect.LogRebalance, pattern: re(`SyncGroup failed: (?P<reason>.*)`)},
	{literal: "SyncGroup for group", kind: inspect.LogRebalance, family: inspect.KafkaPython, pattern: re(`SyncGroup for group (?P<group>.+) failed due to (?P<reason>.*)`)},
	{literal: "Generation data was cleared by heartbeat thread", kind: inspect.LogEvicted, family: inspect.Java},
	{literal: "as lost since generation", kind: inspect.LogEvicted, family: inspect.Java},
	{literal: "Lost previously assigned partitions", kind: inspect.LogEvicted, family: inspect.Java},
	{literal: "ommit cannot be completed", kind: inspect.LogCommitFailed, family: inspect.Java, more: commitReason},
	{literal: "Commit of WorkerSinkTask", kind: inspect.LogCommitFailed, family: inspect.Connect},
	{literal: "Offset commit failed on partition", kind: inspect.LogCommitFailed, family: inspect.Java, pattern: re(`at offset \d+: (?P<reason>.*)`)},
	{literal: "OffsetCommit failed", kind: inspect.LogCommitFailed, pattern: re(`OffsetCommit failed(?: for group (?P<group>.+?) due to group error \((?P<reason>.*?)\)| with (?P<reason2>.*))?`)},
	{literal: "auto-commit of offsets", kind: inspect.LogCommitFailed, family: inspect.Java, pattern: re(`failed: (?P<reason>.*)`)},
	{literal: "Failing OffsetCommit request since the consumer is not part", kind: inspect.LogCommitFailed, family: inspect.Java},
	{literal: "subscribed topics are not assigned to any members", kind: inspect.LogRebalance, family: inspect.Java, pattern: re(`members(?: in the group (?P<group>.+?) )?: (?P<reason>.*)`)},
	{literal: "With the COOPERATIVE protocol, owned partitions cannot be reassigned", kind: inspect.LogError, family: inspect.Java},
	{literal: "do not have commonly supported rebalance protocol", kind: inspect.LogError, err: "INCONSISTENT_GROUP_PROTOCOL", family: inspect.Java},
	{literal: "should be greater than session.timeout.ms", kind: inspect.LogError, family: inspect.Java},
	{literal: "cannot be set when group.protocol=", kind: inspect.LogError, family: inspect.Java, pattern: re(`(?P<reason>\S+) cannot be set when`)},
	{literal: "was supplied but isn't a known config", kind: inspect.LogError, family: inspect.Java, pattern: re(`[Tt]he configuration '?(?P<reason>[^']+?)'? (?:= |was supplied)`), more: withReason("unknown configuration key %s", "reason")},
	{literal: "were supplied but are not used yet", kind: inspect.LogError, family: inspect.Java, pattern: re(`configurations '(?P<reason>[^']*)'`), more: withReason("unused configuration keys %s", "reason")},
	{literal: "could not be established", kind: inspect.LogCoordinatorLost, family: inspect.Java, pattern: re(`Connection to node (?P<reason>.* could not be established)`)},
	{literal: "uccessfully joined group", kind: inspect.LogJoined, pattern: re(`joined group (?:(?P<group>\S+) )?with generation (?:Generation\{generationId=)?(?P<gen>\d+)(?:, memberId='(?P<member>[^']*)')?`)},
	{literal: "Joined group '", kind: inspect.LogJoined, family: inspect.AIOKafka, pattern: re(`Joined group '(?P<group>.*?)' \(generation (?P<gen>\d+)\) with member_id (?P<member>\S+)`)},
	{literal: "Kafka version", kind: inspect.LogVersion, family: inspect.Java, pattern: re(`Kafka version ?: ?(?P<version>\d\S*)`)},

	// Java, KIP-848.
	{literal: "is expected in the case that the member was removed", kind: inspect.LogFenced, err: "FENCED_INSTANCE_ID", family: inspect.Java},
	{literal: "eartbeatRequest failed due to unreleased instance id", kind: inspect.LogFenced, cause: inspect.StaticMemberFenced, err: "UNRELEASED_INSTANCE_ID", family: inspect.Java, pattern: re(`unreleased instance id (?P<instance>[^:]+):`)},
	{literal: "The cluster does not support the new CONSUMER group protocol", kind: inspect.LogError, err: "UNSUPPORTED_VERSION", family: inspect.Java},
	{literal: "upHeartbeatRequest failed", kind: inspect.LogHeartbeatFailed, family: inspect.Java, pattern: re(`GroupHeartbeatRequest failed (?P<reason>.*)`), more: heartbeatReason},
	{literal: "GroupHeartbeat failed", kind: inspect.LogHeartbeatFailed, family: inspect.Librdkafka, pattern: re(`Heartbeat failed: (?P<reason>.*)`)},
	{literal: " transitioned from ", kind: inspect.LogRebalance, family: inspect.Java, pattern: re(`Member (?P<member>\S+) with epoch (?P<gen>-?\d+) transitioned (?P<reason>from \w+ to \w+)`), more: transition},

	// Streams and Connect.
	{literal: "Detected that the thread is being fenced", kind: inspect.LogEvicted, family: inspect.StreamsLib},
	{literal: "Triggering the followup rebalance scheduled for", kind: inspect.LogRejoinRequested, family: inspect.StreamsLib},
	{literal: "Active task(s) got corrupted", kind: inspect.LogRejoinRequested, family: inspect.StreamsLib},
	{literal: "with rebalance delay: ", kind: inspect.LogJoined, family: inspect.Connect, pattern: re(`at generation (?P<gen>\d+).*with rebalance delay: (?P<ms>\d+)`)},
	{literal: "Joined group at generation ", kind: inspect.LogJoined, family: inspect.Connect, pattern: re(`at generation (?P<gen>\d+)`)},
	{literal: "Forcing rebalance.", kind: inspect.LogRejoinRequested, family: inspect.Connect},
	{literal: "Broker coordinator was unreachable for", kind: inspect.LogCoordinatorLost, family: inspect.Connect, pattern: re(`for (?P<ms>\d+)ms`)},

	// librdkafka.
	{literal: "Consumer group session timed out", kind: inspect.LogCoordinatorLost, family: inspect.Librdkafka, pattern: re(`\((?P<reason>in join-state [\w-]+)\) after (?P<ms>\d+) ms.*last error was (?P<error>[^)]*)\)`)},
	{literal: "HeartbeatRequest in flight", kind: inspect.LogHeartbeatFailed, family: inspect.Librdkafka, pattern: re(`in flight \(after (?P<ms>\d+)ms, timeout #\d+\)(?:: (?P<reason>possibly held back by .*))?`)},
	{literal: "HeartbeatRequest failed", kind: inspect.LogHeartbeatFailed, family: inspect.Librdkafka, pattern: re(`HeartbeatRequest failed: (?P<reason>.*)`)},
	{literal: "Retrying HeartbeatRequest", kind: inspect.LogHeartbeatFailed, family: inspect.Librdkafka},
	{literal: "JoinGroupRequest failed", kind: inspect.LogError, family: inspect.Librdkafka, pattern: re(`JoinGroupRequest failed: (?P<reason>.*)`)},
	{literal: "Heartbeat failed due to coordinator", kind: inspect.LogCoordinatorLost, family: inspect.Librdkafka, pattern: re(`no longer available: (?P<reason>.*)`)},
	{literal: "partition(s) in join-state", kind: inspect.LogCommitFailed, family: inspect.Librdkafka, pattern: re(`Offset commit \((?P<reason>.*?)\) failed`)},
	{literal: "application *assign() call failed", kind: inspect.LogError, family: inspect.Librdkafka, pattern: re(`call failed: (?P<reason>.*)`)},
	{literal: "No such configuration property", kind: inspect.LogError, family: inspect.Librdkafka, pattern: re(`property: "(?P<reason>[^"]+)"`)},
	{literal: "is not supported for `group.protocol=consumer`", kind: inspect.LogError, family: inspect.Librdkafka, pattern: re("`(?P<reason>[a-z.]+)` is not supported")},
	{literal: "assignors must have the same protocol type", kind: inspect.LogError, err: "INCONSISTENT_GROUP_PROTOCOL", family: inspect.Librdkafka},
	{literal: "`max.poll.interval.ms`must be >=", kind: inspect.LogError, family: inspect.Librdkafka},
	{literal: "request(s) timed out: disconnect", kind: inspect.LogCoordinatorLost, family: inspect.Librdkafka, pattern: re(`disconnect(?: \(after (?P<ms>\d+)ms)?`)},
	{literal: "brokers are down", kind: inspect.LogCoordinatorLost, family: inspect.Librdkafka},
	{literal: "MetadataRequest in flight", kind: inspect.LogCoordinatorLost, family: inspect.Librdkafka, pattern: re(`after (?P<ms>\d+)ms`)},
	{literal: "FindCoordinator response error", kind: inspect.LogError, family: inspect.Librdkafka, pattern: re(`error: (?P<reason>.*)`)},
	{literal: "Broker does not support KIP-", kind: inspect.LogError, family: inspect.Librdkafka, pattern: re(`(?P<reason>KIP-\d+ \(requires [^)]*\))`)},
	{literal: "Static consumer fenced by other consumer", kind: inspect.LogFenced, cause: inspect.StaticMemberFenced, err: "FENCED_INSTANCE_ID", family: inspect.Librdkafka},

	// sarama, franz-go, kafka-go.
	{literal: "heartbeat loop failed", kind: inspect.LogHeartbeatFailed, family: inspect.Sarama},
	{literal: "heartbeat loop stopped", kind: inspect.LogRebalance, family: inspect.Sarama, pattern: re(`consumergroup/session/(?P<member>.+)/(?P<gen>\d+) heartbeat`)},
	{literal: "lost ownership of", kind: inspect.LogEvicted, family: inspect.Sarama, pattern: re(`consumergroup/(?P<group>.+?): lost ownership of .* due to (?P<reason>.*)`)},
	{literal: "loop check partition number", kind: inspect.LogRejoinRequested, cause: inspect.TopicMetadataChanged, family: inspect.Sarama, pattern: re(`consumergroup/(?P<group>.+?) loop check`)},
	{literal: "partition count changed for subscribed topic", kind: inspect.LogRejoinRequested, cause: inspect.TopicMetadataChanged, family: inspect.Sarama},
	{literal: "client/coordinator coordinator for", kind: inspect.LogCoordinatorLost, family: inspect.Sarama},
	{literal: "client was not authorized to access group", kind: inspect.LogError, err: "GROUP_AUTHORIZATION_FAILED", family: inspect.Sarama, pattern: re(`access group (?P<group>\S+) while`)},
	{literal: "unable to join group session", kind: inspect.LogError, family: inspect.FranzGo, pattern: re(`group session: (?P<reason>.*)`)},
	{literal: "join group failed", kind: inspect.LogError, family: inspect.FranzGo, pattern: re(`err(?:or)?[=:] ?"?(?P<reason>[A-Z_]+: [^"]*)`)},
	{literal: "join group failed", kind: inspect.LogError, family: inspect.FranzGo},
	{literal: "sync group failed", kind: inspect.LogError, family: inspect.FranzGo},
	{literal: "heartbeat errored", kind: inspect.LogHeartbeatFailed, family: inspect.FranzGo, pattern: re(`heartbeat errored(?P<reason>.*)`)},
	{literal: "group manage loop errored", kind: inspect.LogError, family: inspect.FranzGo},
	{literal: "abandoning assignment and rejoining", kind: inspect.LogEvicted, family: inspect.FranzGo},
	{literal: "received an OffsetCommitResponse after our group session has ended", kind: inspect.LogCommitFailed, family: inspect.FranzGo},
	{literal: "join returned UnknownMemberID", kind: inspect.LogEvicted, err: "UNKNOWN_MEMBER_ID", family: inspect.FranzGo},
	{literal: "Failed to join group ", kind: inspect.LogError, family: inspect.KafkaGo, pattern: re(`Failed to join group (?P<group>.+?): (?P<reason>.*)`)},
	{literal: "Failed to sync group ", kind: inspect.LogError, family: inspect.KafkaGo, pattern: re(`Failed to sync group (?P<group>.+?): (?P<reason>.*)`)},
	{literal: "Unable to establish connection to consumer group coordinator", kind: inspect.LogCoordinatorLost, family: inspect.KafkaGo, pattern: re(`for group (?P<group>.+?): (?P<reason>.*)`)},
	{literal: "Leaving group ", kind: inspect.LogLeft, cause: inspect.MemberLeft, family: inspect.KafkaGo, pattern: re(`Leaving group (?P<group>.+), member (?P<member>\S+)`)},
	{literal: "Joined group ", kind: inspect.LogJoined, family: inspect.KafkaGo, pattern: re(`Joined group (?P<group>.+) as member (?P<member>\S+) in generation (?P<gen>\d+)`)},
	{literal: "received empty assignments for group", kind: inspect.LogRebalance, family: inspect.KafkaGo, pattern: re(`for group, (?P<group>.+) as member (?P<member>\S+) for generation (?P<gen>\d+)`)},
	{literal: "Partition changes found, rebalancing group", kind: inspect.LogRejoinRequested, cause: inspect.TopicMetadataChanged, family: inspect.KafkaGo, pattern: re(`rebalancing group: (?P<group>.+?)\.?$`)},

	// kafkajs.
	{literal: "Crash: KafkaJS", kind: inspect.LogError, family: inspect.KafkaJS, pattern: re(`Crash: (?P<reason>.*)`)},
	{literal: "The coordinator is not aware of this member", kind: inspect.LogEvicted, err: "UNKNOWN_MEMBER_ID", family: inspect.KafkaJS},
	{literal: "The group is rebalancing, re-joining", kind: inspect.LogRejoinRequested, family: inspect.KafkaJS},
	{literal: "Consumer has joined the group", kind: inspect.LogJoined, family: inspect.KafkaJS},
	{literal: "Consumer group received unsubscribed topics", kind: inspect.LogError, family: inspect.KafkaJS},
	{literal: "must be lower than sessionTimeout", kind: inspect.LogError, family: inspect.KafkaJS},
	{literal: "Response Heartbeat(key: 12", kind: inspect.LogHeartbeatFailed, family: inspect.KafkaJS},

	// kafka-python and aiokafka.
	{literal: "Heartbeat session expired", kind: inspect.LogCoordinatorLost, more: unlessKnown(inspect.KafkaPython)},
	{literal: "local member_id was not recognized", kind: inspect.LogEvicted, err: "UNKNOWN_MEMBER_ID", more: unlessKnown(inspect.KafkaPython)},
	{literal: "Heartbeat failed for group", kind: inspect.LogHeartbeatFailed, family: inspect.KafkaPython, pattern: re(`Heartbeat failed for group (?P<group>.+?)(?: because (?P<reason>.*)|: (?P<reason2>.*)| due to (?P<reason3>.*))$`), more: heartbeatReason},
	{literal: "fenced group_instance_id", kind: inspect.LogFenced, cause: inspect.StaticMemberFenced, err: "FENCED_INSTANCE_ID", family: inspect.KafkaPython},
	{literal: "is rebalancing; rejoining", kind: inspect.LogRejoinRequested, family: inspect.KafkaPython, pattern: re(`Group (?P<group>.+) is rebalancing`)},
	{literal: "Metadata for topic has changed from", kind: inspect.LogRejoinRequested, cause: inspect.TopicMetadataChanged, family: inspect.AIOKafka},
	{literal: "LeaveGroup request succeeded", kind: inspect.LogLeft, family: inspect.AIOKafka},
	{literal: "[Error 26] InvalidSessionTimeoutError", kind: inspect.LogError, err: "INVALID_SESSION_TIMEOUT", family: inspect.KafkaPython},

	// Others.
	{literal: "Kafka::InvalidSessionTimeout", kind: inspect.LogError, err: "INVALID_SESSION_TIMEOUT"},
	{literal: "[join_group] Timed out while waiting for response", kind: inspect.LogError},
	{literal: "Connection error while trying to join group", kind: inspect.LogCoordinatorLost, pattern: re("join group `(?P<group>[^`]+)`")},
	{literal: "re-joining group, reason:", kind: inspect.LogRejoinRequested, pattern: re(`reason:+(?P<reason>\w+)`), more: brodReason},
	{literal: "has no committed offsets in consumer group", kind: inspect.LogError, pattern: re(`consumer group (?P<group>.+?)\.  Resetting`)},
	{literal: "Found no committed offset for partition", kind: inspect.LogError},
	{literal: "Warning: Consumer group '", kind: inspect.LogRebalance, pattern: re(`group '(?P<group>.+?)' is rebalancing`)},
	{literal: "java.lang.OutOfMemoryError", kind: inspect.LogError, family: inspect.Java},
	{literal: "(Re-)joining group", kind: inspect.LogRejoinRequested},
}

// match reads a message with the phrases, the pause forms and the error texts.
func match(l logLine) (inspect.LogEvent, bool) {
	if ev, ok := pause(l); ok {
		return ev, true
	}
	for i := range phrases {
		p := &phrases[i]
		if !strings.Contains(l.text, p.literal) {
			continue
		}
		parts, ok := take(p.pattern, l.text)
		if !ok {
			continue
		}
		return p.event(l, parts), true
	}
	if code := errorName(l.text); code != "" {
		ev := newEvent(l, inspect.LogError, "")
		ev.Error = code
		return ev, true
	}
	return inspect.LogEvent{}, false
}

// take runs a pattern; a phrase without one matches by its literal alone.
func take(re *regexp.Regexp, text string) (map[string]string, bool) {
	if re == nil {
		return nil, true
	}
	m := re.FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	parts := map[string]string{}
	for i, name := range re.SubexpNames() {
		if name != "" && m[i] != "" {
			// reason, reason2 … are alternatives of one part.
			parts[strings.TrimRight(name, "23")] = m[i]
		}
	}
	return parts, true
}

func newEvent(l logLine, kind inspect.LogKind, family inspect.Family) inspect.LogEvent {
	ev := inspect.LogEvent{
		Kind: kind, Group: l.context.group, ClientID: l.context.client, MemberID: l.context.member,
		InstanceID: l.context.instance, Broker: l.context.broker, Family: l.context.family,
	}
	if ev.Family == "" || family == inspect.StreamsLib || family == inspect.Connect {
		ev.Family = family
	}
	if ev.Broker != nil {
		ev.Family = "" // a coordinator's line says nothing about the client's library
	}
	return ev
}

func (p *phrase) event(l logLine, parts map[string]string) inspect.LogEvent {
	ev := newEvent(l, p.kind, p.family)
	ev.Cause, ev.Error = p.cause, p.err
	if g := parts["group"]; g != "" {
		ev.Group = g
	}
	if m := strings.TrimRight(parts["member"], ".,"); m != "" {
		ev.MemberID = m
	}
	if i := parts["instance"]; i != "" && i != "None" && i != "null" && i != "Optional.empty" {
		ev.InstanceID = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(i, "Some("), "Optional["), ")")
	}
	if g, err := strconv.ParseInt(parts["gen"], 10, 32); err == nil {
		n := int32(g)
		ev.Generation = &n
	}
	if ms, err := strconv.ParseInt(parts["ms"], 10, 48); err == nil {
		ev.Length = inspect.Ms(time.Duration(ms) * time.Millisecond)
	}
	ev.Version = parts["version"]
	ev.Reason = quote(parts["reason"])
	if ev.Error == "" {
		ev.Error = errorName(parts["error"])
	}
	if ev.Error == "" && ev.Broker == nil {
		ev.Error = errorName(l.text)
	}
	if p.more != nil {
		p.more(&ev, parts)
	}
	return ev
}
