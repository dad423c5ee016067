package fakecluster

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The record types that this package writes, by the int16 that starts a key
// (CoordinatorRecordType of Kafka 4.1).
const (
	keyOffsetCommit  int16 = 1
	keyGroupMetadata int16 = 2
	keyEpoch         int16 = 3
	keyMember        int16 = 5
	keyTargetEpoch   int16 = 6
	keyTargetMember  int16 = 7
	keyCurrent       int16 = 8
	keyRegex         int16 = 16
)

// The value versions of Kafka 4.1: GroupCoordinatorRecordHelpers writes
// OffsetCommitValue as v4 and GroupMetadataValue still as v3
// (GROUP_METADATA_VALUE_VERSION).
const (
	commitVersion   int16 = 4
	metadataVersion int16 = 3
)

type uuid = [16]byte

// record is a key and a value of __consumer_offsets; a nil value is a tombstone.
type record struct{ key, value []byte }

// groupKey is the key of types 2, 3 and 6, and the start of all others.
func groupKey(typ int16, group string) []byte {
	return kbin.AppendString(kbin.AppendInt16(nil, typ), group)
}

// memberKey is the key of types 5, 7 and 8, and of 16 with the pattern for a member.
func memberKey(typ int16, group, member string) []byte {
	return kbin.AppendString(groupKey(typ, group), member)
}

// commitKey is the key of type 1.
func commitKey(group, topic string, partition int32) []byte {
	return kbin.AppendInt32(kbin.AppendString(groupKey(keyOffsetCommit, group), topic), partition)
}

// commitValue is the value of type 1. The broker writes a null metadata as "".
func commitValue(offset int64, leaderEpoch int32, metadata string, at int64, topic uuid) []byte {
	v := kmsg.OffsetCommitValue{
		Version:         commitVersion,
		Offset:          offset,
		LeaderEpoch:     leaderEpoch,
		Metadata:        metadata,
		CommitTimestamp: at,
		TopicID:         topic,
	}
	return v.AppendTo(nil)
}

// assignment is what a KIP-848 member owns, by topic id.
type assignment map[uuid][]int32

func (a assignment) equal(b assignment) bool {
	if len(a) != len(b) {
		return false
	}
	for id, ps := range a {
		if !slices.Equal(ps, b[id]) {
			return false
		}
	}
	return true
}

// minus is what a holds and b does not.
func (a assignment) minus(b assignment) assignment {
	out := assignment{}
	for id, ps := range a {
		for _, p := range ps {
			if !slices.Contains(b[id], p) {
				out[id] = append(out[id], p)
			}
		}
	}
	return out
}

// plus is what a or b hold.
func (a assignment) plus(b assignment) assignment {
	out := assignment{}
	for _, one := range []assignment{a, b.minus(a)} {
		for id, ps := range one {
			out[id] = append(out[id], ps...)
		}
	}
	for _, ps := range out {
		slices.Sort(ps)
	}
	return out
}

func (a assignment) appendTo(dst []byte) []byte {
	ids := make([]uuid, 0, len(a))
	for id := range a {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y uuid) int { return slices.Compare(x[:], y[:]) })
	dst = kbin.AppendCompactArrayLen(dst, len(ids))
	for _, id := range ids {
		dst = kbin.AppendUuid(dst, id)
		dst = kbin.AppendCompactArrayLen(dst, len(a[id]))
		for _, p := range a[id] {
			dst = kbin.AppendInt32(dst, p)
		}
		dst = append(dst, 0) // no tagged fields
	}
	return dst
}

// epochValue is the value of type 3: the group epoch with the hash of the
// subscribed topics' metadata as tag 0.
func epochValue(epoch int32, hash int64) []byte {
	v := kbin.AppendInt32(kbin.AppendInt16(nil, 0), epoch)
	v = append(v, 1, 0, 8)
	return kbin.AppendInt64(v, hash)
}

// targetEpochValue is the value of type 6.
func targetEpochValue(epoch int32) []byte {
	return append(kbin.AppendInt32(kbin.AppendInt16(nil, 0), epoch), 0)
}

// targetValue is the value of type 7.
func targetValue(a assignment) []byte {
	return append(a.appendTo(kbin.AppendInt16(nil, 0)), 0)
}

// current is what type 8 says of a member.
type current struct {
	epoch, previous int32
	state           int8
	assigned        assignment
	revoking        assignment
}

// The member states of type 8 (KIP-848, MemberState).
const (
	stateStable     int8 = 0
	stateUnrevoked  int8 = 1
	stateUnreleased int8 = 2
)

func (c current) equal(o current) bool {
	return c.epoch == o.epoch && c.previous == o.previous && c.state == o.state &&
		c.assigned.equal(o.assigned) && c.revoking.equal(o.revoking)
}

func currentValue(c current) []byte {
	v := kbin.AppendInt16(nil, 0)
	v = kbin.AppendInt32(v, c.epoch)
	v = kbin.AppendInt32(v, c.previous)
	v = kbin.AppendInt8(v, c.state)
	v = c.assigned.appendTo(v)
	v = c.revoking.appendTo(v)
	return append(v, 0)
}

// memberInfo is what type 5 says of a member.
type memberInfo struct {
	instance *string
	rack     *string
	clientID string
	host     string // as brokers write it, with the leading slash
	topics   []string
	regex    string
	timeout  int32 // rebalance timeout, ms
	assignor *string
}

func (m memberInfo) equal(o memberInfo) bool {
	return sameString(m.instance, o.instance) && sameString(m.rack, o.rack) && sameString(m.assignor, o.assignor) &&
		m.clientID == o.clientID && m.host == o.host && m.regex == o.regex && m.timeout == o.timeout &&
		slices.Equal(m.topics, o.topics)
}

func sameString(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func memberValue(m memberInfo) []byte {
	v := kbin.AppendInt16(nil, 0)
	v = kbin.AppendCompactNullableString(v, m.instance)
	v = kbin.AppendCompactNullableString(v, m.rack)
	v = kbin.AppendCompactString(v, m.clientID)
	v = kbin.AppendCompactString(v, m.host)
	v = kbin.AppendCompactArrayLen(v, len(m.topics))
	for _, t := range m.topics {
		v = kbin.AppendCompactString(v, t)
	}
	v = kbin.AppendCompactString(v, m.regex) // "" where there is none, not null
	v = kbin.AppendInt32(v, m.timeout)
	v = kbin.AppendCompactNullableString(v, m.assignor)
	// Tag 0, ClassicMemberMetadata: written although it is null.
	return append(v, 1, 0, 1, 0)
}

// regexValue is the value of type 16.
func regexValue(topics []string, version, at int64) []byte {
	v := kbin.AppendCompactArrayLen(kbin.AppendInt16(nil, 0), len(topics))
	for _, t := range topics {
		v = kbin.AppendCompactString(v, t)
	}
	return append(kbin.AppendInt64(kbin.AppendInt64(v, version), at), 0)
}
