package offsetlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// The errors of Decode. None of them ends a scan: each is counted in the
// inspect.PartitionLog of the partition.
var (
	// ErrUnknownType is a key of a type that this program does not know: written
	// by a newer broker, or by one that is not Apache Kafka.
	ErrUnknownType = errors.New("unknown record type")
	// ErrUnknownVersion is a value of a version above those known for its type.
	ErrUnknownVersion = errors.New("unknown value version")
	// ErrMalformed is a record of a known type and version whose bytes do not fit.
	ErrMalformed = errors.New("malformed record")
)

// PeekKey reads the type and the group from a key without allocating; group is a
// part of key. It takes the type to be unknown where the definitions of Kafka 4.3
// have none, and still answers the group if one follows, since every key there is
// starts with it. ok is false where the key is too short for that.
func PeekKey(key []byte) (t inspect.RecordType, group []byte, ok bool) {
	if len(key) < 4 {
		return 0, nil, false
	}
	n := int(binary.BigEndian.Uint16(key[2:]))
	if n > len(key)-4 {
		return 0, nil, false
	}
	return inspect.RecordType(binary.BigEndian.Uint16(key)), key[4 : 4+n], true
}

// Known reports whether Decode knows the type.
func Known(t inspect.RecordType) bool { return t >= 0 && int(t) < len(types) && types[t].value != nil }

// IsCommit reports whether records of the type are offset commits: the bulk of
// every offsets log.
func IsCommit(t inspect.RecordType) bool {
	return t == inspect.RecLegacyOffsetCommit || t == inspect.RecOffsetCommit
}

// Decode reads one record of __consumer_offsets. A nil value is a tombstone: the
// key fields are filled and nothing else. Partition, Offset, Time and LeaderEpoch
// belong to the batch and are left to the caller.
//
// The error wraps [ErrUnknownType], [ErrUnknownVersion] or [ErrMalformed]; the
// key fields of the record are then filled as far as they could be read.
//
// Bytes that a classic member put into its subscription or assignment are decoded
// too where the group's protocol type is "consumer"; if they do not fit, Topics
// and Assigned stay nil and the record is good all the same, as the coordinator
// itself never looks into them.
func Decode(key, value []byte) (inspect.Record, error) {
	var rec inspect.Record
	var d decoder
	err := d.decode(&rec, key, value)
	return rec, err
}

// decoder is what decoding one record after the other reuses.
type decoder struct {
	k, v wire
	in   *interner // nil: every string is its own copy
}

// decode fills rec, which must be zero.
func (d *decoder) decode(rec *inspect.Record, key, value []byte) error {
	rec.LeaderEpoch, rec.Version = -1, -1
	k := &d.k
	*k = wire{b: key, in: d.in}
	rec.Type = inspect.RecordType(k.int16())
	if k.bad {
		return fmt.Errorf("offsets record with a key of %d bytes: %w", len(key), ErrMalformed)
	}
	if !Known(rec.Type) {
		if _, group, ok := PeekKey(key); ok {
			rec.Group = d.in.string(group)
		}
		return fmt.Errorf("offsets record of type %d: %w", rec.Type, ErrUnknownType)
	}
	kind := &types[rec.Type]
	rec.Group = k.str()
	if kind.key != nil {
		kind.key(k, rec)
	}
	if k.bad || len(k.b) > 0 {
		return fmt.Errorf("offsets record of type %d, key: %w", rec.Type, ErrMalformed)
	}
	if value == nil {
		rec.Tombstone = true
		return nil
	}
	d.v = wire{b: value, in: d.in}
	return decodeValue(rec, kind, &d.v)
}

func decodeValue(rec *inspect.Record, kind *recordKind, v *wire) error {
	rec.Version = v.int16()
	switch {
	case v.bad || rec.Version < 0:
		return fmt.Errorf("offsets record of type %d, group %q: value version: %w", rec.Type, rec.Group, ErrMalformed)
	case rec.Version > kind.max:
		return fmt.Errorf("offsets record of type %d, group %q: version %d, known up to %d: %w",
			rec.Type, rec.Group, rec.Version, kind.max, ErrUnknownVersion)
	}
	v.flex = rec.Version >= kind.flexible
	kind.value(v, rec)
	if v.bad || len(v.b) > 0 {
		rec.Commit, rec.Metadata, rec.Epoch, rec.Topics, rec.MemberOf, rec.Target = nil, nil, nil, nil, nil, nil
		rec.TargetFor, rec.Current, rec.ShareInit, rec.Matched, rec.Topology = nil, nil, nil, nil, nil
		return fmt.Errorf("offsets record of type %d version %d, group %q: %w", rec.Type, rec.Version, rec.Group, ErrMalformed)
	}
	return nil
}

