package inspect

import "strconv"

// RecordType is the int16 that starts the key of a __consumer_offsets record
// (Kafka 4.3 CoordinatorRecordType; 9 and 18 are not defined).
type RecordType int16

// The record types of Kafka 4.x.
const (
	RecLegacyOffsetCommit        RecordType = 0
	RecOffsetCommit              RecordType = 1
	RecGroupMetadata             RecordType = 2
	RecConsumerGroupMetadata     RecordType = 3
	RecConsumerPartitionMetadata RecordType = 4
	RecConsumerMember            RecordType = 5
	RecConsumerTargetMetadata    RecordType = 6
	RecConsumerTargetMember      RecordType = 7
	RecConsumerCurrentAssignment RecordType = 8
	RecShareMember               RecordType = 10
	RecShareGroupMetadata        RecordType = 11
	RecShareTargetMetadata       RecordType = 12
	RecShareTargetMember         RecordType = 13
	RecShareCurrentAssignment    RecordType = 14
	RecShareStatePartitions      RecordType = 15
	RecConsumerRegularExpression RecordType = 16
	RecStreamsGroupMetadata      RecordType = 17
	RecStreamsMember             RecordType = 19
	RecStreamsTargetMetadata     RecordType = 20
	RecStreamsTargetMember       RecordType = 21
	RecStreamsCurrentAssignment  RecordType = 22
	RecStreamsTopology           RecordType = 23
)

// Record is one decoded record of __consumer_offsets, or a commit that polls of
// OffsetFetch saw (Polled), where that topic may not be read. The key fields are always
// filled; of the pointers below, the one of its type is set unless Tombstone.
type Record struct {
	Type        RecordType `json:"type"`
	Partition   int32      `json:"partition"`    // of __consumer_offsets; -1 of a commit that polls saw
	Offset      int64      `json:"offset"`       // or the number of such a commit in its group
	Time        Time       `json:"time"`         // timestamp of the record
	LeaderEpoch int32      `json:"leader_epoch"` // of the batch; -1 unknown. A change means that the coordinator moved
	Version     int16      `json:"version"`      // of the value; -1 for a tombstone
	Tombstone   bool       `json:"tombstone,omitempty"`

	Group  string `json:"group"`
	Member string `json:"member,omitempty"` // key of types 5, 7, 8, 10, 13, 14, 19, 21, 22
	Topic  string `json:"topic,omitempty"`  // key of types 0 and 1
	// TopicPartition is the partition in the key of types 0 and 1.
	TopicPartition int32  `json:"topic_partition,omitempty"`
	Regex          string `json:"regex,omitempty"` // key of type 16

	Commit    *OffsetCommit      `json:"commit,omitempty"`     // 0, 1
	Metadata  *GroupMetadata     `json:"metadata,omitempty"`   // 2
	Epoch     *GroupEpoch        `json:"epoch,omitempty"`      // 3, 11, 17
	Topics    []TopicMetadata    `json:"topics,omitempty"`     // 4
	MemberOf  *MemberMetadata    `json:"member_of,omitempty"`  // 5, 10, 19
	Target    *TargetMetadata    `json:"target,omitempty"`     // 6, 12, 20
	TargetFor *Tasks             `json:"target_for,omitempty"` // 7, 13, 21
	Current   *CurrentAssignment `json:"current,omitempty"`    // 8, 14, 22
	ShareInit *ShareStateTopics  `json:"share_init,omitempty"` // 15
	Matched   *RegexTopics       `json:"matched,omitempty"`    // 16
	Topology  *StreamsTopology   `json:"topology,omitempty"`   // 23
}

// OffsetCommit is the value of types 0 and 1.
type OffsetCommit struct {
	Offset      int64  `json:"offset"`
	LeaderEpoch int32  `json:"leader_epoch"` // v3+; -1 unknown
	Metadata    string `json:"metadata,omitempty"`
	Time        Time   `json:"time"`               // commitTimestamp
	Expires     Time   `json:"expires,omitzero"`   // v1 only
	TopicID     string `json:"topic_id,omitempty"` // v4+, base64url as Kafka prints it
	// After is set where two polls of OffsetFetch saw different offsets: the commit was
	// made after it, and by the record's Time. There may have been several in between.
	After Time `json:"after,omitzero"`
	// Thinned is how many commits of this partition were left out before this one, so
	// that a busy group's case stays small (judge.Thinner).
	Thinned int64 `json:"thinned,omitempty"`
}

