package clientlog

import (
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var (
	brokerMember   = pattern.New(`(?i)(?:adding new member|removing member|updating metadata for (?:static )?member|member|leader) ([^\s;(,]+)`)
	brokerInstance = pattern.New(`(?:group instance ?id|instance id) (?:Some\()?([^\s;)]+)`)
	clientReason   = pattern.New(`client reason: (.*)$`)
	encountered    = pattern.New(`encountered ([A-Z_]+) from`)
	pollExcess     = pattern.New(`poll interval \((\d+)ms\) exceeded by (\d+)ms`)
	brokerPort     = pattern.New(`:909\d\b`)
	braced         = pattern.New(`[{(]([^,={}() ]+)`)
)

// meaning says, for the sentences whose parts decide, what has happened.
func meaning(ev *inspect.LogEvent, l *logLine, f found) {
	parts := f.parts
	switch s := f.sentence; {
	case s.sign == inspect.SignPreparing:
		brokerReason(ev, parts)
	case s.sign == inspect.SignRejoinTimeout && parts["reason"] != "":
		firstMember(ev, parts)
	case s.kind == inspect.LogLeft && (parts["reason"] != "" || s.sign == inspect.SignLeaving):
		leaveReason(ev, l, parts)
	case s.sign == "rejoin_reason" || s.sign == "reset":
		rejoinReason(ev, parts)
	case s.sign == "heartbeat":
		heartbeatReason(ev, l.text)
	case s.library == "connect" && s.kind == inspect.LogJoined && strings.Contains(l.text, "Assignment{error=1"):
		ev.Kind, ev.Sign, ev.Length = inspect.LogNote, inspect.SignConfigMismatch, nil
	case s.sign == inspect.SignCoordinatorDead && strings.HasPrefix(parts["reason"], "session timed out without receiving a heartbeat"):
		ev.Sign = inspect.SignSessionLost
	case s.kind == inspect.LogPollTimeout && ev.Limit == nil:
		if m := pollExcess.FindStringSubmatch(l.text); m != nil { // behind the error's own words
			ev.Limit, ev.Length = millis(m[1]), millis(m[2])
		}
	case s.sign == inspect.SignJoinAnswered && !strings.Contains(l.text, "no error"):
		ev.Sign = "join_failed"
	case s.sign == "transition":
		transition(ev, l.text)
	case s.sign == "brod_reason", s.sign == "brod_leaving" && strings.Contains(parts["reason"], "_closed"):
		brodReason(ev, parts)
	case s.sign == "response_error":
		ev.Error = errorName(l.text)
		byError(ev, ev.API == "OffsetCommit")
		if ev.Kind == inspect.LogHeartbeatFailed && ev.API != "Heartbeat" {
			ev.Kind = inspect.LogError
		}
		if ev.Error == "" && ev.API != "Heartbeat" {
			ev.Kind = "" // its error stands in a field that was not logged
		}
		return
	case s.sign == inspect.SignConnectFailed && s.library == "any" && ev.Family == "" && !distinct.MatchString(l.raw) && !brokerPort.MatchString(l.raw):
		ev.Kind = "" // of some other server
	case s.sign == inspect.SignRequestTimeout:
		timedOut(ev)
	case s.sign == inspect.SignISRShrink && ev.OffsetsPartition == nil:
		ev.Kind = "" // of a topic that has nothing to do with groups
	case s.sign == inspect.SignAppendFailed && ev.OffsetsPartition == nil && strings.HasPrefix(s.template, "Error processing append") && !strings.Contains(l.text, "__consumer_offsets"):
		ev.Kind = "" // the same
	case s.sign == inspect.SignSessionExpired && parts["reason"] != "":
		fencedBecause(ev, parts["reason"])
	case s.sign == "harmless": // an error by its name, but of a library that goes on
		return
	case s.sign == inspect.SignPendingRemoved, s.sign == inspect.SignCommitRefused:
		return
	}
	fromError(ev, l, parts)
}

// fencedBecause reads why the coordinator of Kafka 4 put a member out.
func fencedBecause(ev *inspect.LogEvent, reason string) {
	switch {
	case strings.Contains(reason, "failed to join"):
		ev.Cause, ev.Sign = inspect.RejoinTimedOut, inspect.SignRejoinTimeout
	case strings.Contains(reason, "failed to sync"):
		ev.Cause = inspect.SyncPhaseExpired
	}
}

// timedOut tells what a request that was given up was for.
func timedOut(ev *inspect.LogEvent) {
	switch ev.API {
	case "Heartbeat", "ConsumerGroupHeartbeat":
		ev.Kind = inspect.LogHeartbeatFailed
	case "", "Metadata", "FindCoordinator", "GroupCoordinator", "ApiVersion":
		ev.Kind = inspect.LogCoordinatorLost
	default:
		ev.Kind = inspect.LogError
	}
}

// fromError takes the error that the line names, where the sentence has none of its
// own.
func fromError(ev *inspect.LogEvent, l *logLine, parts map[string]string) {
	if ev.Error == "" {
		ev.Error = errorName(parts["error"])
	}
	if ev.Error == "" && ev.Broker == nil {
		ev.Error = errorName(l.text)
	}
	if ev.Kind == inspect.LogCommitFailed && ev.Error == "" && (strings.Contains(l.text, "not part of an active group") || strings.Contains(l.text, "group has already rebalanced")) {
		ev.Error = "UNKNOWN_MEMBER_ID"
	}
	if ev.Reason == "" {
		ev.Reason = quote(parts["error"])
	}
	if ev.Sign == "fatal" && ev.Error == "" && ev.Family != inspect.Java {
		ev.Kind = "" // fatal errors are not librdkafka's alone
		return
	}
	switch {
	case ev.Kind == inspect.LogHeartbeatFailed && ev.Sign == "heartbeat",
		ev.Kind == inspect.LogError && (ev.Sign == "join_failed" || ev.Sign == "manage_loop" || ev.Sign == "fatal"),
		ev.Kind == inspect.LogRebalance && ev.Sign == "sync_failed":
		byError(ev, false)
	}
}

// errorName is the Kafka error that a text names; "" for none.
func errorName(text string) string {
	c, ok := library().errorIn(text)
	if !ok {
		return ""
	}
	return c.Name
}

// brokerReason reads the "(reason: …)" of a Preparing line: the coordinator's own
// account of why (since Kafka 2.1), with the client's reason inside it since 3.2.
func brokerReason(ev *inspect.LogEvent, parts map[string]string) {
	r := parts["reason"]
	if m := brokerMember.FindStringSubmatch(r); m != nil {
		ev.MemberID = m[1]
	}
	if m := brokerInstance.FindStringSubmatch(r); m != nil && m[1] != "None" && m[1] != "null" {
		ev.InstanceID = m[1]
	}
	client := ""
	if m := clientReason.FindStringSubmatch(r); m != nil {
		client = m[1]
	}
	low := strings.ToLower(r)
	switch {
	case strings.Contains(low, "on pending sync request expiration"),
		strings.Contains(low, "on heartbeat expiration") && (ev.State == "CompletingRebalance" || ev.State == "AwaitingSync"):
		ev.Cause = inspect.SyncPhaseExpired
	case strings.Contains(low, "on heartbeat expiration"):
		ev.Cause = inspect.SessionExpired
	case strings.Contains(low, "leavegroup"):
		ev.Cause = leaveCause(client)
		if i := strings.Index(r, "for ("); i >= 0 { // the new coordinator lists the members
			ev.MemberID = strings.TrimSuffix(strings.SplitN(r[i+len("for ("):], ")", 2)[0], ",")
			if strings.Contains(ev.MemberID, ",") {
				ev.MemberID = ""
			}
		}
	case strings.Contains(low, "when storing group assignment"):
		ev.Cause = inspect.AssignmentFailed
	case strings.Contains(low, "selectedprotocol will change"):
		ev.Cause = inspect.AssignorChanged
	case strings.HasPrefix(low, "downgrade group"):
		ev.Cause = inspect.ProtocolChanged
	case strings.Contains(client, "metadata has changed"):
		ev.Cause = inspect.TopicMetadataChanged
	case strings.Contains(client, "subscription has changed"):
		ev.Cause = inspect.SubscriptionChanged
	case strings.HasPrefix(low, "adding new member"):
		ev.Cause = inspect.MemberJoined
	}
}

// leaveCause is what a client said when it left.
func leaveCause(reason string) inspect.Cause {
	if strings.Contains(strings.ToLower(reason), "poll timeout has expired") {
		return inspect.PollIntervalExceeded
	}
	return inspect.MemberLeft
}

// leaveReason turns a leave because of the poll interval into a poll timeout.
func leaveReason(ev *inspect.LogEvent, l *logLine, parts map[string]string) {
	// Only a poll timeout makes the heartbeat thread itself leave.
	byThread := ev.Sign == inspect.SignLeaving && strings.HasPrefix(l.thread, "kafka-coordinator-heartbeat-thread") && parts["reason"] == ""
	if ev.Cause = leaveCause(parts["reason"]); ev.Cause == inspect.PollIntervalExceeded || byThread {
		ev.Kind, ev.Cause = inspect.LogPollTimeout, inspect.PollIntervalExceeded
	}
}

// rejoinReason reads "Request joining group due to: …" (Java 3.0+).
func rejoinReason(ev *inspect.LogEvent, parts map[string]string) {
	r := parts["reason"]
	switch {
	case strings.Contains(r, "cached metadata has changed"):
		ev.Cause = inspect.TopicMetadataChanged
	case strings.Contains(r, "subscription has changed"):
		ev.Cause = inspect.SubscriptionChanged
	case strings.Contains(r, "encountered UNKNOWN_MEMBER_ID"), strings.Contains(r, "encountered ILLEGAL_GENERATION"),
		strings.Contains(r, "modified by heartbeat thread"):
		ev.Kind = inspect.LogEvicted
	}
	if m := encountered.FindStringSubmatch(r); m != nil {
		ev.Error = m[1]
	}
	switch {
	case strings.Contains(r, "group is already rebalancing"):
		ev.Sign, ev.Error = inspect.SignAlreadyRebalancing, "REBALANCE_IN_PROGRESS"
	case strings.Contains(r, "metadata has changed"):
		ev.Sign = inspect.SignMetadataChanged
	case ev.Kind == inspect.LogEvicted:
		ev.Sign = inspect.SignUnknownMember
	}
}

// heartbeatReason tells the harmless heartbeat answers from an eviction.
func heartbeatReason(ev *inspect.LogEvent, text string) {
	low := strings.ToLower(text)
	switch {
	case strings.Contains(low, "rebalancing"), strings.Contains(low, "rebalance in progress"), strings.Contains(low, "rebalance_in_progress"):
		ev.Kind, ev.Error, ev.Sign = inspect.LogRejoinRequested, "REBALANCE_IN_PROGRESS", inspect.SignAlreadyRebalancing
	case strings.Contains(low, "does not support the new consumer group protocol"):
		ev.Kind, ev.Error, ev.Sign = inspect.LogError, "UNSUPPORTED_VERSION", "consumer_protocol"
	case strings.Contains(low, "with stale"):
		ev.Sign = "stale_heartbeat" // an answer to a heartbeat of the generation before: nothing happened
	case strings.Contains(low, "member id") && strings.Contains(low, "not valid"),
		strings.Contains(low, "unknown_member_id"), strings.Contains(low, "is unknown"):
		ev.Kind, ev.Error, ev.Sign = inspect.LogEvicted, "UNKNOWN_MEMBER_ID", inspect.SignUnknownMember
	case strings.Contains(low, "fenced_instance_id"), strings.Contains(low, "fenced instance id"):
		ev.Kind, ev.Error, ev.Cause = inspect.LogFenced, "FENCED_INSTANCE_ID", inspect.StaticMemberFenced
	case strings.Contains(low, "is fenced"):
		ev.Kind, ev.Error = inspect.LogEvicted, "FENCED_MEMBER_EPOCH"
	case strings.Contains(low, "not  current"), strings.Contains(low, "not current"):
		ev.Kind, ev.Error = inspect.LogEvicted, "ILLEGAL_GENERATION"
	case strings.Contains(low, "group authorization"):
		ev.Kind, ev.Error = inspect.LogError, "GROUP_AUTHORIZATION_FAILED"
	}
}

// transition reads the states of a KIP-848 member.
func transition(ev *inspect.LogEvent, text string) {
	if i := strings.Index(text, " transitioned "); i >= 0 {
		ev.Reason = quote(strings.TrimRight(text[i+len(" transitioned "):], ". "))
	}
	switch r := ev.Reason; {
	case strings.HasPrefix(r, "from JOINING to ") && !strings.HasSuffix(r, " FATAL") && !strings.HasSuffix(r, " FENCED") && !strings.HasSuffix(r, " LEAVING"):
		ev.Kind = inspect.LogJoined
	case strings.HasSuffix(r, " FATAL"):
		ev.Kind = inspect.LogError
	case strings.HasSuffix(r, " FENCED"):
		ev.Kind = inspect.LogEvicted
	case strings.HasSuffix(r, " STALE"):
		ev.Kind, ev.Cause = inspect.LogPollTimeout, inspect.PollIntervalExceeded
	}
}

// firstMember takes the member out of a printed set where it holds just one.
func firstMember(ev *inspect.LogEvent, parts map[string]string) {
	r := parts["reason"]
	if m := braced.FindStringSubmatch(r); m != nil && strings.Count(r, ",") == 0 {
		ev.MemberID = m[1]
	}
}

// brodOldReasons are the atoms of brod before 3.0.
var brodOldReasons = map[string]string{"UnknownMemberId": "unknown_member_id", "RebalanceInProgress": "rebalance_in_progress", "FencedInstanceId": "fenced_instance_id", "IllegalGeneration": "illegal_generation"}

// brodReason maps brod's reason atoms.
func brodReason(ev *inspect.LogEvent, parts map[string]string) {
	reason := strings.Trim(parts["reason"], ":\"")
	if old, ok := brodOldReasons[reason]; ok {
		reason = old
	}
	switch reason {
	case "fenced_instance_id":
		ev.Kind, ev.Cause, ev.Error = inspect.LogFenced, inspect.StaticMemberFenced, "FENCED_INSTANCE_ID"
	case "unknown_member_id":
		ev.Kind, ev.Error, ev.Sign = inspect.LogEvicted, "UNKNOWN_MEMBER_ID", inspect.SignUnknownMember
	case "{connection_down, {:shutdown, :tcp_closed}}", "{connection_down,{shutdown,tcp_closed}}", "{:connection_down, {:shutdown, :ssl_closed}}", "{connection_down,{shutdown,ssl_closed}}",
		"{shutdown,ssl_closed}", "{shutdown,tcp_closed}", "{:shutdown, :ssl_closed}", "{:shutdown, :tcp_closed}", "{:connection_down, {:shutdown, :tcp_closed}}":
		ev.Kind, ev.Cause, ev.Sign = inspect.LogNote, "", inspect.SignConnectionClosed
	case "illegal_generation":
		ev.Kind, ev.Error = inspect.LogEvicted, "ILLEGAL_GENERATION"
	case "rebalance_in_progress":
		ev.Error, ev.Sign = "REBALANCE_IN_PROGRESS", inspect.SignAlreadyRebalancing
	}
}