// recordKind is how one type is laid out.
type recordKind struct {
	key      func(*wire, *inspect.Record) // what follows the group; nil nothing
	value    func(*wire, *inspect.Record) // what follows the version; nil: no such type
	max      int16                        // highest version known
	flexible int16                        // first flexible version
}

// types is indexed by record type. The groups of three families share layouts:
// consumer (KIP-848), share (KIP-932), streams (KIP-1071).
var types = [...]recordKind{
	inspect.RecLegacyOffsetCommit:        {commitKey, commitValue, 4, 4},
	inspect.RecOffsetCommit:              {commitKey, commitValue, 4, 4},
	inspect.RecGroupMetadata:             {nil, groupValue, 4, 4},
	inspect.RecConsumerGroupMetadata:     {nil, consumerEpoch, 0, 0},
	inspect.RecConsumerPartitionMetadata: {nil, partitionMetadata, 0, 0},
	inspect.RecConsumerMember:            {memberKey, consumerMember, 0, 0},
	inspect.RecConsumerTargetMetadata:    {nil, targetMetadata, 0, 0},
	inspect.RecConsumerTargetMember:      {memberKey, targetPartitions, 0, 0},
	inspect.RecConsumerCurrentAssignment: {memberKey, consumerCurrent, 0, 0},
	inspect.RecShareMember:               {memberKey, shareMember, 0, 0},
	inspect.RecShareGroupMetadata:        {nil, shareEpoch, 0, 0},
	inspect.RecShareTargetMetadata:       {nil, targetMetadata, 0, 0},
	inspect.RecShareTargetMember:         {memberKey, targetPartitions, 0, 0},
	inspect.RecShareCurrentAssignment:    {memberKey, shareCurrent, 0, 0},
	inspect.RecShareStatePartitions:      {nil, shareState, 0, 0},
	inspect.RecConsumerRegularExpression: {regexKey, regexValue, 0, 0},
	inspect.RecStreamsGroupMetadata:      {nil, streamsEpoch, 0, 0},
	inspect.RecStreamsMember:             {memberKey, streamsMember, 0, 0},
	inspect.RecStreamsTargetMetadata:     {nil, targetMetadata, 0, 0},
	inspect.RecStreamsTargetMember:       {memberKey, targetTasks, 0, 0},
	inspect.RecStreamsCurrentAssignment:  {memberKey, streamsCurrent, 0, 0},
	inspect.RecStreamsTopology:           {nil, topology, 0, 0},
}

func commitKey(w *wire, r *inspect.Record) {
	r.Topic = w.str()
	r.TopicPartition = w.int32()
}

func memberKey(w *wire, r *inspect.Record) { r.Member = w.str() }

func regexKey(w *wire, r *inspect.Record) { r.Regex = w.str() }

// commitValue is OffsetCommitValue: v1 alone has expireTimestamp, v3 added the
// leader epoch, v4 (flexible, 4.1+) the topic id as tag 0.
func commitValue(w *wire, r *inspect.Record) {
	c := &inspect.OffsetCommit{Offset: w.int64(), LeaderEpoch: -1}
	if r.Version >= 3 {
		c.LeaderEpoch = w.int32()
	}
	c.Metadata = w.str()
	c.Time = inspect.AtMillis(w.int64())
	if r.Version == 1 {
		c.Expires = inspect.AtMillis(w.int64())
	}
	w.tags(func(tag uint32, f *wire) {
		if tag == 0 {
			c.TopicID = f.uuid()
		}
	})
	r.Commit = c
}

// groupValue is GroupMetadataValue: v1 added the rebalance timeout, v2
// currentStateTimestamp, v3 the instance id, v4 is flexible.
func groupValue(w *wire, r *inspect.Record) {
	g := &inspect.GroupMetadata{ProtocolType: w.str(), Generation: w.int32(), Protocol: w.null(), Leader: w.null()}
	if r.Version >= 2 {
		g.StateTime = inspect.AtMillis(w.int64())
	}
	g.Members = list(w, 10, func(w *wire) inspect.GroupMember { return groupMember(w, r.Version, g.ProtocolType) })
	w.end()
	r.Metadata = g
}

