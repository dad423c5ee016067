//go:build realkafka

package offsetlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
)

// brokers is a cluster of the test's own, since the tests here change the offsets
// topic's configuration and kill leaders.
type brokers struct {
	t     *testing.T
	home  string
	seeds []string
}

func ownBrokers(t *testing.T, args ...string) *brokers {
	t.Helper()
	b := &brokers{t: t, home: filepath.Join(t.TempDir(), "kafka")}
	t.Cleanup(func() { b.script("down") })
	b.seeds = strings.Split(strings.TrimSpace(b.script(append([]string{"up"}, args...)...)), ",")
	return b
}

func (b *brokers) script(args ...string) string {
	b.t.Helper()
	cmd := exec.Command(filepath.Join("..", "..", "scripts", "kafka"), args...)
	cmd.Env = append(os.Environ(), "KGDIAG_KAFKA_HOME="+b.home)
	out, err := cmd.Output()
	if err != nil {
		b.t.Fatalf("scripts/kafka %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

func (b *brokers) client(opts ...kgo.Opt) *kgo.Client {
	b.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(b.seeds...)}, opts...)...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(cl.Close)
	return cl
}

func realContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestRealScanEqualsConsumer writes the offsets topic with every compression, by
// classic groups, KIP-848 groups and transactions that commit and abort, and wants
// of the scanner exactly what an ordinary read_committed consumer gets.
func TestRealScanEqualsConsumer(t *testing.T) {
	b := ownBrokers(t, "4.1.1", "1", "--offsets-partitions", "5")
	ctx := realContext(t)
	cl := b.client()
	adm := kadm.NewClient(cl)
	if _, err := adm.CreateTopic(ctx, 3, 1, nil, "work"); err != nil {
		t.Fatal(err)
	}
	classicGroup(t, b, "first") // makes the topic
	for _, codec := range []string{"uncompressed", "gzip", "snappy", "lz4", "zstd"} {
		alter := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "compression.type", Value: kadm.StringPtr(codec)}}
		if rs, err := adm.AlterTopicConfigs(ctx, alter, Topic); err != nil || rs[0].Err != nil {
			t.Fatal(err, rs)
		}
		classicGroup(t, b, "classic-"+codec)
		consumerGroup(t, cl, "consumer-"+codec)
		transactionalGroup(t, b, "transactional-"+codec)
	}
	want := consumed(t, b)
	s := &Scanner{Client: cl, FetchBytes: 1 << 14, Dial: func() (*kgo.Client, error) { return kgo.NewClient(cl.Opts()...) }}
	for _, parallel := range []int{1, 4} {
		var got []inspect.Record
		logs, err := s.Scan(ctx, Request{Filter: Filter{Commits: true}, Parallel: parallel}, func(r inspect.Record) error {
			got = append(got, r)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(got, byPlace)
		compareSlices(t, asJSON(t, got), asJSON(t, want))
		var records int64
		for _, l := range logs {
			records += l.Records
			if l.Corrupt+l.Malformed+l.Unknown+l.Open != 0 || l.CompleteFrom != 0 || l.To != l.End {
				t.Errorf("log %+v", l)
			}
		}
		if records <= int64(len(want)) {
			t.Errorf("%d records in the log, %d handed out: aborted ones and markers are missing", records, len(want))
		}
	}
	if codecs := codecsOf(t, s); len(codecs) != 5 {
		t.Errorf("batches with the codecs %v, want all five", codecs)
	}
	kinds := map[inspect.RecordType]int{}
	for _, r := range want {
		kinds[r.Type]++
	}
	for _, typ := range []inspect.RecordType{1, 2, 3, 5, 6, 7, 8} {
		if kinds[typ] == 0 {
			t.Errorf("no record of type %d in %v", typ, kinds)
		}
	}
	t.Logf("%d records, by type %v", len(want), kinds)
}

func byPlace(a, b inspect.Record) int {
	if a.Partition != b.Partition {
		return int(a.Partition - b.Partition)
	}
	return int(a.Offset - b.Offset)
}

func asJSON(t *testing.T, recs []inspect.Record) []string {
	out := make([]string, len(recs))
	for i, r := range recs {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = string(line)
	}
	return out
}

// consumed is what an ordinary consumer of the topic gets.
func consumed(t *testing.T, b *brokers) []inspect.Record {
	t.Helper()
	cl := b.client(kgo.ConsumeTopics(Topic), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	var out []inspect.Record
	for {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		fs := cl.PollFetches(ctx)
		cancel()
		if fs.Empty() || fs.Err() != nil {
			break
		}
		fs.EachRecord(func(r *kgo.Record) {
			rec, err := Decode(r.Key, r.Value)
			if err != nil {
				t.Errorf("%d@%d: %v", r.Partition, r.Offset, err)
			}
			rec.Partition, rec.Offset, rec.LeaderEpoch, rec.Time = r.Partition, r.Offset, r.LeaderEpoch, inspect.At(r.Timestamp.UTC())
			out = append(out, rec)
		})
	}
	slices.SortFunc(out, byPlace)
	return out
}

// classicGroup joins, commits a few times and leaves.
func classicGroup(t *testing.T, b *brokers, group string) {
	t.Helper()
	ctx := realContext(t)
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.seeds...), kgo.ConsumerGroup(group), kgo.ConsumeTopics("work"), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for i := range 3 {
		if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "work", Value: []byte{byte(i)}}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if fs := cl.PollFetches(ctx); fs.Err() != nil {
			t.Fatal(fs.Err())
		}
		if err := cl.CommitUncommittedOffsets(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// consumerGroup is a KIP-848 member that joins and leaves.
func consumerGroup(t *testing.T, cl *kgo.Client, group string) {
	t.Helper()
	ctx := realContext(t)
	beat := func(epoch int32) *kmsg.ConsumerGroupHeartbeatResponse {
		req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		req.Group, req.MemberID, req.MemberEpoch, req.RebalanceTimeoutMillis = group, "4f5PFd7mQPyTfwBrmzJsnA", epoch, 7000
		req.SubscribedTopicNames, req.Topics = []string{"work"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		resp, err := req.RequestWith(ctx, cl)
		if err == nil {
			err = kerr.ErrorForCode(resp.ErrorCode)
		}
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	beat(0)
	beat(-1)
}

// transactionalGroup commits offsets in one transaction that commits and one that aborts.
func transactionalGroup(t *testing.T, b *brokers, group string) {
	t.Helper()
	ctx := realContext(t)
	s, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(b.seeds...), kgo.ConsumerGroup(group), kgo.ConsumeTopics("work"),
		kgo.TransactionalID(group), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxBytes(1))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, end := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit, kgo.TryAbort} {
		if fs := s.PollFetches(ctx); fs.Err() != nil {
			t.Fatal(fs.Err())
		}
		if err := s.Begin(); err != nil {
			t.Fatal(err)
		}
		if err := s.ProduceSync(ctx, &kgo.Record{Topic: "work", Value: []byte("t")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if end == kgo.TryAbort {
			abortWithOffsets(t, b, group)
		}
		if _, err := s.End(ctx, end); err != nil {
			t.Fatal(err)
		}
	}
}

// abortWithOffsets commits offsets in a transaction of its own and aborts it.
func abortWithOffsets(t *testing.T, b *brokers, group string) {
	t.Helper()
	ctx := realContext(t)
	id := group + "-aborted"
	cl := b.client(kgo.TransactionalID(id))
	pid, epoch, err := cl.ProducerID(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "work", Value: []byte("aborted")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = id, pid, epoch, group+"-offsets"
	added, err := add.RequestWith(ctx, cl)
	if err == nil {
		err = kerr.ErrorForCode(added.ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.ProducerID, commit.ProducerEpoch, commit.Group, commit.Generation = id, pid, epoch, group+"-offsets", -1
	rt, rp := kmsg.NewTxnOffsetCommitRequestTopic(), kmsg.NewTxnOffsetCommitRequestTopicPartition()
	rt.Topic, rp.Offset = "work", 666
	rt.Partitions = append(rt.Partitions, rp)
	commit.Topics = append(commit.Topics, rt)
	committed, err := commit.RequestWith(ctx, cl)
	if err == nil {
		err = kerr.ErrorForCode(committed.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := cl.EndTransaction(ctx, kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
}

// codecsOf are the compressions of the batches in the topic.
func codecsOf(t *testing.T, s *Scanner) map[int16]bool {
	t.Helper()
	ctx := realContext(t)
	c := s.newCluster()
	if err := c.refresh(ctx); err != nil {
		t.Fatal(err)
	}
	out := map[int16]bool{}
	for _, p := range c.partitions() {
		l, _ := c.leader(p)
		resp, err := c.fetch(ctx, s.Client, l.broker, time.Second, []want{{p, 0, -1, 8 << 20}})
		if err != nil {
			t.Fatal(err)
		}
		each(resp, func(p *kmsg.FetchResponseTopicPartition) {
			var b batch
			for recs := p.RecordBatches; ; {
				rest, state := b.next(recs)
				if state != batchGood {
					return
				}
				if b.attrs&attrControl == 0 {
					out[b.attrs&attrCodec] = true
				}
				recs = rest
			}
		})
	}
	return out
}

// TestRealFollowSurvivesKilledLeader kills the leader of a partition with SIGKILL
// while commits go into it and Follow reads it, and wants of Follow every record
// that the log holds in the end, once.
func TestRealFollowSurvivesKilledLeader(t *testing.T) {
	b := ownBrokers(t, "4.1.1", "3", "--offsets-partitions", "1")
	ctx := realContext(t)
	cl := b.client(kgo.MetadataMinAge(100 * time.Millisecond))
	adm := kadm.NewClient(cl)
	if _, err := adm.CreateTopic(ctx, 3, 3, nil, "work"); err != nil {
		t.Fatal(err)
	}
	classicGroup(t, b, "first")

	s := &Scanner{Client: b.client(kgo.MetadataMinAge(100 * time.Millisecond))}
	following, stop := context.WithCancel(ctx)
	defer stop()
	ready, done := make(chan struct{}), make(chan error, 1)
	var got []string
	troubles := map[string]int{}
	const last = 400
	go func() {
		done <- s.Follow(following, FollowRequest{From: map[int32]int64{0: 0}, Filter: Filter{Commits: true},
			Ready: func() { close(ready) }, Trouble: func(tr Trouble) { troubles[fmt.Sprint(tr.Err)]++ }},
			func(r inspect.Record) error {
				got = append(got, brief(r))
				if r.Group == "g" && r.Commit != nil && r.Commit.Offset == last {
					stop()
				}
				return nil
			})
	}()
	<-ready
	killed := -1
	for i := 1; i <= last; i++ {
		if i == last/2 {
			killed = leaderOf(t, adm)
			b.script("kill", strconv.Itoa(killed))
		}
		commitUntilDone(ctx, t, adm, int64(i))
	}
	if err := <-done; !errors.Is(err, context.Canceled) || ctx.Err() != nil {
		t.Fatalf("follow: %v; troubles %v", err, troubles)
	}
	if now := leaderOf(t, adm); now == killed {
		t.Errorf("broker %d still leads", now)
	}
	var want []string
	epochs := map[int32]bool{}
	if _, err := s.Scan(ctx, Request{Filter: Filter{Commits: true}}, func(r inspect.Record) error {
		want = append(want, brief(r))
		epochs[r.LeaderEpoch] = true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	compareSlices(t, got, want[:len(got)])
	if rest := want[len(got):]; slices.ContainsFunc(rest, func(s string) bool { return !strings.Contains(s, "g commit "+strconv.Itoa(last)) }) {
		t.Errorf("Follow missed %v", rest)
	}
	if len(epochs) < 2 {
		t.Errorf("leader epochs %v, want the change to show", epochs)
	}
	t.Logf("%d records, leader %d killed, troubles %v", len(got), killed, troubles)
}

func leaderOf(t *testing.T, adm *kadm.Client) int {
	t.Helper()
	topics, err := adm.ListTopicsWithInternal(realContext(t), Topic)
	if err != nil {
		t.Fatal(err)
	}
	return int(topics[Topic].Partitions[0].Leader)
}

// commitUntilDone commits until the coordinator, whoever it is by now, takes it.
func commitUntilDone(ctx context.Context, t *testing.T, adm *kadm.Client, offset int64) {
	t.Helper()
	var os kadm.Offsets
	os.AddOffset("work", 0, offset, -1)
	for {
		rs, err := adm.CommitOffsets(ctx, "g", os)
		if err == nil && rs.Ok() {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("commit %d: %v %v", offset, err, rs.Error())
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}
