package fakecluster

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestRecordsAreThoseOfABroker reads records that a Kafka 4.1.0 broker wrote and
// expects this package to write the same bytes for the same facts.
func TestRecordsAreThoseOfABroker(t *testing.T) {
	raw, err := os.ReadFile("testdata/offsets-records-4.1.0.tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int16]int{}
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		key, err := hex.DecodeString(f[4])
		if err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		var value []byte
		if f[5] != "TOMBSTONE" {
			if value, err = hex.DecodeString(f[5]); err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
		}
		got := rewrite(t, key, value)
		if !bytes.Equal(got.key, key) {
			t.Errorf("line %d: key %x, a broker writes %x", i+1, got.key, key)
		}
		if !bytes.Equal(got.value, value) {
			t.Errorf("line %d: value %x, a broker writes %x", i+1, got.value, value)
		}
		seen[int16(key[0])<<8|int16(key[1])]++
	}
	for _, typ := range []int16{keyOffsetCommit, keyGroupMetadata, keyEpoch, keyMember, keyTargetEpoch, keyTargetMember, keyCurrent} {
		if seen[typ] == 0 {
			t.Errorf("no record of type %d in the sample", typ)
		}
	}
}

// rewrite decodes a record with readers of its own and encodes it with this package.
func rewrite(t *testing.T, key, value []byte) record {
	t.Helper()
	kr := kbin.Reader{Src: key}
	typ, group := kr.Int16(), kr.String()
	vr := kbin.Reader{Src: value}
	if value != nil && typ > keyGroupMetadata {
		if v := vr.Int16(); v != 0 {
			t.Fatalf("type %d: value version %d", typ, v)
		}
	}
	out := record{key: groupKey(typ, group)}
	switch typ {
	case keyOffsetCommit:
		var v kmsg.OffsetCommitValue
		must(t, v.ReadFrom(value))
		return record{commitKey(group, kr.String(), kr.Int32()), commitValue(v.Offset, v.LeaderEpoch, v.Metadata, v.CommitTimestamp, v.TopicID)}
	case keyGroupMetadata:
		var v kmsg.GroupMetadataValue
		must(t, v.ReadFrom(value))
		g := groupState{id: group, protoType: v.ProtocolType, recorded: v.Generation, written: v.Members}
		if v.Protocol == nil {
			return g.emptyRecord(v.ProtocolType, v.Generation, v.CurrentStateTimestamp)
		}
		g.protocol, g.leader = *v.Protocol, *v.Leader
		return g.metadataRecord(v.CurrentStateTimestamp)
	case keyEpoch:
		epoch := vr.Int32()
		vr.Span(3)
		out.value = epochValue(epoch, vr.Int64())
	case keyTargetEpoch:
		out.value = targetEpochValue(vr.Int32())
	default:
		out.key = memberKey(typ, group, kr.String())
	}
	if value == nil {
		out.value = nil
		return out
	}
	switch typ {
	case keyMember:
		m := memberInfo{instance: vr.CompactNullableString(), rack: vr.CompactNullableString(), clientID: vr.CompactString(), host: vr.CompactString()}
		for range vr.CompactArrayLen() {
			m.topics = append(m.topics, vr.CompactString())
		}
		m.regex, m.timeout, m.assignor = vr.CompactString(), vr.Int32(), vr.CompactNullableString()
		out.value = memberValue(m)
	case keyTargetMember:
		out.value = targetValue(readAssignment(&vr))
	case keyCurrent:
		out.value = currentValue(current{epoch: vr.Int32(), previous: vr.Int32(), state: vr.Int8(), assigned: readAssignment(&vr), revoking: readAssignment(&vr)})
	}
	return out
}

func readAssignment(r *kbin.Reader) assignment {
	a := assignment{}
	for range r.CompactArrayLen() {
		id := r.Uuid()
		for range r.CompactArrayLen() {
			a[id] = append(a[id], r.Int32())
		}
		r.Span(1)
	}
	return a
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