func groupMember(w *wire, version int16, protocolType string) inspect.GroupMember {
	m := inspect.GroupMember{MemberID: w.str(), SubscriptionVersion: -1, OwnedGeneration: -1}
	if version >= 3 {
		m.InstanceID = w.null()
	}
	m.ClientID = w.str()
	m.Host = host(w.str())
	rebalance := int32(-1)
	if version >= 1 {
		rebalance = w.int32()
	}
	m.Session = millis(w.int32())
	// Before v1 the session timeout bounded the join phase too (KIP-62).
	if m.Rebalance = millis(rebalance); rebalance < 0 {
		m.Rebalance = m.Session
	}
	m.Subscription = w.bytes()
	m.Assignment = w.bytes()
	w.end()
	if protocolType == "consumer" && !w.bad {
		subscription(&m, w.in)
		m.Assigned = assignment(m.Assignment, w.in)
	}
	return m
}

func consumerEpoch(w *wire, r *inspect.Record) {
	e := &inspect.GroupEpoch{Epoch: w.int32()}
	w.tags(func(tag uint32, f *wire) {
		if tag == 0 {
			e.MetadataHash = f.int64()
		}
	})
	r.Epoch = e
}

// shareEpoch is ShareGroupMetadataValue. The early access of 3.9 and 4.0 wrote it
// without the hash, under the same version.
func shareEpoch(w *wire, r *inspect.Record) {
	e := &inspect.GroupEpoch{Epoch: w.int32()}
	if len(w.b) >= 9 {
		e.MetadataHash = w.int64()
	}
	w.end()
	r.Epoch = e
}

// streamsEpoch is StreamsGroupMetadataValue; 4.3 added the validated topology
// epoch (tag 0) and the last assignment configuration (tag 1, not kept).
func streamsEpoch(w *wire, r *inspect.Record) {
	e := &inspect.GroupEpoch{Epoch: w.int32(), MetadataHash: w.int64(), ValidatedTopology: -1}
	w.tags(func(tag uint32, f *wire) {
		if tag == 0 {
			e.ValidatedTopology = f.int32()
		}
	})
	r.Epoch = e
}

// partitionMetadata is ConsumerGroupPartitionMetadataValue; brokers from 4.1 on
// write only its tombstone.
func partitionMetadata(w *wire, r *inspect.Record) {
	r.Topics = list(w, 23, func(w *wire) inspect.TopicMetadata {
		t := inspect.TopicMetadata{TopicID: w.uuid(), Topic: w.str(), Partitions: w.int32()}
		for n := w.count(6); n > 0 && !w.bad; n-- {
			w.int32() // partition
			w.strs()  // racks
			w.end()
		}
		w.end()
		return t
	})
	w.end()
}

func consumerMember(w *wire, r *inspect.Record) {
	m := &inspect.MemberMetadata{InstanceID: w.null(), Rack: w.null(), ClientID: w.str(), Host: host(w.str()), Topics: w.strs()}
	if regex := w.null(); regex != nil {
		m.Regex = *regex
	}
	m.Rebalance = optionalMillis(w.int32())
	m.Assignor = w.null()
	w.tags(func(tag uint32, f *wire) {
		if tag == 0 {
			classicMember(f, m)
		}
	})
	r.MemberOf = m
}

// classicMember is the tagged ClassicMemberMetadata of a member that speaks the
// classic protocol inside a consumer group. A nullable structure behind a tag
// starts with 0 where it is null, which is what brokers write for other members.
func classicMember(w *wire, m *inspect.MemberMetadata) {
	if w.uvarint() == 0 {
		return
	}
	m.Session = optionalMillis(w.int32())
	m.Assignors = list(w, 3, func(w *wire) string {
		name := w.str()
		w.take(w.length(true)) // the subscription, already in SubscribedTopicNames
		w.end()
		return name
	})
	w.end()
}

func shareMember(w *wire, r *inspect.Record) {
	r.MemberOf = &inspect.MemberMetadata{Rack: w.null(), ClientID: w.str(), Host: host(w.str()), Topics: w.strs()}
	w.end()
}

func streamsMember(w *wire, r *inspect.Record) {
	m := &inspect.MemberMetadata{InstanceID: w.null(), Rack: w.null(), ClientID: w.str(), Host: host(w.str())}
	m.Rebalance = optionalMillis(w.int32())
	w.int32() // topology epoch
	m.ProcessID = w.str()
	if w.int8() >= 0 { // user endpoint, nullable
		w.str()
		w.int16()
		w.end()
	}
	for n := w.count(3); n > 0 && !w.bad; n-- { // client tags
		w.str()
		w.str()
		w.end()
	}
	w.end()
	r.MemberOf = m
}

// targetMetadata is the layout of types 6, 12 and 20; the timestamp came with 4.3
// (KIP-1263).
func targetMetadata(w *wire, r *inspect.Record) {
	t := &inspect.TargetMetadata{Epoch: w.int32()}
	w.tags(func(tag uint32, f *wire) {
		if tag == 0 {
			t.Time = inspect.AtMillis(f.int64())
		}
	})
	r.Target = t
}

