package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// named, epochAt and epochsOf write what a KIP-848 coordinator does.
func (b *book) named(at float64, id string, topics ...string) {
	b.add(at, inspect.Record{Type: inspect.RecConsumerMember, Member: id, MemberOf: &inspect.MemberMetadata{ClientID: id, Host: "10.0.0.1", Topics: topics}})
}

func (b *book) epochAt(at float64, epoch int32, hash int64) {
	b.add(at, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: epoch, MetadataHash: hash}})
}

func (b *book) epochsOf(at float64, id string, epoch, previous int32) {
	b.add(at, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: id, Current: &inspect.CurrentAssignment{Epoch: epoch, PreviousEpoch: previous}})
}

// TestARecordOfAMemberIsNotAlwaysItsJoin: a member that changes its subscription is
// written as one that joins. Where the records begin with it, its epochs tell.
func TestARecordOfAMemberIsNotAlwaysItsJoin(t *testing.T) {
	tests := []struct {
		name  string
		write func(b *book)
		cause inspect.Cause
		conf  inspect.Confidence
		says  string
	}{
		{"a join", func(b *book) {
			b.named(0, "x", "a")
			b.epochAt(0, 7, 1)
			b.epochsOf(0, "x", 7, 0)
		}, inspect.MemberJoined, inspect.High, "x joined"},
		{"a changed subscription", func(b *book) {
			b.named(0, "x", "a", "b")
			b.epochAt(0, 7, 1)
			b.epochsOf(0, "x", 6, 6)
		}, inspect.SubscriptionChanged, inspect.High, "x now reads a, b; what it read before was not read"},
		{"the first assignment is compacted away", func(b *book) {
			b.named(0, "x", "a")
			b.epochAt(0, 7, 1)
			b.epochsOf(3, "x", 7, 7)
		}, inspect.UnknownCause, inspect.Low, "x joined, or changed its subscription"},
		{"a changed subscription beside a member that is known", func(b *book) {
			b.named(0, "y", "a")
			b.epochAt(0, 7, 1)
			b.epochsOf(0, "y", 7, 0)
			b.named(5, "x", "a", "b")
			b.epochAt(5, 8, 2) // the hash of the topics changes with it
			b.epochsOf(5, "x", 6, 6)
		}, inspect.SubscriptionChanged, inspect.High, "x now reads a, b"},
		{"an assignment was seen before the record", func(b *book) {
			b.epochsOf(0, "x", 6, 6)
			b.named(5, "x", "a", "b")
			b.epochAt(5, 7, 2)
			b.epochsOf(9, "x", 7, 6)
		}, inspect.SubscriptionChanged, inspect.High, "x now reads a, b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBook()
			tt.write(b)
			all := Build(b.c, Options{})[0].Rebalances
			r := all[len(all)-1]
			if r.Cause != tt.cause || r.Confidence != tt.conf || !strings.Contains(strings.Join(r.Evidence, "\n"), tt.says) {
				t.Errorf("%s, %s, %q; want %s, %s, %q", r.Cause, r.Confidence, r.Evidence, tt.cause, tt.conf, tt.says)
			}
		})
	}
}

// TestNothingIsToldWithConfidenceAcrossAHole: what a scan sees of a log that is being
// cleaned has generations missing, which nobody skipped.
func TestNothingIsToldWithConfidenceAcrossAHole(t *testing.T) {
	x, y, z := who{id: "x", client: "x", parts: []int32{0}}, who{id: "y", client: "y", parts: []int32{1}}, who{id: "z", client: "z", parts: []int32{1}}
	for name, after := range map[string][]who{"joined": {x, y, z}, "left": {x}, "replaced": {x, z}, "the same": {x, y}} {
		for _, whole := range []bool{true, false} {
			b := newBook()
			b.generation(0, 3, x, y)
			b.commits(1, 30, 0.5, 1, 0, 10)
			b.offset += 40
			b.generation(31, 9, after...)
			b.c.Logs = []inspect.PartitionLog{{Partition: 24}}
			if !whole {
				b.c.Logs[0].CompleteFrom = b.offset - 1
			}
			all := Build(b.c, Options{})[0].Rebalances
			r := all[len(all)-1]
			said := slices.Contains(r.Notes, "earlier generations are compacted away")
			switch {
			case whole && (r.Skipped != 5 || said):
				t.Errorf("%s, a whole log: %d skipped, notes %q", name, r.Skipped, r.Notes)
			case !whole && (r.Skipped != 0 || r.Confidence != inspect.Low || !said):
				t.Errorf("%s, a hole: %d skipped, %s %s, notes %q", name, r.Skipped, r.Cause, r.Confidence, r.Notes)
			}
			for _, d := range r.Members.Left {
				if !whole && d.Confidence != inspect.Low {
					t.Errorf("%s, a hole: the departure of %s is %s", name, d.ClientID, d.Confidence)
				}
			}
		}
	}
}
