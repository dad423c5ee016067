package clientlog

import (
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// match reads a message: a pause of the process, a sentence of a library, or the
// Kafka error that it names. Known says that the line is of a group's code, event or
// not.
func match(l *logLine) (ev inspect.LogEvent, known, ok bool) {
	if ev, ok := pause(l); ok {
		return ev, true, true
	}
	if ev, ok := unsupportedRange(l); ok {
		return ev, true, true
	}
	b := library()
	if f, ok := b.find(l); ok {
		if l.context.family == "" && l.context.broker == nil {
			l.context.family = f.sentence.family
		}
		if f.sentence.kind == frameEvent {
			l.context.group, l.context.gen = or(f.parts["group"], l.context.group), or(f.parts["gen"], l.context.gen)
			return inspect.LogEvent{}, true, false
		}
		if f.sentence.sign == inspect.SignClaimEnded {
			if ev, ok := claimed(l, f); ok {
				return ev, true, true
			}
		}
		if f.sentence.kind != "" {
			ev := newEvent(l, f)
			meaning(&ev, l, f)
			return ev, true, ev.Kind != ""
		}
		// What is noise by itself may carry an error.
		if ev, ok := bareError(l); ok && ev.Kind != "" {
			return ev, true, true
		}
		return inspect.LogEvent{}, true, false
	}
	ev, ok = bareError(l)
	return ev, ok, ok
}

// claimed is the error that sarama reports of a claim, where it is one of Kafka or of the
// connection; false where it is the application's own.
func claimed(l *logLine, f found) (inspect.LogEvent, bool) {
	inner := *l
	inner.text, inner.message = f.parts["reason"], f.parts["reason"]
	inner.context.family = inspect.Sarama
	ev, _, ok := match(&inner)
	return ev, ok && ev.Kind != inspect.LogNote
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// bareError is the event of a line whose sentence is not known, but which names a
// Kafka error.
func bareError(l *logLine) (inspect.LogEvent, bool) {
	c, ok := library().errorIn(l.text)
	if !ok || c.Number == 79 || quiet(l.level) && (c.Meaning == "" || c.Number == 0) {
		return inspect.LogEvent{}, false // MEMBER_ID_REQUIRED is part of each start
	}
	ev := l.event(inspect.LogError)
	ev.Error = c.Name
	if c.Number == 0 {
		return ev, true
	}
	if !quiet(l.level) || c.Meaning != "" {
		low := strings.ToLower(l.text)
		if byError(&ev, strings.Contains(low, "commit")); ev.Kind == inspect.LogEvicted && strings.Contains(low, "heartbeat") {
			ev.Sign = inspect.SignUnknownMember
		}
		if ev.Sign == inspect.SignAlreadyRebalancing && (l.context.family == inspect.KafkaGo || strings.Contains(l.text, "[27] Rebalance In Progress")) {
			ev.Sign = inspect.SignRebalanceTold // its heartbeats end the generation and log nothing of it
		}
	}
	return ev, true
}

// quiet are the levels at which an error that is not of groups is nobody's concern.
func quiet(level string) bool {
	switch level {
	case "trace", "debug", "dbg", "vrb", "fine":
		return true
	}
	return false
}

// byError makes of an error what it says about the member.
func byError(ev *inspect.LogEvent, commit bool) {
	switch {
	case commit:
		ev.Kind = inspect.LogCommitFailed
	case ev.Error == "UNKNOWN_MEMBER_ID", ev.Error == "ILLEGAL_GENERATION", ev.Error == "FENCED_MEMBER_EPOCH":
		ev.Kind = inspect.LogEvicted
	case ev.Error == "REBALANCE_IN_PROGRESS":
		ev.Kind, ev.Sign = inspect.LogRejoinRequested, inspect.SignAlreadyRebalancing
	case ev.Error == "FENCED_INSTANCE_ID", ev.Error == "UNRELEASED_INSTANCE_ID":
		ev.Kind, ev.Cause = inspect.LogFenced, inspect.StaticMemberFenced
	case ev.Error == "NOT_COORDINATOR", ev.Error == "COORDINATOR_NOT_AVAILABLE", ev.Error == "COORDINATOR_LOAD_IN_PROGRESS":
		ev.Kind = inspect.LogCoordinatorLost
	}
}

// event is what the envelope alone says.
func (l *logLine) event(kind inspect.LogKind) inspect.LogEvent {
	ev := inspect.LogEvent{Kind: kind, Group: l.context.group, ClientID: l.context.client, MemberID: l.context.member, InstanceID: unwrapOptional(l.context.instance),
		Broker: l.context.broker, Node: l.context.node, OffsetsPartition: l.context.partition, Family: l.context.family, Version: l.context.version, Thread: l.thread}
	if ev.Broker != nil {
		ev.Family = "" // a coordinator's line says nothing about the client's library
	}
	ev.Generation = generation(l.context.gen)
	return ev
}

var (
	generationObject = pattern.New(`generationId=(-?\d+)(?:, memberId='([^']*)')?`)
	nodeID           = pattern.New(`\bid: (-?\d+)`)
)

func generation(s string) *int32 {
	if m := generationObject.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	return int32Of(strings.TrimSpace(s))
}

// newEvent makes the event of a sentence from its parts.
func newEvent(l *logLine, f found) inspect.LogEvent {
	s, parts := f.sentence, f.parts
	ev := l.event(s.kind)
	ev.Sign, ev.Cause, ev.Error = s.sign, s.cause, s.err
	if s.family != "" && ev.Broker == nil && (ev.Family == "" || s.library == "streams" || s.library == "connect") {
		ev.Family = s.family
	}
	if s.library == "broker" {
		ev.Family = ""
	}
	ev.Group = or(plain(parts["group"]), ev.Group)
	ev.MemberID = or(strings.TrimRight(plain(parts["member"]), ".,"), ev.MemberID)
	ev.InstanceID = or(unwrapOptional(parts["instance"]), ev.InstanceID)
	ev.ClientID = or(parts["client"], ev.ClientID)
	if g := parts["gen"]; g != "" {
		if ev.Generation = generation(g); ev.Generation == nil && l.context.gen != "" {
			ev.Generation = generation(l.context.gen)
		}
		if m := generationObject.FindStringSubmatch(g); m != nil {
			ev.MemberID = or(ev.MemberID, m[2])
		}
	}
	ev.Length, ev.Limit = millis(parts["ms"]), millis(parts["limit"])
	if sec, err := strconv.ParseFloat(parts["seconds"], 64); err == nil && sec < 1e9 {
		ev.Length = inspect.Ms(time.Duration(sec * float64(time.Second)))
	}
	if n := parts["node"]; n != "" {
		ev.Node = nodeOf(n, ev.Node)
	}
	if p := int32Of(parts["partition"]); p != nil {
		ev.OffsetsPartition = p
	}
	ev.Version, ev.State, ev.API = or(parts["version"], ev.Version), parts["state"], parts["api"]
	ev.Topics, ev.Reason = quote(parts["topics"]), quote(strings.TrimRight(or(parts["reason"], strings.TrimRight(parts["key"], "\\\"'})")), "."))
	return ev
}

// plain is a name without the quotes that a library puts around it.
func plain(s string) string { return strings.Trim(s, "\"'`") }

// unwrapOptional takes "Some(x)" and "Optional[x]" off; nothing for None and null.
func unwrapOptional(s string) string {
	s = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(s), "Some("), "Optional["), ")"), "]")
	switch s {
	case "None", "null", "Optional.empty", "<nil>", "nil":
		return ""
	}
	return s
}

