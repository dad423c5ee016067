package inspect

// GroupType is the broker's own word for the protocol of a group (ListGroups v5,
// KIP-848). Connect and Streams (classic) groups are "classic" with their own
// ProtocolType.
type GroupType string

// The group types of Kafka 4.x.
const (
	Classic     GroupType = "classic"
	Consumer    GroupType = "consumer" // KIP-848
	Share       GroupType = "share"    // KIP-932
	Streams     GroupType = "streams"  // KIP-1071
	UnknownType GroupType = ""
)

// Group is a snapshot of one group.
type Group struct {
	ID           string    `json:"group"`
	Type         GroupType `json:"type"`
	ProtocolType string    `json:"protocol_type"` // "consumer", "connect", …; "" for offset-only groups
	State        string    `json:"state"`         // the broker's own word; "" unknown
	Assignor     string    `json:"assignor"`      // selected protocol or server assignor; "" unknown
	At           Time      `json:"at"`            // when the coordinator answered

	Partition   int32      `json:"partition"`   // of __consumer_offsets, computed; -1 unknown
	Coordinator *BrokerRef `json:"coordinator"` // what the brokers answered; null unknown

	Generation      *int32 `json:"generation"`       // classic; null unknown
	GenerationBasis string `json:"generation_basis"` // "record" | "lower_bound" | "" (with null, or KIP-848)
	Epoch           *int32 `json:"epoch"`            // KIP-848, share, streams: GroupEpoch
	TargetEpoch     *int32 `json:"target_epoch"`     // AssignmentEpoch
	Leader          string `json:"leader"`           // member id, classic, from the record; "" unknown
	StateSince      Time   `json:"state_since"`      // currentStateTimestamp of the last record

	Members []Member       `json:"members"`
	Offsets []PartitionLag `json:"offsets,omitempty"` // ordered by topic and partition
	Lag     *int64         `json:"lag"`               // sum of the known lags; null unknown

	Limits  Limits   `json:"limits"`
	Sources []Source `json:"sources"`
}

// BrokerRef names a broker.
type BrokerRef struct {
	ID   int32  `json:"id"`
	Host string `json:"host"`
	Port int32  `json:"port"`
	Rack string `json:"rack,omitempty"`
}

// Limits are the bounds that apply to one group's members: broker-wide for classic
// groups, group config over broker config for the server-side protocols.
type Limits struct {
	SessionMin *Millis `json:"session_min_ms"` // group.min.session.timeout.ms or group.consumer.min.session.timeout.ms
	SessionMax *Millis `json:"session_max_ms"`
	Session    *Millis `json:"session_ms"`   // KIP-848: the effective consumer.session.timeout.ms
	Heartbeat  *Millis `json:"heartbeat_ms"` // KIP-848: the effective consumer.heartbeat.interval.ms
	From       string  `json:"from"`         // "group config", "broker 2 config"; "" unknown
}

// Member is one member of a group.
type Member struct {
	MemberID   string      `json:"member_id"`
	InstanceID *string     `json:"instance_id"` // group.instance.id; null dynamic
	ClientID   string      `json:"client_id"`
	Host       string      `json:"host"` // without Kafka's leading slash
	Rack       string      `json:"rack,omitempty"`
	Client     ClientGuess `json:"client"`
	Protocol   GroupType   `json:"protocol"` // classic members live on in consumer groups during a migration

	Session    *Millis `json:"session_timeout_ms"`
	Rebalance  *Millis `json:"rebalance_timeout_ms"` // is max.poll.interval.ms for java, librdkafka and kafka-python only
	Heartbeat  *Millis `json:"heartbeat_interval_ms"`
	Epoch      *int32  `json:"member_epoch"`
	Generation *int32  `json:"owned_generation"` // GenerationId in the subscription (v2+): the one before its last join

	Topics     []string `json:"subscribed_topics"` // null unknown
	TopicRegex string   `json:"subscribed_regex,omitempty"`
	// ServerAssignor is the assignor that a KIP-848 member asks for (record type 5);
	// null where it asks for none, or where the log was not read.
	ServerAssignor *string           `json:"server_assignor,omitempty"`
	Assignors      []string          `json:"assignors,omitempty"` // the list, where it can be known (files, logs); never live
	Assignment     []TopicPartitions `json:"assignment"`          // null unknown
	Target         []TopicPartitions `json:"target,omitempty"`
	Lag            *int64            `json:"lag"`
}