// GroupMetadata is the value of type 2: a classic group at the end of a rebalance.
type GroupMetadata struct {
	ProtocolType string        `json:"protocol_type"`
	Generation   int32         `json:"generation"`
	Protocol     *string       `json:"protocol"` // selected assignor; null without members
	Leader       *string       `json:"leader"`
	StateTime    Time          `json:"state_time"` // currentStateTimestamp, v2+: entry to CompletingRebalance
	Members      []GroupMember `json:"members"`
}

// GroupMember is one member in a GroupMetadata record.
type GroupMember struct {
	MemberID     string  `json:"member_id"`
	InstanceID   *string `json:"instance_id"` // v3+
	ClientID     string  `json:"client_id"`
	Host         string  `json:"host"` // as recorded, with Kafka's leading slash removed
	Rebalance    Millis  `json:"rebalance_timeout_ms"`
	Session      Millis  `json:"session_timeout_ms"`
	Subscription []byte  `json:"subscription,omitempty"` // ConsumerProtocolSubscription where the protocol type is consumer
	Assignment   []byte  `json:"assignment,omitempty"`   // ConsumerProtocolAssignment likewise

	// Topics and Assigned are decoded from the two fields above; null where the
	// bytes are of another protocol (connect, streams user data) or malformed.
	Topics   []string          `json:"topics"`
	Assigned []TopicPartitions `json:"assigned"`
	// SubscriptionVersion and OwnedGeneration identify the client family:
	// -1 where the bytes do not hold them.
	SubscriptionVersion int16 `json:"subscription_version"`
	OwnedGeneration     int32 `json:"owned_generation"`
}

// GroupEpoch is the value of types 3, 11 and 17.
type GroupEpoch struct {
	Epoch             int32 `json:"epoch"`
	MetadataHash      int64 `json:"metadata_hash,omitempty"`
	ValidatedTopology int32 `json:"validated_topology_epoch,omitempty"` // streams, 4.3+
}

// TopicMetadata is one topic in the value of type 4 (brokers up to 4.0).
type TopicMetadata struct {
	TopicID    string `json:"topic_id"`
	Topic      string `json:"topic"`
	Partitions int32  `json:"partitions"`
}

// MemberMetadata is the value of types 5, 10 and 19.
type MemberMetadata struct {
	InstanceID *string  `json:"instance_id"`
	Rack       *string  `json:"rack"`
	ClientID   string   `json:"client_id"`
	Host       string   `json:"host"` // with Kafka's leading slash removed
	Topics     []string `json:"topics"`
	Regex      string   `json:"regex,omitempty"`
	Rebalance  *Millis  `json:"rebalance_timeout_ms"` // null for share members
	Assignor   *string  `json:"assignor"`
	// Session and Assignors are set for a classic member inside a consumer group.
	Session   *Millis  `json:"session_timeout_ms"`
	Assignors []string `json:"assignors,omitempty"`
	ProcessID string   `json:"process_id,omitempty"` // streams
}

// TargetMetadata is the value of types 6, 12 and 20.
type TargetMetadata struct {
	Epoch int32 `json:"epoch"`         // AssignmentEpoch
	Time  Time  `json:"time,omitzero"` // AssignmentTimestamp, 4.3+
}

// TopicIDPartitions are partitions of a topic known by id (base64url, as Kafka
// prints it), or of a streams subtopology.
type TopicIDPartitions struct {
	TopicID    string  `json:"topic_id"`
	Partitions []int32 `json:"partitions"`
}

// Tasks are the partitions or streams tasks of a target or current assignment.
type Tasks struct {
	Active  []TopicIDPartitions `json:"active"` // partitions of consumer and share groups, active tasks of streams groups
	Standby []TopicIDPartitions `json:"standby,omitempty"`
	Warmup  []TopicIDPartitions `json:"warmup,omitempty"`
}

// The states of a CurrentAssignment (KIP-848 MemberState).
const (
	MemberStable     int8 = 0
	MemberUnrevoked  int8 = 1 // must still give partitions up; at most for its rebalance timeout
	MemberUnreleased int8 = 2 // waits for others to give partitions up
)

// StaticLeaveEpoch is the member epoch of a static member that left for a while (KIP-848).
const StaticLeaveEpoch int32 = -2

// CurrentAssignment is the value of types 8, 14 and 22.
type CurrentAssignment struct {
	Epoch         int32 `json:"epoch"` // member epoch; StaticLeaveEpoch after a static leave
	PreviousEpoch int32 `json:"previous_epoch"`
	State         int8  `json:"state"`
	Assigned      Tasks `json:"assigned"`
	Revoking      Tasks `json:"revoking,omitzero"` // partitions pending revocation
}

