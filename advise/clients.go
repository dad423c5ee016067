package advise

import (
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

// The settings that rules speak of, under their Java names. rebalance.timeout.ms is
// Connect's name and stands for the RebalanceTimeout of the Go clients, kafkajs'
// rebalanceTimeout and aiokafka's rebalance_timeout_ms.
const (
	keySession   = "session.timeout.ms"
	keyHeartbeat = "heartbeat.interval.ms"
	keyPoll      = "max.poll.interval.ms"
	keyRecords   = "max.poll.records"
	keyRebalance = "rebalance.timeout.ms"
	keyRequest   = "request.timeout.ms"
	keyAPI       = "default.api.timeout.ms"
	keySocket    = "socket.timeout.ms"
	keyIdle      = "connections.max.idle.ms"
	keyFetchWait = "fetch.max.wait.ms"
	keyProtocol  = "group.protocol"
	keyRemote    = "group.remote.assignor"
	keyInstance  = "group.instance.id"
	keyAssignors = "partition.assignment.strategy"
	keyBootstrap = "bootstrap.servers"
	keyDelay     = "scheduled.rebalance.max.delay.ms"
	keyTaskIdle  = "max.task.idle.ms"
	keyMetadata  = "metadata.max.age.ms"
	keyGroup     = "group.id"
)

// Default is the default value of one setting in a range of versions of a client.
type Default struct {
	Family inspect.Family
	Key    string // Java name
	Since  string // first version, inclusive; "" from the beginning
	Before string // first version that no longer has it; "" still so
	Value  string
	Source string
}

// defaults is the table of client defaults. The order does not matter; ranges of
// one key do not overlap.
var defaults = []Default{
	{inspect.Java, keySession, "", "0.10.1", "30000", "ConsumerConfig 0.9"},
	{inspect.Java, keySession, "0.10.1", "3.0", "10000", "ConsumerConfig 0.10.1, KIP-62"},
	{inspect.Java, keySession, "3.0", "", "45000", "ConsumerConfig 3.0, KIP-735"},
	{inspect.Java, keyHeartbeat, "", "", "3000", "ConsumerConfig"},
	{inspect.Java, keyPoll, "0.10.1", "", "300000", "ConsumerConfig 0.10.1, KIP-62"},
	{inspect.Java, keyRecords, "0.10.0", "0.10.1", "2147483647", "ConsumerConfig 0.10.0, KIP-41"},
	{inspect.Java, keyRecords, "0.10.1", "", "500", "ConsumerConfig 0.10.1"},
	{inspect.Java, keyRequest, "", "0.10.1", "40000", "ConsumerConfig 0.9"},
	{inspect.Java, keyRequest, "0.10.1", "2.0", "305000", "ConsumerConfig 0.10.1"},
	{inspect.Java, keyRequest, "2.0", "", "30000", "ConsumerConfig 2.0, KIP-266"},
	{inspect.Java, keyAPI, "2.0", "", "60000", "ConsumerConfig 2.0, KIP-266"},
	{inspect.Java, keyAssignors, "", "3.0", "range", "ConsumerConfig"},
	{inspect.Java, keyAssignors, "3.0", "", "range,cooperative-sticky", "ConsumerConfig 3.0"},
	{inspect.Java, keyProtocol, "3.7", "", "classic", "ConsumerConfig 3.7, KIP-848"},
	{inspect.Java, keyIdle, "", "", "540000", "ConsumerConfig"},
	{inspect.Java, keyFetchWait, "", "", "500", "ConsumerConfig"},
	{inspect.Java, keyMetadata, "", "", "300000", "ConsumerConfig"},

	{inspect.StreamsLib, keySession, "", "0.10.1", "30000", "ConsumerConfig 0.9"},
	{inspect.StreamsLib, keySession, "0.10.1", "3.0", "10000", "ConsumerConfig 0.10.1"},
	{inspect.StreamsLib, keySession, "3.0", "", "45000", "ConsumerConfig 3.0, KIP-735"},
	{inspect.StreamsLib, keyHeartbeat, "", "", "3000", "ConsumerConfig"},
	{inspect.StreamsLib, keyPoll, "0.10.1", "0.10.2", "300000", "ConsumerConfig 0.10.1"},
	{inspect.StreamsLib, keyPoll, "0.10.2", "2.3", "2147483647", "StreamsConfig 0.10.2"},
	{inspect.StreamsLib, keyPoll, "2.3", "", "300000", "StreamsConfig 2.3, KIP-442"},
	{inspect.StreamsLib, keyRecords, "", "", "1000", "StreamsConfig"},
	{inspect.StreamsLib, keyRequest, "", "2.0", "305000", "ConsumerConfig 0.10.1"},
	{inspect.StreamsLib, keyRequest, "2.0", "", "30000", "ConsumerConfig 2.0"},
	{inspect.StreamsLib, keyIdle, "", "", "540000", "ConsumerConfig"},
	{inspect.StreamsLib, keyTaskIdle, "", "", "0", "StreamsConfig"},

	{inspect.Connect, keySession, "", "", "10000", "DistributedConfig"},
	{inspect.Connect, keyHeartbeat, "", "", "3000", "DistributedConfig"},
	{inspect.Connect, keyRebalance, "", "", "60000", "DistributedConfig"},
	{inspect.Connect, keyDelay, "2.3", "", "300000", "DistributedConfig 2.3, KIP-415"},
	{inspect.Connect, keyRequest, "", "", "40000", "DistributedConfig"},
	{inspect.Connect, keyIdle, "", "", "540000", "DistributedConfig"},

	{inspect.Librdkafka, keySession, "", "1.0", "30000", "rdkafka_conf.c 0.11"},
	{inspect.Librdkafka, keySession, "1.0", "1.7", "10000", "rdkafka_conf.c 1.0"},
	{inspect.Librdkafka, keySession, "1.7", "", "45000", "rdkafka_conf.c 1.7"},
	{inspect.Librdkafka, keyHeartbeat, "", "1.0", "1000", "rdkafka_conf.c 0.11"},
	{inspect.Librdkafka, keyHeartbeat, "1.0", "", "3000", "rdkafka_conf.c 1.0"},
	{inspect.Librdkafka, keyPoll, "1.0", "", "300000", "rdkafka_conf.c 1.0"},
	{inspect.Librdkafka, keySocket, "", "", "60000", "rdkafka_conf.c"},
	{inspect.Librdkafka, keyAssignors, "", "", "range,roundrobin", "rdkafka_conf.c"},
	{inspect.Librdkafka, keyProtocol, "2.4", "", "classic", "rdkafka_conf.c 2.4, KIP-848"},
	{inspect.Librdkafka, keyIdle, "1.7", "", "0", "rdkafka_conf.c 1.7"},
	{inspect.Librdkafka, keyFetchWait, "", "", "500", "rdkafka_conf.c"},

	{inspect.Sarama, keySession, "", "", "10000", "config.go NewConfig"},
	{inspect.Sarama, keyHeartbeat, "", "", "3000", "config.go NewConfig"},
	{inspect.Sarama, keyRebalance, "", "", "60000", "config.go NewConfig"},
	{inspect.Sarama, keySocket, "", "", "30000", "config.go NewConfig: Net.ReadTimeout"},
	{inspect.Sarama, keyAssignors, "", "", "range", "config.go NewConfig"},

	{inspect.FranzGo, keySession, "", "", "45000", "kgo config.go defaultCfg"},
	{inspect.FranzGo, keyHeartbeat, "", "", "3000", "kgo config.go defaultCfg"},
	{inspect.FranzGo, keyRebalance, "", "", "60000", "kgo config.go defaultCfg"},
	{inspect.FranzGo, keyAssignors, "", "", "cooperative-sticky", "kgo config.go defaultCfg"},

	{inspect.KafkaGo, keySession, "", "", "30000", "consumergroup.go"},
	{inspect.KafkaGo, keyHeartbeat, "", "", "3000", "consumergroup.go"},
	{inspect.KafkaGo, keyRebalance, "", "", "30000", "consumergroup.go"},
	{inspect.KafkaGo, keyAssignors, "", "", "range,roundrobin", "consumergroup.go"},

	{inspect.KafkaJS, keySession, "", "", "30000", "consumer/index.js"},
	{inspect.KafkaJS, keyHeartbeat, "", "", "3000", "consumer/index.js"},
	{inspect.KafkaJS, keyRebalance, "", "", "60000", "consumer/index.js"},
	{inspect.KafkaJS, keyRequest, "", "", "30000", "network/requestQueue"},
	{inspect.KafkaJS, keyAssignors, "", "", "RoundRobinAssigner", "consumer/assigners"},

	{inspect.KafkaPython, keySession, "", "1.4", "30000", "consumer/group.py 1.3"},
	{inspect.KafkaPython, keySession, "1.4", "3.0", "10000", "consumer/group.py 1.4"},
	{inspect.KafkaPython, keySession, "3.0", "", "45000", "consumer/group.py 3.0 (30000 with brokers before 3.0)"},
	{inspect.KafkaPython, keyHeartbeat, "", "", "3000", "consumer/group.py"},
	{inspect.KafkaPython, keyPoll, "1.4", "", "300000", "consumer/group.py 1.4"},
	{inspect.KafkaPython, keyRecords, "1.4", "", "500", "consumer/group.py 1.4"},
	{inspect.KafkaPython, keyRequest, "", "1.4", "40000", "consumer/group.py 1.3"},
	{inspect.KafkaPython, keyRequest, "1.4", "3.0", "305000", "consumer/group.py 1.4"},
	{inspect.KafkaPython, keyRequest, "3.0", "", "30000", "consumer/group.py 3.0"},
	{inspect.KafkaPython, keyIdle, "", "", "540000", "consumer/group.py"},
	{inspect.KafkaPython, keyAssignors, "", "", "range,roundrobin", "consumer/group.py"},

	{inspect.AIOKafka, keySession, "", "", "10000", "aiokafka consumer.py"},
	{inspect.AIOKafka, keyHeartbeat, "", "", "3000", "aiokafka consumer.py"},
	{inspect.AIOKafka, keyPoll, "", "", "300000", "aiokafka consumer.py"},
	{inspect.AIOKafka, keyRequest, "", "", "40000", "aiokafka consumer.py"},
	{inspect.AIOKafka, keyIdle, "", "", "540000", "aiokafka consumer.py"},
	{inspect.AIOKafka, keyAssignors, "", "", "roundrobin", "aiokafka consumer.py"},
}

// newest is the newest version of each client whose defaults are in the table. It
// stands in where no version is known.
var newest = map[inspect.Family]string{
	inspect.Java: "4.3", inspect.StreamsLib: "4.3", inspect.Connect: "4.3", inspect.Librdkafka: "2.16", inspect.Sarama: "1.60",
	inspect.FranzGo: "1.22", inspect.KafkaGo: "0.4.50", inspect.KafkaJS: "2.2.4", inspect.KafkaPython: "3.1", inspect.AIOKafka: "0.14",
}

// Clients lists the client families that --client accepts, with the newest version
// that is known of each.
func Clients() map[inspect.Family]string {
	out := make(map[inspect.Family]string, len(newest))
	for f, v := range newest {
		out[f] = v
	}
	return out
}

// Defaults lists the table of client defaults.
func Defaults() []Default { return append([]Default(nil), defaults...) }

// defaultOf is the default of a setting for a client; version "" is the newest.
func defaultOf(f inspect.Family, version, key string) (Default, bool) {
	if version == "" {
		version = newest[f]
	}
	for _, d := range defaults {
		if d.Family == f && d.Key == key && atLeast(version, d.Since) && (d.Before == "" || !atLeast(version, d.Before)) {
			return d, true
		}
	}
	return Default{}, false
}

// atLeast reports whether version is at least limit, comparing numbers between
// dots; "" as limit is always reached, and a missing part counts as zero.
func atLeast(version, limit string) bool {
	if limit == "" {
		return true
	}
	a, b := versionParts(version), versionParts(limit)
	for i := range max(len(a), len(b)) {
		x, y := 0, 0
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return x > y
		}
	}
	return true
}

