package advise

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

var _ = register(Rule{
	ID: "KGD428", Name: "config-refused-logged", Severity: Error, Since: "v0.2.0", Scope: PerLog,
	Needs:     []inspect.Fact{inspect.FactClientLog},
	SymptomOf: []string{"KGD102", "KGD107", "KGD111", "KGD401", "KGD407", "KGD501", "KGD502", "KGD506"},
	Doc: Doc{
		Summary: "A client does not start with its settings, as its log says.",
		Why:     "Client libraries check some settings against each other, and librdkafka every key, before they connect. The line says what was refused.",
		Fix:     "Correct the setting that the line names.",
		Price:   "none",
		Refs:    []string{"ConsumerConfig", "librdkafka CONFIGURATION.md"},
	},
	Check: func(s *Subject, report func(Finding)) {
		es := s.Logged(func(e inspect.LogEvent) bool {
			return e.Sign == inspect.SignConfigRefused || e.Sign == "unknown_key" && e.Family == inspect.Librdkafka
		})
		if len(es) == 0 {
			return
		}
		what, do := s.configRefused(es[0])
		f := s.logged(Error, what, es)
		f.Fix = &Fix{Summary: do}
		report(f)
	},
})

// configRefused says what a line refuses, and what mends just that.
func (s *Subject) configRefused(e inspect.LogEvent) (what, do string) {
	key := e.Reason
	switch {
	case hasText(e, "Heartbeat must be set lower"):
		return "the client does not start: heartbeat.interval.ms must be lower than session.timeout.ms; raise session.timeout.ms (with the default heartbeat of 3 s, above 3 s; 45000 is the default)", ""
	case hasText(e, "assignors must have the same protocol type"):
		return "librdkafka does not start: partition.assignment.strategy mixes eager assignors (range, roundrobin) and cooperative-sticky; name one kind, the same in all members of the group",
			"Name assignors of one kind; to change the kind, stop all members of the group and start them with the new list."
	case outsideRange.MatchString(e.Text):
		return s.refusedRange(outsideRange.FindStringSubmatch(e.Text)), ""
	case key != "" && (hasText(e, "cannot be set when group.protocol") || hasText(e, "not supported for `group.protocol=consumer`")):
		return "the client does not start: " + key + " cannot be set with group.protocol=consumer, where the broker decides" + inParens(present(decidedByBroker[key])),
			"Take " + key + " out, or set group.protocol=classic."
	case e.Sign == "unknown_key" && key != "":
		return s.unknownKey(key)
	case hasText(e, "equest timeout") && hasText(e, "must be larger than session timeout"), hasText(e, "request.timeout.ms should be greater"):
		return "the client does not start: its request timeout must be longer than its session timeout", "Raise the request timeout above the session timeout."
	case hasText(e, "max.poll.interval.ms`must be"):
		return "the client does not start: max.poll.interval.ms is shorter than session.timeout.ms", "Raise max.poll.interval.ms, or lower session.timeout.ms below it."
	case hasText(e, "connections_max_idle_ms ("):
		return "the client does not start: connections_max_idle_ms must be above request_timeout_ms, and that above fetch_max_wait_ms", "Set the three in that order; request_timeout_ms is 305 s by default before kafka-python 3.0, 30 s since, connections_max_idle_ms 9 min."
	case hasText(e, "Heartbeat interval must be lower"):
		return "the client does not start: heartbeat_interval_ms must be lower than session_timeout_ms", "Lower heartbeat_interval_ms to a third of session_timeout_ms."
	case hasText(e, "different values for max_poll_interval_ms"):
		return "the client does not start: the broker is older than Kafka 0.10.1, or api_version says so, and knows no poll interval: max_poll_interval_ms must equal session_timeout_ms there",
			"Set api_version to the version that the brokers have, or leave max_poll_interval_ms out."
	case hasText(e, "Unrecognized configs"):
		return "the client does not start: it knows no setting of the name " + strings.Trim(key, "{}()[],' "), "Correct the spelling (kafka-python writes session_timeout_ms, not session.timeout.ms), or take it out."
	case hasText(e, "Coordinator requires assignors"):
		return "the client does not start: partition_assignment_strategy is empty", "Name an assignor, or leave partition_assignment_strategy out."
	case mustBe.MatchString(e.Text):
		m := mustBe.FindStringSubmatch(e.Text)
		return fmt.Sprintf("the client does not start: %s must not be below %s%s", m[1], m[2], m[3]), fmt.Sprintf("Raise %s to %s%s, or leave it out: where it is not set, librdkafka adjusts it.", m[1], m[2], m[3])
	case hasText(e, "heartbeatInterval"):
		return "the client does not start: heartbeatInterval must be lower than sessionTimeout", "Lower heartbeatInterval to a third of sessionTimeout."
	case ownRefusal(e) != nil:
		return ownRefusal(e)[0], ownRefusal(e)[1]
	case key != "":
		return "the client refuses its settings (" + key + ")", ""
	}
	return "the client refuses its settings", ""
}