// ShareStateTopics is the value of type 15, by topic name.
type ShareStateTopics struct {
	Initializing []TopicPartitions `json:"initializing,omitempty"`
	Initialized  []TopicPartitions `json:"initialized,omitempty"`
	Deleting     []string          `json:"deleting,omitempty"`
}

// RegexTopics is the value of type 16: what a pattern matched at a metadata version.
type RegexTopics struct {
	Topics  []string `json:"topics"`
	Version int64    `json:"version"`
	Time    Time     `json:"time"`
}

// StreamsTopology is the value of type 23, in outline.
type StreamsTopology struct {
	Epoch         int32                `json:"epoch"`
	Subtopologies []StreamsSubtopology `json:"subtopologies"`
}

// StreamsSubtopology is one subtopology of a StreamsTopology.
type StreamsSubtopology struct {
	ID           string   `json:"id"`
	SourceTopics []string `json:"source_topics"`
	SourceRegex  []string `json:"source_regex,omitempty"`
	StateTopics  []string `json:"state_changelog_topics,omitempty"`
	Repartition  []string `json:"repartition_source_topics,omitempty"`
}

// PartitionLog says what a scan of one offsets partition covered.
type PartitionLog struct {
	Partition     int32 `json:"partition"`
	LogStart      int64 `json:"log_start"`
	End           int64 `json:"end"`            // high watermark at the start of the scan
	From          int64 `json:"from"`           // first offset that was read
	To            int64 `json:"to"`             // one past the last
	CompleteSince Time  `json:"complete_since"` // no compaction gap after the record of this time; zero unknown
	CompleteFrom  int64 `json:"complete_from"`  // the same as an offset
	Records       int64 `json:"records"`
	Bytes         int64 `json:"bytes"`
	Unknown       int64 `json:"unknown_records"` // of types or versions this program does not know
	Malformed     int64 `json:"malformed_records"`
	Corrupt       int64 `json:"corrupt_batches,omitempty"` // checksum, compression or format not readable; never counted as complete
	// Open counts wanted records of transactions whose end the scan did not see: a
	// hanging transaction, or one that ended after To. They were not handed out.
	Open  int64  `json:"open_transaction_records,omitempty"`
	Error string `json:"error,omitempty"` // why the scan ended at To
}

// Polled reports a commit that was not read from the log: two polls of the group's
// committed offsets differed. Its time is an interval, and what such polls do not show
// may have happened all the same.
func (r *Record) Polled() bool { return r.Partition < 0 }

// OffsetPolls is a run of polls that asked for a group's committed offsets: From is the
// first, To the last of it. Where Error is set, these polls told nothing.
type OffsetPolls struct {
	Group string `json:"group"`
	From  Time   `json:"from"`
	To    Time   `json:"to"`
	Error string `json:"error,omitempty"`
	// Topics are those of which an offset was shown, in order: one that the user may not
	// describe is left out of the answers without a word.
	Topics []string `json:"topics,omitempty"`
}

// ID names a record, and the rebalance that it is the first of: partition and offset of
// the offsets topic, "24:1228".
func (r *Record) ID() string {
	return strconv.FormatInt(int64(r.Partition), 10) + ":" + strconv.FormatInt(r.Offset, 10)
}

// Observation is what a describe poll saw of a group, stored once for each run of
// polls that saw the same: From is the first poll of the run, To its last.
type Observation struct {
	Group string `json:"group"`
	From  Time   `json:"from"`
	To    Time   `json:"to"`
	State string `json:"state"`           // "Dead" where the coordinator says that the group does not exist
	Epoch *int32 `json:"epoch,omitempty"` // KIP-848
	// GenerationBound is the least that a classic generation can be, from what the
	// members own (GenerationId + 1; facts B2); null where they do not say.
	GenerationBound *int32           `json:"generation_bound,omitempty"`
	Coordinator     int32            `json:"coordinator"`     // -1 unknown
	Members         []ObservedMember `json:"members"`         // ordered by member id
	Error           string           `json:"error,omitempty"` // the poll failed; the other fields then hold nothing
}

// ID names the rebalance that an observation is the first to show, as partition and
// offset name one that a record shows: "poll:" and From in milliseconds.
func (o *Observation) ID() string { return "poll:" + strconv.FormatInt(o.From.UnixMilli(), 10) }

// ObservedMember is a member as a describe poll saw it.
type ObservedMember struct {
	MemberID   string            `json:"member_id"`
	InstanceID *string           `json:"instance_id,omitempty"`
	ClientID   string            `json:"client_id"`
	Host       string            `json:"host"`
	Epoch      *int32            `json:"epoch,omitempty"`
	Assignment []TopicPartitions `json:"assignment,omitempty"`
}
