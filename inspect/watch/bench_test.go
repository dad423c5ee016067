package watch

import (
	"fmt"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
)

// BenchmarkSecond is what a second of a watch of all groups costs, without what reads the
// cluster: 20,000 groups, of which 500 commit 5,000 offsets a second.
func BenchmarkSecond(b *testing.B) {
	const groups, busy, width, commits = 20_000, 500, 10, 5_000
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	w := New(Config{Selection: collect.Selection{All: true}, Forget: true, Now: func() time.Time { return now }})
	w.differ, w.info.Log, w.info.Groups = NewDiffer(Options{Log: true}), true, groups
	w.quick, w.slow = new(collect.Collector).NewPoller(), new(collect.Collector).NewPoller()
	ids := make([]string, groups)
	for i := range ids {
		ids[i] = fmt.Sprintf("group-%05d", i)
		w.differ.Seed(&inspect.Group{ID: ids[i], Type: inspect.Classic, State: "Empty"})
	}
	w.take(input{listed: ids, unlisted: map[int32]error{}})
	log, batch := int64(0), []inspect.Record(nil)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		for i := range commits {
			log++
			at := inspect.At(now.Add(time.Duration(i) * time.Second / commits))
			g := (i / width) % busy
			batch = append(batch, inspect.Record{Type: inspect.RecOffsetCommit, Partition: int32(g % 50), Offset: log, Time: at, Group: ids[g], Topic: "work", TopicPartition: int32(i % width),
				Commit: &inspect.OffsetCommit{Offset: log, Time: at}})
			if len(batch) == 200 {
				w.take(input{records: batch})
				batch = nil
			}
		}
		for range time.Second / QuickEvery {
			now = now.Add(QuickEvery)
			w.tick()
		}
		if n%10 == 0 {
			w.take(input{listed: ids, unlisted: map[int32]error{}})
		}
	}
}