func targetPartitions(w *wire, r *inspect.Record) {
	r.TargetFor = &inspect.Tasks{Active: byTopicID(w)}
	w.end()
}

func targetTasks(w *wire, r *inspect.Record) {
	t := tasks(w)
	r.TargetFor = &t
	w.end()
}

func consumerCurrent(w *wire, r *inspect.Record) {
	c := &inspect.CurrentAssignment{Epoch: w.int32(), PreviousEpoch: w.int32(), State: w.int8()}
	c.Assigned.Active = byTopicID(w)
	c.Revoking.Active = byTopicID(w)
	w.end()
	r.Current = c
}

func shareCurrent(w *wire, r *inspect.Record) {
	c := &inspect.CurrentAssignment{Epoch: w.int32(), PreviousEpoch: w.int32(), State: w.int8()}
	c.Assigned.Active = byTopicID(w)
	w.end()
	r.Current = c
}

func streamsCurrent(w *wire, r *inspect.Record) {
	c := &inspect.CurrentAssignment{Epoch: w.int32(), PreviousEpoch: w.int32(), State: w.int8()}
	c.Assigned = tasks(w)
	c.Revoking = tasks(w)
	w.end()
	r.Current = c
}

// byTopicID reads partitions by topic id. 4.3 adds the epochs of the assignment as
// tag 0, which say nothing about membership and are passed over.
func byTopicID(w *wire) []inspect.TopicIDPartitions {
	return list(w, 18, func(w *wire) inspect.TopicIDPartitions {
		t := inspect.TopicIDPartitions{TopicID: w.uuid(), Partitions: w.ints()}
		w.end()
		return t
	})
}

// tasks reads the three lists of streams tasks, by subtopology.
func tasks(w *wire) inspect.Tasks {
	one := func(w *wire) inspect.TopicIDPartitions {
		t := inspect.TopicIDPartitions{TopicID: w.str(), Partitions: w.ints()}
		w.end()
		return t
	}
	return inspect.Tasks{Active: list(w, 3, one), Standby: list(w, 3, one), Warmup: list(w, 3, one)}
}

// shareState is ShareGroupStatePartitionMetadataValue. The early access before 4.1
// had no list of initializing topics under the same version; such values are
// reported as malformed rather than guessed at.
func shareState(w *wire, r *inspect.Record) {
	named := func(w *wire) inspect.TopicPartitions {
		w.uuid()
		t := inspect.TopicPartitions{Topic: w.str(), Partitions: w.ints()}
		w.end()
		return t
	}
	r.ShareInit = &inspect.ShareStateTopics{
		Initializing: list(w, 19, named),
		Initialized:  list(w, 19, named),
		Deleting: list(w, 18, func(w *wire) string {
			w.uuid()
			name := w.str()
			w.end()
			return name
		}),
	}
	w.end()
}

func regexValue(w *wire, r *inspect.Record) {
	r.Matched = &inspect.RegexTopics{Topics: w.strs(), Version: w.int64(), Time: inspect.AtMillis(w.int64())}
	w.end()
}

// topology is StreamsGroupTopologyValue. Repartition and changelog topics are kept
// by name; their configurations and the copartition groups are not.
func topology(w *wire, r *inspect.Record) {
	r.Topology = &inspect.StreamsTopology{Epoch: w.int32(), Subtopologies: list(w, 8, subtopology)}
	w.end()
}

func subtopology(w *wire) inspect.StreamsSubtopology {
	s := inspect.StreamsSubtopology{ID: w.str(), SourceTopics: w.strs(), SourceRegex: w.strs()}
	s.StateTopics = list(w, 9, topicInfo)
	w.strs() // repartition sinks
	s.Repartition = list(w, 9, topicInfo)
	for n := w.count(4); n > 0 && !w.bad; n-- { // copartition groups: three lists of int16
		for range 3 {
			w.take(2 * w.count(2))
		}
		w.end()
	}
	w.end()
	return s
}

func topicInfo(w *wire) string {
	name := w.str()
	w.int32() // partitions
	w.int16() // replication factor
	for n := w.count(3); n > 0 && !w.bad; n-- {
		w.str()
		w.str()
		w.end()
	}
	w.end()
	return name
}

// host is a client host without the slash that Java's InetAddress.toString leaves.
func host(s string) string { return strings.TrimPrefix(s, "/") }

func millis(ms int32) inspect.Millis { return inspect.Millis(time.Duration(ms) * time.Millisecond) }

// optionalMillis is nil for -1, Kafka's "not given".
func optionalMillis(ms int32) *inspect.Millis {
	if ms < 0 {
		return nil
	}
	m := millis(ms)
	return &m
}