// TopicPartitions are some partitions of one topic, ascending.
type TopicPartitions struct {
	Topic      string  `json:"topic"`
	Partitions []int32 `json:"partitions"`
}

// PartitionLag is the committed offset of one partition, its end and the distance.
type PartitionLag struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Committed *int64 `json:"committed"` // null: no commit, or unreadable
	Start     *int64 `json:"log_start"`
	End       *int64 `json:"log_end"`
	Lag       *int64 `json:"lag"`
	MemberID  string `json:"member_id,omitempty"`
}

// Family is a client library. Which one it is decides which timeouts mean what.
type Family string

// The families that kgdiag tells apart.
const (
	Java        Family = "java"
	Librdkafka  Family = "librdkafka"
	Sarama      Family = "sarama"
	FranzGo     Family = "franz-go"
	KafkaGo     Family = "kafka-go"
	KafkaJS     Family = "kafkajs"
	KafkaPython Family = "kafka-python"
	AIOKafka    Family = "aiokafka"
	StreamsLib  Family = "streams"
	Connect     Family = "connect"
	RubyKafka   Family = "ruby-kafka" // of a live member not told from others, as the two below
	Brod        Family = "brod"
	KafkaEx     Family = "kafka_ex"
	Unknown     Family = "unknown"
)

// PollInterval reports whether a member of this family leaves the group when its
// poll loop is too slow, so that its rebalance timeout on the wire is
// max.poll.interval.ms (facts: Java, librdkafka, kafka-python; Streams is Java).
func (f Family) PollInterval() bool {
	switch f {
	case Java, Librdkafka, KafkaPython, StreamsLib:
		return true
	}
	return false
}

// Confidence says how sure an inference is.
type Confidence string

// The confidences. A finding or cause of low confidence never trips --fail-on.
const (
	High   Confidence = "high"
	Medium Confidence = "medium"
	Low    Confidence = "low"
)

// Rank orders confidences: 2 for high, 1 for medium, 0 for low and for none.
func (c Confidence) Rank() int {
	switch c {
	case High:
		return 2
	case Medium:
		return 1
	}
	return 0
}

// LessSure is the lower of two confidences; a where they are alike.
func LessSure(a, b Confidence) Confidence {
	if b.Rank() < a.Rank() {
		return b
	}
	return a
}

// ClientGuess is the inferred client library of a member.
type ClientGuess struct {
	Family     Family     `json:"family"`
	Confidence Confidence `json:"confidence"`
	Why        string     `json:"why"`
}

// Broker is one broker with the configuration that bounds groups. Config holds the
// group.*, offsets.* and transaction keys of DescribeConfigs BROKER by name.
type Broker struct {
	BrokerRef
	Controller bool              `json:"controller,omitempty"`
	Version    string            `json:"version,omitempty"` // guessed from ApiVersions, "4.1" or "3.7-3.9"
	Config     map[string]string `json:"config,omitempty"`
	From       string            `json:"from,omitempty"` // the file that says so; "" the broker itself
}

// Topic is a topic that some group subscribes to.
type Topic struct {
	Name       string `json:"topic"`
	Partitions int32  `json:"partitions"` // -1 unknown
}

// OffsetsTopic is the placement of __consumer_offsets.
type OffsetsTopic struct {
	Partitions []OffsetsPartition `json:"partitions"`
	Config     map[string]string  `json:"config,omitempty"`
}

// OffsetsPartition is one partition of it.
type OffsetsPartition struct {
	Partition int32   `json:"partition"`
	Leader    int32   `json:"leader"` // -1 none
	Replicas  []int32 `json:"replicas"`
	ISR       []int32 `json:"isr"`
	Offline   []int32 `json:"offline,omitempty"`
}