// ownRefusals are what the clients in Go and JavaScript refuse, what it means and what mends
// it, by their own words.
var ownRefusals = map[string][]string{
	"either Partition or GroupID":              {"kafka-go does not start: a Reader with GroupID is given its partitions by the group, and takes no Partition", "Take Partition out, or GroupID."},
	"either Topic or GroupTopics":              {"kafka-go does not start: a Reader with GroupID needs Topic or GroupTopics", "Set one of them."},
	"consumer group without a topic":           {"kafka-go does not start: the group has no topic", "Set Topics."},
	"consumer group without an ID":             {"kafka-go does not start: the group has no ID", "Set ID."},
	"invalid direct-partition":                 {"franz-go does not start: ConsumePartitions is for a client without a group", "Take ConsumePartitions out, or ConsumerGroup."},
	"erroneously larger than the session":      {"franz-go does not start: HeartbeatInterval is above SessionTimeout", "Lower HeartbeatInterval to a third of SessionTimeout."},
	"groupId must be a non-empty":              {"kafkajs does not start: the consumer has no groupId", "Set groupId; an environment variable that is not set makes none."},
	"subscribe to topic while":                 {"kafkajs refuses subscribe(): the consumer is running already, and the topic is not consumed", "Call subscribe() for all topics, and wait for it, before run()."},
	"Consumer.Group.InstanceId need Version":   {"sarama does not start: Consumer.Group.InstanceId needs Version V2_3_0_0 or later", "Set Version to V2_3_0_0 or later, up to the version of the brokers, or leave InstanceId out."},
	"cooperative balance strategies require":   {"sarama does not start: a cooperative strategy needs Version V2_4_0_0 or later", "Set Version to V2_4_0_0 or later, up to the version of the brokers."},
	"must be < Consumer.Group.Session.Timeout": {"sarama does not start: Consumer.Group.Heartbeat.Interval must be below Consumer.Group.Session.Timeout", "Lower Heartbeat.Interval to a third of Session.Timeout."},
}

// ownRefusal is what a line of ownRefusals means; nil for other lines.
func ownRefusal(e inspect.LogEvent) []string {
	for words, says := range ownRefusals {
		if hasText(e, words) {
			return says
		}
	}
	return nil
}

// decidedByBroker are the settings of the brokers that stand for a client's own under the
// consumer protocol (KIP-848).
var decidedByBroker = map[string]string{keySession: "group.consumer.session.timeout.ms", keyHeartbeat: "group.consumer.heartbeat.interval.ms", keyAssignors: "group.consumer.assignors"}

// present is a list of the names that there are.
func present(names ...string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return n == "" })
}

// unknownKey says why librdkafka knows no such setting: it is another client's, or of a
// later version.
func (s *Subject) unknownKey(key string) (what, do string) {
	since, has := settings.Has(inspect.Librdkafka, key)
	_, java := settings.Has(inspect.Java, key)
	switch {
	case key == keyRecords:
		return "librdkafka does not start: it has no max.poll.records, a setting of the Java client; it hands out one message at a time (or as many as the call asks for)", "Take max.poll.records out."
	case has && since != "":
		return fmt.Sprintf("this version of librdkafka does not know %s, which came with %s: the client does not start", key, since), fmt.Sprintf("Upgrade librdkafka, that is the library around it, to %s or later, or take %s out.", since, key)
	case !has && java:
		return "librdkafka does not start: it does not know " + key + ", a setting of the Java client", "Take " + key + " out."
	case has:
		return "this version of librdkafka does not know " + key + ": the client does not start", "Upgrade the library, or take " + key + " out."
	}
	return "librdkafka does not start: it knows no setting of the name " + key, "Correct the spelling, or take " + key + " out."
}

// mustBe is how librdkafka refuses one setting against another.
var mustBe = pattern.New("`([a-z.]+)` ?must be >= `([a-z.]+)`( \\+ \\d+)?")

var outsideRange = pattern.New(`"([a-z.]+)" value (\d+) is outside (?:of )?allowed range (-?\d+)\.\.(\d+)`)

// refusedRange says which value is outside of its range, and where it comes from if it is
// no setting of the file: a wrapper that hands on twice as much.
func (s *Subject) refusedRange(m []string) string {
	what := fmt.Sprintf("the client does not start: %s=%s is outside of %s to %s", m[1], m[2], m[3], m[4])
	v, ok := s.limitOf(m[1])
	if got, most := number(m[2]), number(m[4]); ok && v.Timed && 2*v.D.Milliseconds() == got {
		what += fmt.Sprintf(", which is twice the %s of the file: the library around librdkafka doubles it, so that at most %d (%s) can be set", ms(v.D), most/2, span(time.Duration(most/2)*time.Millisecond))
	}
	return what
}

func number(text string) int64 {
	n, _ := whole(text)
	return n
}
