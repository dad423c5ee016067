package clientlog

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

var (
	brokerMember   = regexp.MustCompile(`(?i)(?:adding new member|removing member|updating metadata for (?:static )?member|member|leader) ([^\s;(,]+)`)
	brokerInstance = regexp.MustCompile(`(?:group instance ?id|instance id) (?:Some\()?([^\s;)]+)`)
	clientReason   = regexp.MustCompile(`client reason: (.*)$`)
	encountered    = regexp.MustCompile(`encountered ([A-Z_]+) from`)
	braced         = regexp.MustCompile(`[{(]([^,={}() ]+)`)
)

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
func leaveReason(ev *inspect.LogEvent, parts map[string]string) {
	if ev.Cause = leaveCause(parts["reason"]); ev.Cause == inspect.PollIntervalExceeded {
		ev.Kind = inspect.LogPollTimeout
	}
}

// unlessKnown names the family for a sentence that several libraries share, where the
// frame of the line did not tell.
func unlessKnown(f inspect.Family) func(*inspect.LogEvent, map[string]string) {
	return func(ev *inspect.LogEvent, _ map[string]string) {
		if ev.Family == "" {
			ev.Family = f
		}
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
}

// heartbeatReason tells the harmless heartbeat answers from an eviction.
func heartbeatReason(ev *inspect.LogEvent, parts map[string]string) {
	low := strings.ToLower(parts["reason"])
	switch {
	case strings.Contains(low, "rebalancing"):
		ev.Kind, ev.Error = inspect.LogRejoinRequested, "REBALANCE_IN_PROGRESS"
	case strings.Contains(low, "with stale"):
		// An answer to a heartbeat of the generation before: nothing happened.
	case strings.Contains(low, "member id") && strings.Contains(low, "not valid"),
		strings.Contains(low, "unknown_member_id"), strings.Contains(low, "is unknown"):
		ev.Kind, ev.Error = inspect.LogEvicted, "UNKNOWN_MEMBER_ID"
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

// commitReason: these texts are advice, not a diagnosis, and state no cause.
func commitReason(ev *inspect.LogEvent, _ map[string]string) { ev.Error = "UNKNOWN_MEMBER_ID" }

// transition reads the states of a KIP-848 member.
func transition(ev *inspect.LogEvent, parts map[string]string) {
	switch r := parts["reason"]; {
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

// withReason formats a part as the reason.
func withReason(format, part string) func(*inspect.LogEvent, map[string]string) {
	return func(ev *inspect.LogEvent, parts map[string]string) {
		ev.Reason = quote(fmt.Sprintf(format, parts[part]))
	}
}

// brodReason maps brod's reason atoms.
func brodReason(ev *inspect.LogEvent, parts map[string]string) {
	switch parts["reason"] {
	case "fenced_instance_id":
		ev.Kind, ev.Cause, ev.Error = inspect.LogFenced, inspect.StaticMemberFenced, "FENCED_INSTANCE_ID"
	case "unknown_member_id":
		ev.Kind, ev.Error = inspect.LogEvicted, "UNKNOWN_MEMBER_ID"
	case "rebalance_in_progress":
		ev.Error = "REBALANCE_IN_PROGRESS"
	}
}

// errorTexts are the libraries' sentences for the codes that concern groups
// (org.apache.kafka.common.protocol.Errors and its translations).
var errorTexts = []struct{ text, name string }{
	{"COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_LOAD_IN_PROGRESS"},
	{"oordinator is loading", "COORDINATOR_LOAD_IN_PROGRESS"}, {"oordinator load in progress", "COORDINATOR_LOAD_IN_PROGRESS"},
	{"COORDINATOR_NOT_AVAILABLE", "COORDINATOR_NOT_AVAILABLE"},
	{"coordinator is not available", "COORDINATOR_NOT_AVAILABLE"}, {"oordinator not available", "COORDINATOR_NOT_AVAILABLE"},
	{"Group Coordinator Not Available", "COORDINATOR_NOT_AVAILABLE"}, {"Failed to find group coordinator", "COORDINATOR_NOT_AVAILABLE"},
	{"NOT_COORDINATOR", "NOT_COORDINATOR"}, {"not the correct coordinator", "NOT_COORDINATOR"},
	{"Broker: Not coordinator", "NOT_COORDINATOR"}, {"not coordinated by this broker", "NOT_COORDINATOR"}, {"Not Coordinator For Group", "NOT_COORDINATOR"},
	{"ILLEGAL_GENERATION", "ILLEGAL_GENERATION"}, {"group generation id is not valid", "ILLEGAL_GENERATION"}, {"not the current generation", "ILLEGAL_GENERATION"},
	{"INCONSISTENT_GROUP_PROTOCOL", "INCONSISTENT_GROUP_PROTOCOL"}, {"supported protocols are incompatible", "INCONSISTENT_GROUP_PROTOCOL"},
	{"Inconsistent group protocol", "INCONSISTENT_GROUP_PROTOCOL"}, {"protocol type is incompatible", "INCONSISTENT_GROUP_PROTOCOL"}, {"Inconsistent Group Protocol", "INCONSISTENT_GROUP_PROTOCOL"},
	{"UNKNOWN_MEMBER_ID", "UNKNOWN_MEMBER_ID"}, {"not aware of this member", "UNKNOWN_MEMBER_ID"}, {"Broker: Unknown member", "UNKNOWN_MEMBER_ID"},
	{"member is not known in the current generation", "UNKNOWN_MEMBER_ID"}, {"Unknown Member ID", "UNKNOWN_MEMBER_ID"},
	{"INVALID_SESSION_TIMEOUT", "INVALID_SESSION_TIMEOUT"}, {"session timeout is not within the range", "INVALID_SESSION_TIMEOUT"},
	{"Invalid session timeout", "INVALID_SESSION_TIMEOUT"}, {"session timeout is outside", "INVALID_SESSION_TIMEOUT"},
	{"Invalid Session Timeout", "INVALID_SESSION_TIMEOUT"}, {"InvalidSessionTimeoutException", "INVALID_SESSION_TIMEOUT"},
	{"REBALANCE_IN_PROGRESS", "REBALANCE_IN_PROGRESS"}, {"group is rebalancing, so a rejoin is needed", "REBALANCE_IN_PROGRESS"},
	{"Group rebalance in progress", "REBALANCE_IN_PROGRESS"}, {"rebalance for the group is in progress", "REBALANCE_IN_PROGRESS"}, {"Rebalance In Progress", "REBALANCE_IN_PROGRESS"},
	{"TOPIC_AUTHORIZATION_FAILED", "TOPIC_AUTHORIZATION_FAILED"}, {"Not authorized to access topics", "TOPIC_AUTHORIZATION_FAILED"},
	{"Topic authorization failed", "TOPIC_AUTHORIZATION_FAILED"}, {"not authorized to access this topic", "TOPIC_AUTHORIZATION_FAILED"},
	{"GROUP_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED"}, {"Group authorization failed", "GROUP_AUTHORIZATION_FAILED"},
	{"Not authorized to access group", "GROUP_AUTHORIZATION_FAILED"}, {"not authorized to access this group", "GROUP_AUTHORIZATION_FAILED"}, {"Group Authorization Failed", "GROUP_AUTHORIZATION_FAILED"},
	{"GROUP_MAX_SIZE_REACHED", "GROUP_MAX_SIZE_REACHED"}, {"reached its max size", "GROUP_MAX_SIZE_REACHED"}, {"reached maximum size", "GROUP_MAX_SIZE_REACHED"},
	{"reached its maximum capacity", "GROUP_MAX_SIZE_REACHED"},
	{"FENCED_INSTANCE_ID", "FENCED_INSTANCE_ID"}, {"another consumer with the same group.instance.id", "FENCED_INSTANCE_ID"},
	{"FENCED_MEMBER_EPOCH", "FENCED_MEMBER_EPOCH"}, {"member epoch is fenced", "FENCED_MEMBER_EPOCH"},
	{"UNRELEASED_INSTANCE_ID", "UNRELEASED_INSTANCE_ID"}, {"instance ID is still used by another member", "UNRELEASED_INSTANCE_ID"},
	{"UNSUPPORTED_ASSIGNOR", "UNSUPPORTED_ASSIGNOR"}, {"assignor or its version range is not supported", "UNSUPPORTED_ASSIGNOR"},
	{"STALE_MEMBER_EPOCH", "STALE_MEMBER_EPOCH"}, {"member epoch is stale", "STALE_MEMBER_EPOCH"},
}

// errorName finds the Kafka error that a text names, in any library's words.
func errorName(text string) string {
	if text == "" {
		return ""
	}
	for _, e := range errorTexts {
		if strings.Contains(text, e.text) {
			return e.name
		}
	}
	return ""
}
