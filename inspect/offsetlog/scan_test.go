package offsetlog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
)

const testTopic = "offsets"

// str16 appends a string as non-flexible messages hold it.
func str16(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

// commitRecord is an OffsetCommit v3 as brokers up to 4.0 write it.
func commitRecord(group string, partition int32, offset int64) *kgo.Record {
	key := str16(str16([]byte{0, 1}, group), "work")
	key = binary.BigEndian.AppendUint32(key, uint32(partition))
	value := binary.BigEndian.AppendUint64([]byte{0, 3}, uint64(offset))
	value = str16(binary.BigEndian.AppendUint32(value, 0xffffffff), "")
	value = binary.BigEndian.AppendUint64(value, 1_795_984_329_820)
	return &kgo.Record{Topic: testTopic, Key: key, Value: value}
}

// groupRecord is a GroupMetadata v3 of an empty group.
func groupRecord(group string, generation int32) *kgo.Record {
	value := binary.BigEndian.AppendUint32(str16([]byte{0, 3}, "consumer"), uint32(generation))
	value = append(value, 0xff, 0xff, 0xff, 0xff)
	value = binary.BigEndian.AppendUint64(value, 1_795_984_329_820)
	return &kgo.Record{Topic: testTopic, Key: str16([]byte{0, 2}, group), Value: append(value, 0, 0, 0, 0)}
}

// on puts a record into a partition.
func on(p int32, r *kgo.Record) *kgo.Record {
	r.Partition = p
	return r
}

func newFake(t testing.TB, partitions int, opts ...kfake.Opt) (*kfake.Cluster, *kgo.Client) {
	t.Helper()
	fake, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(3), kfake.SeedTopics(int32(partitions), testTopic)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fake.Close)
	return fake, newClient(t, fake)
}