// versionParts reads the numbers of "v2.16.0-rc1"; everything from the first part
// that is no number on is dropped.
func versionParts(v string) []int {
	var out []int
	for _, part := range strings.Split(strings.TrimPrefix(v, "v"), ".") {
		digits := part
		if i := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
			digits = part[:i]
		}
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		out = append(out, n)
		if digits != part {
			break
		}
	}
	return out
}

// spellings are the names of settings in the libraries that do not use Kafka's.
var spellings = map[inspect.Family]map[string]string{
	inspect.Sarama: {keySession: "Consumer.Group.Session.Timeout", keyHeartbeat: "Consumer.Group.Heartbeat.Interval",
		keyRebalance: "Consumer.Group.Rebalance.Timeout", keySocket: "Net.ReadTimeout", keyInstance: "Consumer.Group.InstanceId",
		keyAssignors: "Consumer.Group.Rebalance.GroupStrategies"},
	inspect.FranzGo: {keySession: "kgo.SessionTimeout", keyHeartbeat: "kgo.HeartbeatInterval", keyRebalance: "kgo.RebalanceTimeout",
		keyInstance: "kgo.InstanceID", keyAssignors: "kgo.Balancers"},
	inspect.KafkaGo: {keySession: "SessionTimeout", keyHeartbeat: "HeartbeatInterval", keyRebalance: "RebalanceTimeout",
		keyAssignors: "GroupBalancers"},
	inspect.KafkaJS: {keySession: "sessionTimeout", keyHeartbeat: "heartbeatInterval", keyRebalance: "rebalanceTimeout",
		keyRequest: "requestTimeout", keyMetadata: "metadataMaxAge", keyAssignors: "partitionAssigners"},
}

// Spell is how a client spells a setting that its configuration does not have yet.
func Spell(f inspect.Family, key string) string {
	if s, ok := spellings[f][key]; ok {
		return s
	}
	if f == inspect.KafkaPython || f == inspect.AIOKafka {
		return strings.ReplaceAll(key, ".", "_")
	}
	if f == inspect.Librdkafka && key == keyFetchWait {
		return "fetch.wait.max.ms"
	}
	return key
}

// watchesPolls reports whether a consumer of this client leaves the group by itself
// when it is not polled for max.poll.interval.ms. For aiokafka the limit is no part
// of the wire's rebalance timeout.
func watchesPolls(f inspect.Family, version string) bool {
	_, has := defaultOf(f, version, keyPoll)
	return has
}

// beatsAlone reports whether a client sends heartbeats in the background. Where it
// does not, the session timeout bounds the processing time.
func beatsAlone(f inspect.Family, version string) bool {
	switch f {
	case inspect.KafkaJS:
		return false
	case inspect.Java, inspect.StreamsLib:
		return version == "" || atLeast(version, "0.10.1")
	case inspect.KafkaPython:
		return version == "" || atLeast(version, "1.4")
	}
	return true
}
