package offsetlog

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
)

// TestLatestMetadataEnds wants the search to end, with what it has, when reading
// fails for good.
func TestLatestMetadataEnds(t *testing.T) {
	fake, cl := newFake(t, 2)
	produce(t, cl, on(0, groupRecord("a", 1)), on(1, groupRecord("b", 1)))
	fake.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		fake.KeepControl()
		if p := req.(*kmsg.FetchRequest).Topics[0].Partitions[0].Partition; p == 0 {
			return failFetch(req, kerr.TopicAuthorizationFailed), nil, true
		}
		return nil, nil, false
	})
	l, err := (&Scanner{Client: cl, Topic: testTopic}).LatestMetadata(testContext(t), LatestRequest{Groups: map[int32][]string{0: {"a"}, 1: {"b"}}})
	if err == nil || l == nil || len(l.Missing) != 1 || l.Missing[0] != "a" || len(l.Records["b"]) != 1 {
		t.Errorf("got %+v, %v", l, err)
	}
}

func TestHasState(t *testing.T) {
	member := func(typ inspect.RecordType, id string) inspect.Record {
		r := inspect.Record{Type: typ, Member: id}
		if typ == inspect.RecConsumerCurrentAssignment {
			r.Current = &inspect.CurrentAssignment{}
		}
		return r
	}
	epoch := inspect.Record{Type: inspect.RecConsumerGroupMetadata}
	tests := []struct {
		name  string
		found []inspect.Record
		want  bool
	}{
		{"nothing", nil, false},
		{"classic", []inspect.Record{{Type: inspect.RecGroupMetadata}}, true},
		{"classic, deleted", []inspect.Record{{Type: inspect.RecGroupMetadata, Tombstone: true}}, true},
		{"commits only", []inspect.Record{{Type: inspect.RecOffsetCommit}}, false},
		{"epoch without members", []inspect.Record{epoch}, true},
		{"member not described yet", []inspect.Record{epoch, member(inspect.RecConsumerCurrentAssignment, "m")}, false},
		{"member described", []inspect.Record{member(inspect.RecConsumerMember, "m"), epoch, member(inspect.RecConsumerCurrentAssignment, "m")}, true},
		{"member gone", []inspect.Record{epoch, {Type: inspect.RecConsumerCurrentAssignment, Member: "m", Tombstone: true}}, true},
	}
	for _, tt := range tests {
		if got := HasState("g", tt.found); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
