package watch

import (
	"fmt"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// TestForget: of a group that never rests a watch keeps what verdicts need, and not what
// was told; one that is written to a case file keeps all.
func TestForget(t *testing.T) {
	began := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, forget := range []bool{true, false} {
		w := New(Config{Forget: forget})
		w.differ = NewDiffer(Options{Log: true})
		w.watch("g")
		b := w.books["g"]
		now := began
		for i := range 2000 {
			now = now.Add(6 * time.Second)
			r := inspect.Record{Type: inspect.RecGroupMetadata, Partition: 3, Offset: int64(i), Time: inspect.At(now), Group: "g",
				Metadata: &inspect.GroupMetadata{ProtocolType: "consumer", Generation: int32(i), Protocol: new("range"), Leader: new("m"), Members: []inspect.GroupMember{{MemberID: "m", ClientID: "c"}}}}
			b.add(&r)
			w.differ.Record(&r, inspect.At(now))
			w.differ.Observe(&inspect.Observation{Group: "g", From: inspect.At(now), To: inspect.At(now), State: fmt.Sprint("S", i%2)}, time.Second)
			b.told[r.ID()], w.incidents["g\x00"+r.ID()] = verdict{cause: inspect.MemberJoined}, incident{number: i + 1, told: now}
			w.forget(b, now)
		}
		kept, polls := len(b.records), len(w.differ.group("g").polls)
		if !forget {
			if kept != 2000 || polls < 2000 {
				t.Errorf("%d records and %d polls are left of 2000 that are to be kept", kept, polls)
			}
			continue
		}
		if kept < keptRecords || kept > mostRecords+20 || polls > mostRecords+20 || len(b.told) > mostRecords+20 || len(w.incidents) > mostRecords+20 {
			t.Errorf("%d records, %d polls, %d told, %d incidents are kept", kept, polls, len(b.told), len(w.incidents))
		}
		if last := b.records[kept-1]; last.Offset != 1999 || now.Sub(b.records[1].Time.Time) < keptFor {
			t.Errorf("the newest kept is %d, the oldest of %v", last.Offset, b.records[1].Time)
		}
	}
}
