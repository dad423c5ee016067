package offsetlog

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kgdiag/kgdiag/inspect"
)

// benchGroups are the groups of a log.
var benchGroups = []string{"orders-service", "payments", "group-00001", "group-00002", "group-00003", "mail-sender-eu", "mail-sender-us", "audit"}

// benchLog is a log of n commits in batches of the given size, with a GroupMetadata
// record in each ten thousand.
func benchLog(n, perBatch int) []byte {
	var log []byte
	at := time.UnixMilli(1_795_984_000_000)
	for base := 0; base < n; base += perBatch {
		recs := make([]*kgo.Record, perBatch)
		deltas := make([]int32, perBatch)
		for i := range recs {
			deltas[i] = int32(i)
			recs[i] = commitRecord(benchGroups[base/perBatch%len(benchGroups)], int32(i%12), int64(base+i))
		}
		if base%10_000 == 0 {
			recs[0] = groupRecord(benchGroups[0], int32(base))
		}
		log = append(log, makeBatch(int64(base), int32(perBatch), deltas, at, 0, recs)...)
	}
	return log
}

// BenchmarkWalk is the inner loop alone: checksum, walk, look at every key, decode
// what is wanted.
func BenchmarkWalk(b *testing.B) {
	const n = 100_000
	for _, bench := range []struct {
		name     string
		perBatch int
		filter   Filter
	}{
		{"100-a-batch/no-commits", 100, Filter{}},
		{"1-a-batch/no-commits", 1, Filter{}},
		{"100-a-batch/commits-of-few", 100, Filter{Commits: true, Groups: map[string]bool{"payments-old": true, "group-00017": true, "orders": true, "checkout": true}}},
		{"10-a-batch/commits-of-few", 10, Filter{Commits: true, Groups: map[string]bool{"payments-old": true, "group-00017": true, "orders": true, "checkout": true}}},
		{"100-a-batch/all", 100, Filter{Commits: true}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			log := benchLog(n, bench.perBatch)
			w := newWalker(&bench.filter)
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				f := newFound(0)
				w.walk(log, 0, span{0, n, 0, n}, f)
				if f.records != n || f.malformed+f.corrupt+f.unknown != 0 {
					b.Fatalf("%+v", f)
				}
				f.recycle()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, r := range map[string]*kgo.Record{"commit": commitRecord("group", 3, 4), "group": groupRecord("group", 5)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(r.Key, r.Value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkScan reads a log through the client, from the embedded cluster.
func BenchmarkScan(b *testing.B) {
	const n = 100_000
	_, cl := newFake(b, 1)
	recs := make([]*kgo.Record, n)
	for i := range recs {
		recs[i] = commitRecord("group-of-the-log", int32(i%12), int64(i))
	}
	produce(b, cl, recs...)
	s := &Scanner{Client: cl, Topic: testTopic}
	b.ReportAllocs()
	for b.Loop() {
		logs, err := s.Scan(context.Background(), Request{}, func(inspect.Record) error { return nil })
		if err != nil || logs[0].Records != n {
			b.Fatalf("%+v, %v", logs, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
}