func millis(s string) *inspect.Millis {
	if s == "" {
		return nil
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || n > 1e13 {
		return nil
	}
	return inspect.Ms(time.Duration(n * float64(time.Millisecond)))
}

// coordinatorID is what Java clients subtract a coordinator's id from, to give it a
// connection of its own.
const coordinatorID = 2147483647

// nodeOf reads a broker's id from "2", "host:9092 (id: 2147483645 rack: null)" and
// their like; -1 is no broker.
func nodeOf(s string, otherwise *int32) *int32 {
	if m := nodeID.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(s, "coordinator-"), 10, 64)
	if err != nil || n < 0 || n > coordinatorID {
		return otherwise
	}
	if n > coordinatorID/2 {
		n = coordinatorID - n
	}
	id := int32(n)
	return &id
}

var vsnRange = pattern.New(`unsupported_vsn_range,\s*:?(\w+),\s*\{(\d+),\s*(\d+)\},\s*\{(\d+),\s*(\d+)\}`)

// unsupportedRange reads brod's account of a request of which client and broker share
// no version.
func unsupportedRange(l *logLine) (inspect.LogEvent, bool) {
	m := vsnRange.FindStringSubmatch(l.text)
	if m == nil {
		return inspect.LogEvent{}, false
	}
	ev := l.event(inspect.LogError)
	ev.Family, ev.Sign, ev.Error, ev.API = inspect.Brod, inspect.SignUnsupportedRange, "UNSUPPORTED_VERSION", apiName(m[1])
	ev.Reason = "the client speaks " + m[1] + " " + m[2] + " to " + m[3] + ", the broker " + m[4] + " to " + m[5]
	return ev, true
}

// apiName is "JoinGroup" for "join_group".
func apiName(atom string) string {
	var b strings.Builder
	for _, w := range strings.Split(atom, "_") {
		if w != "" {
			b.WriteString(strings.ToUpper(w[:1]) + w[1:])
		}
	}
	return b.String()
}
