package advise

import (
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
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

// judged are the settings whose defaults the rules compare.
var judged = []string{keySession, keyHeartbeat, keyPoll, keyRecords, keyRebalance, keyRequest, keyAPI, keySocket, keyIdle, keyFetchWait, keyProtocol,
	keyAssignors, keyDelay, keyTaskIdle, keyMetadata}

// Default is the default value of one setting of a client.
type Default struct {
	Value  string
	Source string
}

// newest is the newest version of each client whose defaults are in the table. It
// stands in where no version is known.
var newest = map[inspect.Family]string{
	inspect.Java: "4.3", inspect.StreamsLib: "4.3", inspect.Connect: "4.3", inspect.Librdkafka: "2.16", inspect.Sarama: "1.60",
	inspect.FranzGo: "1.22", inspect.KafkaGo: "0.4.50", inspect.KafkaJS: "2.2.4", inspect.KafkaPython: "3.1", inspect.AIOKafka: "0.14",
	inspect.RubyKafka: "1.5", inspect.Brod: "4.5", inspect.KafkaEx: "0.15",
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

// defaultOf is the default of a setting for a client; version "" is the newest.
func defaultOf(f inspect.Family, version, key string) (Default, bool) {
	d, ok := settings.Lookup(f, version, key)
	if !ok || d.Default == "" || d.Role == "P" {
		return Default{}, false
	}
	value := d.Default
	if key == keyAssignors {
		value = strings.Join(assignorNames(value), ",")
	}
	return Default{value, d.Source}, true
}

// atLeast reports whether version is at least limit; "" as limit is always reached.
func atLeast(version, limit string) bool { return settings.AtLeast(version, limit) }

// Spell is how a client spells a setting that its configuration does not have yet.
func Spell(f inspect.Family, key string) string {
	if d, ok := settings.Lookup(f, "", key); ok {
		return d.Name
	}
	if f == inspect.KafkaPython || f == inspect.AIOKafka {
		return strings.ReplaceAll(key, ".", "_")
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
	case inspect.KafkaJS, inspect.RubyKafka:
		return false
	case inspect.Java, inspect.StreamsLib:
		return version == "" || atLeast(version, "0.10.1")
	case inspect.KafkaPython:
		return version == "" || atLeast(version, "1.4")
	}
	return true
}