func newClient(t testing.TB, fake *kfake.Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(fake.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MetadataMinAge(10 * time.Millisecond), kgo.RetryTimeout(3 * time.Second)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func produce(t testing.TB, cl *kgo.Client, recs ...*kgo.Record) {
	t.Helper()
	if err := cl.ProduceSync(context.Background(), recs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// brief is a record in a form to compare.
func brief(r inspect.Record) string {
	switch {
	case r.Commit != nil:
		return fmt.Sprintf("%d@%d %s commit %d", r.Partition, r.Offset, r.Group, r.Commit.Offset)
	case r.Metadata != nil:
		return fmt.Sprintf("%d@%d %s generation %d", r.Partition, r.Offset, r.Group, r.Metadata.Generation)
	}
	return fmt.Sprintf("%d@%d %s type %d tombstone %v", r.Partition, r.Offset, r.Group, r.Type, r.Tombstone)
}

func scanAll(t testing.TB, s *Scanner, req Request) ([]string, []inspect.PartitionLog) {
	t.Helper()
	var got []string
	logs, err := s.Scan(testContext(t), req, func(r inspect.Record) error {
		got = append(got, brief(r))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, logs
}

// TestScanReadsEveryCodec writes the same mix with every compression and in
// different batch sizes, and wants the same records back in order.
func TestScanReadsEveryCodec(t *testing.T) {
	codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	for name, codec := range codecs {
		t.Run(name, func(t *testing.T) {
			fake, _ := newFake(t, 3)
			cl := newClient(t, fake, kgo.ProducerBatchCompression(codec))
			rng := rand.New(rand.NewPCG(3, 4))
			var all, groups []string
			next := map[int32]int64{}
			for i := range 300 {
				var recs []*kgo.Record
				p := int32(rng.IntN(3))
				for range 1 + rng.IntN(20) {
					group := fmt.Sprintf("g%d", rng.IntN(4))
					at := next[p]
					next[p]++
					if rng.IntN(10) == 0 {
						recs = append(recs, on(p, groupRecord(group, int32(i))))
						all = append(all, fmt.Sprintf("%d@%d %s generation %d", p, at, group, i))
						if group == "g1" {
							groups = append(groups, all[len(all)-1])
						}
						continue
					}
					recs = append(recs, on(p, commitRecord(group, p, at)))
					all = append(all, fmt.Sprintf("%d@%d %s commit %d", p, at, group, at))
				}
				produce(t, cl, recs...)
			}
			byPartition := func(s []string) []string {
				slices.SortStableFunc(s, func(a, b string) int { return int(a[0]) - int(b[0]) })
				return s
			}
			for _, bytes := range []int32{1 << 12, 1 << 20} {
				s := &Scanner{Client: cl, Topic: testTopic, FetchBytes: bytes}
				got, logs := scanAll(t, s, Request{Filter: Filter{Commits: true}})
				compareSlices(t, got, byPartition(all))
				for _, l := range logs {
					if l.From != 0 || l.To != next[l.Partition] || l.Records != l.To || l.CompleteFrom != 0 || l.CompleteSince.IsZero() ||
						l.Unknown+l.Malformed+l.Corrupt+l.Open != 0 || l.Bytes == 0 {
						t.Errorf("log %+v, want all of %d records, complete", l, next[l.Partition])
					}
				}
				got, _ = scanAll(t, s, Request{Filter: Filter{Groups: map[string]bool{"g1": true}}})
				compareSlices(t, got, byPartition(groups))
			}
		})
	}
}

func compareSlices(t *testing.T, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("record %d of %d: got %q, want %q (of %d)", i, len(got), got[i], want[i], len(want))
		}
	}
	t.Fatalf("%d records, want %d", len(got), len(want))
}

func TestScanPoints(t *testing.T) {
	_, cl := newFake(t, 1)
	base := time.UnixMilli(1_795_984_000_000)
	for i := range 100 {
		r := commitRecord("g", 0, int64(i))
		r.Timestamp = base.Add(time.Duration(i) * time.Second)
		produce(t, cl, r)
	}
	s := &Scanner{Client: cl, Topic: testTopic}
	tests := []struct {
		name        string
		req         Request
		first, last int64
	}{
		{"all", Request{}, 0, 99},
		{"offsets", Request{From: AtOffset(10), To: AtOffset(20)}, 10, 19},
		{"last", Request{From: Last(5)}, 95, 99},
		{"last beyond the start", Request{From: Last(500)}, 0, 99},
		{"time", Request{From: AtTime(base.Add(30 * time.Second)), To: AtTime(base.Add(40 * time.Second))}, 30, 39},
		{"time between records", Request{From: AtTime(base.Add(30500 * time.Millisecond))}, 31, 99},
		{"from override", Request{From: AtOffset(10), FromOffsets: map[int32]int64{0: 50}}, 50, 99},
		{"to override", Request{ToOffsets: map[int32]int64{0: 7}}, 0, 6},
		{"commits since", Request{Filter: Filter{CommitsSince: base.Add(98 * time.Second)}}, 98, 99},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.Commits = true
			got, logs := scanAll(t, s, tt.req)
			if want := int(tt.last - tt.first + 1); len(got) != want {
				t.Fatalf("%d records, want %d: %v", len(got), want, got)
			}
			if want := fmt.Sprintf("0@%d g commit %d", tt.first, tt.first); got[0] != want {
				t.Errorf("first %q, want %q", got[0], want)
			}
			if l := logs[0]; l.CompleteFrom != l.From || l.End != 100 {
				t.Errorf("log %+v", l)
			}
		})
	}
	got, logs := scanAll(t, s, Request{From: AtTime(base.Add(time.Hour)), Filter: Filter{Commits: true}})
	if len(got) != 0 || logs[0].From != 100 || logs[0].To != 100 {
		t.Errorf("after the end: %v, %+v", got, logs[0])
	}
}

// TestScanReportsProgress: it never goes back, knows the whole from its first word, and
// ends with all of it, wanted or not.
func TestScanReportsProgress(t *testing.T) {
	_, cl := newFake(t, 2)
	var recs []*kgo.Record
	for i := range 4000 {
		recs = append(recs, on(int32(i%2), commitRecord("g", 0, int64(i))))
	}
	produce(t, cl, recs...)
	var said []Progress
	req := Request{Filter: Filter{Groups: map[string]bool{"nobody": true}}, Progress: func(p Progress) { said = append(said, p) }}
	scanAll(t, &Scanner{Client: cl, Topic: testTopic, FetchBytes: 1 << 12}, req)
	if len(said) < 10 {
		t.Fatalf("%d reports over many fetches", len(said))
	}
	for i, p := range said {
		if p.Total != 4000 || i > 0 && (p.Offsets <= said[i-1].Offsets || p.Records < said[i-1].Records || p.Bytes < said[i-1].Bytes) {
			t.Errorf("report %d: %+v after %+v", i, p, said[max(0, i-1)])
		}
	}
	if last := said[len(said)-1]; last.Offsets != 4000 || last.Records != 4000 || last.Bytes == 0 {
		t.Errorf("the last report: %+v", last)
	}
}

func TestScanFailures(t *testing.T) {
	fake, cl := newFake(t, 2)
	produce(t, cl, on(0, groupRecord("a", 1)), on(1, groupRecord("b", 1)))
	s := &Scanner{Client: cl, Topic: testTopic, Patience: 300 * time.Millisecond}

	t.Run("no such topic", func(t *testing.T) {
		_, err := (&Scanner{Client: cl, Topic: "nothing"}).Scan(testContext(t), Request{}, nil)
		if !errors.Is(err, kerr.UnknownTopicOrPartition) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("no such partition", func(t *testing.T) {
		var got []string
		logs, err := s.Scan(testContext(t), Request{Partitions: []int32{7, 1}}, func(r inspect.Record) error {
			got = append(got, brief(r))
			return nil
		})
		var pe *PartitionError
		if !errors.As(err, &pe) || pe.Partition != 7 || !errors.Is(err, kerr.UnknownTopicOrPartition) {
			t.Errorf("error %v", err)
		}
		if len(got) != 1 || len(logs) != 2 || logs[0].Error == "" || logs[1].Error != "" {
			t.Errorf("the other partition: %v %+v", got, logs)
		}
	})
	t.Run("callback", func(t *testing.T) {
		stop := errors.New("enough")
		if _, err := s.Scan(testContext(t), Request{}, func(inspect.Record) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(testContext(t))
		_, err := s.Scan(ctx, Request{}, func(inspect.Record) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("no permission", func(t *testing.T) {
		fake.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
			fake.KeepControl()
			return failFetch(req, kerr.TopicAuthorizationFailed), nil, true
		})
		_, err := s.Scan(testContext(t), Request{}, func(inspect.Record) error { return nil })
		if !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("error %v", err)
		}
	})
}

// failFetch answers every partition of a fetch with an error.
func failFetch(kreq kmsg.Request, err *kerr.Error) kmsg.Response {
	req := kreq.(*kmsg.FetchRequest)
	resp := req.ResponseKind().(*kmsg.FetchResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewFetchResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, err.Code
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// TestScanRidesThroughLeaderChanges moves the partition while it is read.
func TestScanRidesThroughLeaderChanges(t *testing.T) {
	fake, cl := newFake(t, 1)
	var want []string
	for i := range 400 {
		produce(t, cl, commitRecord("g", 0, int64(i)))
		want = append(want, fmt.Sprintf("0@%d g commit %d", i, i))
	}
	var fetches atomic.Int32
	fake.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		fake.KeepControl()
		switch n := fetches.Add(1); {
		case n%7 == 3:
			go fake.MoveTopicPartition(testTopic, 0, n%3)
			return nil, nil, false
		case n%7 == 5:
			return failFetch(req, kerr.NotLeaderForPartition), nil, true
		case n == 9:
			return nil, errors.New("connection torn"), true
		}
		return nil, nil, false
	})
	s := &Scanner{Client: cl, Topic: testTopic, FetchBytes: 1 << 12}
	got, logs := scanAll(t, s, Request{Parallel: 3, Filter: Filter{Commits: true}})
	compareSlices(t, got, want)
	if logs[0].CompleteFrom != 0 || fetches.Load() < 10 {
		t.Errorf("log %+v after %d fetches", logs[0], fetches.Load())
	}
}

func TestScanTransactions(t *testing.T) {
	fake, cl := newFake(t, 1)
	produce(t, cl, groupRecord("g", 1))
	write := func(id string, offset int64, end kgo.TransactionEndTry, finish bool) {
		tx := newClient(t, fake, kgo.TransactionalID(id))
		if err := tx.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		produce(t, tx, commitRecord("g", 0, offset))
		if finish {
			if err := tx.EndTransaction(testContext(t), end); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("a", 10, kgo.TryCommit, true)
	write("b", 20, kgo.TryAbort, true)
	write("hanging", 30, kgo.TryCommit, false)
	write("c", 40, kgo.TryCommit, true)
	produce(t, cl, groupRecord("g", 2))

	got, logs := scanAll(t, &Scanner{Client: cl, Topic: testTopic}, Request{Filter: Filter{Commits: true}})
	// 0 metadata, 1+2 committed, 3+4 aborted, 5 hanging, 6+7 committed, 8 metadata
	compareSlices(t, got, []string{"0@0 g generation 1", "0@1 g commit 10", "0@6 g commit 40", "0@8 g generation 2"})
	if l := logs[0]; l.Open != 1 || l.CompleteFrom != 0 || l.Records != 9 {
		t.Errorf("log %+v, want one open record, markers counted, no gap", l)
	}
}

// handLog serves a log made by hand in place of kfake's own, so that it can have
// what only a log cleaner leaves.
type handLog struct {
	mu    sync.Mutex
	raw   [][]byte // batches
	bases []int64
	last  []int64
	end   int64
	start int64
}

// add appends a batch of records with the given offset deltas, counted as count
// offsets from base.
func (h *handLog) add(base int64, span int32, deltas []int32, at time.Time, recs ...*kgo.Record) {
	h.addRaw(base, span, makeBatch(base, span, deltas, at, 0, recs))
}

func (h *handLog) addRaw(base int64, span int32, raw []byte) {
	h.raw = append(h.raw, raw)
	h.bases = append(h.bases, base)
	h.last = append(h.last, base+int64(span)-1)
	h.end = base + int64(span)
}

func makeBatch(base int64, span int32, deltas []int32, at time.Time, attrs int16, recs []*kgo.Record) []byte {
	var body []byte
	for i, r := range recs {
		kr := kmsg.NewRecord()
		kr.OffsetDelta, kr.Key, kr.Value = deltas[i], r.Key, r.Value
		kr.Length = int32(len(kr.AppendTo(nil)) - 1)
		kr.Length = int32(len(kr.AppendTo(nil)) - len(binary.AppendVarint(nil, int64(kr.Length))))
		body = kr.AppendTo(body)
	}
	b := kmsg.NewRecordBatch()
	b.FirstOffset, b.PartitionLeaderEpoch, b.Magic, b.Attributes = base, 4, 2, attrs
	b.LastOffsetDelta, b.FirstTimestamp, b.MaxTimestamp = span-1, at.UnixMilli(), at.UnixMilli()
	b.ProducerID, b.ProducerEpoch, b.FirstSequence = -1, -1, -1
	b.NumRecords, b.Records = int32(len(recs)), body
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], castagnoli))
	return raw
}

// serve answers fetches and list offsets of the fake from h.
func (h *handLog) serve(fake *kfake.Cluster) {
	fake.ControlKey(int16(kmsg.Fetch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		fake.KeepControl()
		h.mu.Lock()
		defer h.mu.Unlock()
		req := kreq.(*kmsg.FetchRequest)
		resp := failFetch(req, &kerr.Error{}).(*kmsg.FetchResponse)
		asked := req.Topics[0].Partitions[0]
		p := &resp.Topics[0].Partitions[0]
		p.HighWatermark, p.LastStableOffset, p.LogStartOffset = h.end, h.end, h.start
		if asked.FetchOffset < h.start || asked.FetchOffset > h.end {
			p.ErrorCode = kerr.OffsetOutOfRange.Code
			return resp, nil, true
		}
		for i, raw := range h.raw {
			if h.last[i] >= asked.FetchOffset && (len(p.RecordBatches) == 0 || len(p.RecordBatches)+len(raw) <= int(asked.PartitionMaxBytes)) {
				p.RecordBatches = append(p.RecordBatches, raw...)
			} else if len(p.RecordBatches) > 0 {
				break
			}
		}
		return resp, nil, true
	})
	fake.ControlKey(int16(kmsg.ListOffsets), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		fake.KeepControl()
		h.mu.Lock()
		defer h.mu.Unlock()
		req := kreq.(*kmsg.ListOffsetsRequest)
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		rt := kmsg.NewListOffsetsResponseTopic()
		rt.Topic = req.Topics[0].Topic
		rp := kmsg.NewListOffsetsResponseTopicPartition()
		if rp.Offset = h.end; req.Topics[0].Partitions[0].Timestamp == -2 {
			rp.Offset = h.start
		}
		rt.Partitions = append(rt.Partitions, rp)
		resp.Topics = append(resp.Topics, rt)
		return resp, nil, true
	})
}

func TestScanSeesCompactionGaps(t *testing.T) {
	at := func(sec int) time.Time { return time.Unix(1_795_984_000+int64(sec), 0) }
	one := func(h *handLog, base int64, sec int) {
		h.add(base, 1, []int32{0}, at(sec), groupRecord("g", int32(base)))
	}
	tests := []struct {
		name     string
		build    func(h *handLog)
		from     Point
		complete int64
		since    int // seconds; -1 unknown
		records  int
	}{
		{"none", func(h *handLog) { one(h, 0, 0); one(h, 1, 1) }, Point{}, 0, 0, 2},
		{"batches gone", func(h *handLog) { one(h, 0, 0); one(h, 5, 5); one(h, 6, 6) }, Point{}, 5, 5, 3},
		{"start gone", func(h *handLog) { one(h, 3, 3); one(h, 4, 4) }, Point{}, 3, 3, 2},
		{"records of a batch gone", func(h *handLog) {
			h.add(0, 4, []int32{1, 3}, at(0), groupRecord("g", 1), groupRecord("g", 2))
			one(h, 4, 4)
		}, Point{}, 4, 4, 3},
		{"last batch thinned", func(h *handLog) { one(h, 0, 0); h.add(1, 3, []int32{2}, at(1), groupRecord("g", 1)) }, Point{}, 4, -1, 2},
		{"batch emptied", func(h *handLog) { one(h, 0, 0); h.add(1, 3, nil, at(1)); one(h, 4, 4) }, Point{}, 4, 4, 2},
		{"gap before the window", func(h *handLog) { one(h, 0, 0); one(h, 5, 5); one(h, 6, 6) }, AtOffset(6), 6, 6, 1},
		{"huge gap", func(h *handLog) { one(h, 0, 0); one(h, 9_000_000_000, 5); one(h, 9_000_000_001, 6) }, Point{}, 9_000_000_000, 5, 3},
		{"tail gone", func(h *handLog) { one(h, 0, 0); h.end = 50 }, Point{}, 50, -1, 1},
		{"all gone", func(h *handLog) { h.end = 50 }, Point{}, 50, -1, 0},
		{"deleted to 10", func(h *handLog) { one(h, 10, 1); one(h, 11, 2); h.start = 10 }, Point{}, 10, 1, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fake, cl := newFake(t, 1)
			h := &handLog{}
			tt.build(h)
			h.serve(fake)
			got, logs := scanAll(t, &Scanner{Client: cl, Topic: testTopic}, Request{From: tt.from})
			l := logs[0]
			since := -1
			if !l.CompleteSince.IsZero() {
				since = int(l.CompleteSince.Unix() - 1_795_984_000)
			}
			if l.CompleteFrom != tt.complete || since != tt.since || len(got) != tt.records || l.To != h.end {
				t.Errorf("complete from %d since %d s, %d records, to %d; want %d, %d, %d, %d", l.CompleteFrom, since, len(got), l.To, tt.complete, tt.since, tt.records, h.end)
			}
		})
	}
}

// TestScanCountsDamage wants a corrupt batch, an old message, an unknown type and a
// malformed record to cost themselves only.
func TestScanCountsDamage(t *testing.T) {
	fake, cl := newFake(t, 1)
	at := time.Unix(1_795_984_000, 0)
	h := &handLog{}
	h.add(0, 1, []int32{0}, at, groupRecord("g", 1))
	bad := makeBatch(1, 3, []int32{0, 1, 2}, at, 0, []*kgo.Record{groupRecord("g", 2), groupRecord("g", 3), groupRecord("g", 4)})
	bad[70] ^= 0xff
	h.addRaw(1, 3, bad)
	h.add(4, 1, []int32{0}, at, &kgo.Record{Key: str16([]byte{0, 99}, "g"), Value: []byte{0, 0}})
	h.add(5, 1, []int32{0}, at, &kgo.Record{Key: str16([]byte{0, 2}, "g"), Value: []byte{0, 9, 1}})
	h.add(6, 1, []int32{0}, at, &kgo.Record{Key: str16([]byte{0, 2}, "g"), Value: []byte{0, 3, 1}})
	undecodable := makeBatch(7, 1, []int32{0}, at, 4, []*kgo.Record{groupRecord("g", 5)}) // says zstd, is not
	h.addRaw(7, 1, undecodable)
	old := append(binary.BigEndian.AppendUint64(nil, 8), 0, 0, 0, 20, 1, 2, 3, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	h.addRaw(8, 1, old[:12+20])
	h.add(9, 1, []int32{0}, at.Add(time.Second), groupRecord("g", 6))
	h.serve(fake)
	got, logs := scanAll(t, &Scanner{Client: cl, Topic: testTopic}, Request{})
	compareSlices(t, got, []string{"0@0 g generation 1", "0@9 g generation 6"})
	if l := logs[0]; l.Corrupt != 3 || l.Unknown != 2 || l.Malformed != 1 || l.CompleteFrom != 9 {
		t.Errorf("log %+v", l)
	}
}

// TestScanResumesWhenTheLogStartMoves deletes what is about to be read.
func TestScanResumesWhenTheLogStartMoves(t *testing.T) {
	fake, cl := newFake(t, 1)
	h := &handLog{}
	for i := range 300 {
		h.add(int64(i), 1, []int32{0}, time.Unix(1_795_984_000+int64(i), 0), groupRecord("g", int32(i)))
	}
	h.serve(fake)
	var last string
	n := 0
	logs, err := (&Scanner{Client: cl, Topic: testTopic, FetchBytes: 1 << 12}).Scan(testContext(t), Request{Parallel: 1}, func(r inspect.Record) error {
		if n++; n == 1 {
			h.mu.Lock()
			h.start, h.raw, h.bases, h.last = 290, h.raw[290:], h.bases[290:], h.last[290:]
			h.mu.Unlock()
		}
		last = brief(r)
		return nil
	})
	if err != nil || last != "0@299 g generation 299" {
		t.Fatalf("last %q, error %v", last, err)
	}
	if l := logs[0]; l.CompleteFrom != 290 || n >= 300 {
		t.Errorf("log %+v after %d records, want complete from 290", l, n)
	}
}

func TestLatestMetadata(t *testing.T) {
	_, cl := newFake(t, 2)
	var recs []*kgo.Record
	recs = append(recs, on(0, groupRecord("old", 3)), on(0, groupRecord("busy", 7)))
	for i := range 40_000 {
		recs = append(recs, on(0, commitRecord("busy", 0, int64(i))))
	}
	recs = append(recs, on(0, groupRecord("busy", 8)), on(0, groupRecord("busy", 9)), on(0, commitRecord("busy", 0, 1)))
	recs = append(recs, on(1, groupRecord("other", 1)), on(1, &kgo.Record{Topic: testTopic, Key: str16([]byte{0, 2}, "gone")}))
	produce(t, cl, recs...)
	s := &Scanner{Client: cl, Topic: testTopic}
	find := func(req LatestRequest) *Latest {
		t.Helper()
		l, err := s.LatestMetadata(testContext(t), req)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	newest := func(l *Latest, g string) string {
		if recs := l.Records[g]; len(recs) > 0 {
			return brief(recs[len(recs)-1])
		}
		return ""
	}
	l := find(LatestRequest{Groups: map[int32][]string{0: {"busy"}, 1: {"other", "gone"}}})
	if len(l.Missing) > 0 || newest(l, "busy") != "0@40003 busy generation 9" || newest(l, "other") != "1@0 other generation 1" ||
		newest(l, "gone") != "1@1 gone type 2 tombstone true" {
		t.Errorf("got %+v", l)
	}
	if n := l.Logs[0].Records; n > 16_384 {
		t.Errorf("%d records read for a group whose newest is near the tail", n)
	}
	l = find(LatestRequest{Groups: map[int32][]string{0: {"busy", "old", "nobody"}}})
	if !slices.Equal(l.Missing, []string{"nobody"}) || newest(l, "old") != "0@0 old generation 3" || newest(l, "busy") != "0@40003 busy generation 9" {
		t.Errorf("got %+v", l)
	}
	if lg := l.Logs[0]; lg.From != 0 || lg.Records != 40_005 || lg.CompleteFrom != 0 {
		t.Errorf("log %+v, want every record once", lg)
	}
	l = find(LatestRequest{Groups: map[int32][]string{0: {"old"}}, Limit: 1000})
	if !slices.Equal(l.Missing, []string{"old"}) || l.Logs[0].From != 39_005 {
		t.Errorf("limited: %+v", l)
	}
}

func TestFollowSurvivesLeaderChanges(t *testing.T) {
	fake, cl := newFake(t, 3)
	produce(t, cl, on(0, groupRecord("before", 1)), on(1, groupRecord("from", 1)))
	var fetches atomic.Int32
	fake.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		fake.KeepControl()
		if n := fetches.Add(1); n%5 == 0 {
			return failFetch(req, kerr.NotLeaderForPartition), nil, true
		} else if n%11 == 0 {
			return nil, errors.New("connection torn"), true
		}
		return nil, nil, false
	})
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	ready := make(chan struct{})
	var got []string
	done := make(chan error, 1)
	var troubles atomic.Int32
	const n = 120
	go func() {
		done <- (&Scanner{Client: cl, Topic: testTopic}).Follow(ctx, FollowRequest{From: map[int32]int64{0: -1, 1: 0, 2: -1},
			Filter: Filter{Commits: true}, Wait: 20 * time.Millisecond, Ready: func() { close(ready) }, Trouble: func(Trouble) { troubles.Add(1) }},
			func(r inspect.Record) error {
				if got = append(got, brief(r)); len(got) == n+1 {
					cancel()
				}
				return nil
			})
	}()
	<-ready
	writer := newClient(t, fake)
	want := []string{"1@0 from generation 1"}
	next := map[int32]int64{0: 1, 1: 1}
	for i := range n {
		p := int32(i % 3)
		produce(t, writer, on(p, commitRecord("g", p, int64(i))))
		want = append(want, fmt.Sprintf("%d@%d g commit %d", p, next[p], i))
		next[p]++
		if i%20 == 10 {
			if err := fake.MoveTopicPartition(testTopic, p, int32(i/20)%3); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v after %d of %d records", err, len(got), n)
	}
	slices.Sort(got)
	slices.Sort(want)
	compareSlices(t, got, want)
	if troubles.Load() == 0 {
		t.Error("no trouble was told")
	}
}

// FuzzWalk walks batches whose bytes are damaged behind a checksum that holds, as a
// broker with a fault of its own would send them.
func FuzzWalk(f *testing.F) {
	recs := []*kgo.Record{groupRecord("g", 1), commitRecord("g", 0, 7), groupRecord("h", 2)}
	plain := makeBatch(0, 3, []int32{0, 1, 2}, time.Unix(1_795_984_000, 0), 0, recs)
	f.Add(plain)
	f.Add(append(slices.Clone(plain), plain...))
	f.Add(makeBatch(5, 1, []int32{0}, time.Unix(1_795_984_000, 0), attrTransactional|attrControl, []*kgo.Record{{Key: []byte{0, 0, 0, 1}}}))
	for i, codec := range []kgo.CompressionCodec{kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()} {
		c, err := kgo.DefaultCompressor(codec)
		if err != nil {
			f.Fatal(err)
		}
		body, _ := c.Compress(new(bytes.Buffer), plain[batchHeader:])
		b := append(slices.Clone(plain[:batchHeader]), body...)
		b[batchAttrs+1] = byte(i + 1)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = slices.Clone(raw)
		if len(raw) >= batchHeader { // one batch, with a length and a checksum that hold
			binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-batchPrefix))
			binary.BigEndian.PutUint32(raw[batchCRC:], crc32.Checksum(raw[batchAttrs:], castagnoli))
		}
		w := newWalker(&Filter{Commits: true})
		defer w.inflate.close()
		found := newFound(0)
		w.walk(raw, 0, span{0, 1 << 40, 0, 1 << 40}, found)
		if found.next < 0 || found.records < 0 || int64(len(found.items)) > found.batches+found.records {
			t.Errorf("%+v", found)
		}
	})
}
