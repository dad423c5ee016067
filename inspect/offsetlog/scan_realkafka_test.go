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
	"github.com/kgdiag/kgdiag/internal/pause"
	"github.com/kgdiag/kgdiag/locate"
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
		if rs, err := adm.AlterTopicConfigs(ctx, alter, locate.OffsetsTopic); err != nil || rs[0].Err != nil {
			t.Fatal(err, rs)
		}
		classicGroup(t, b, "classic-"+codec)
		consumerGroup(t, b, "consumer-"+codec)
		transactionalGroup(t, b, "transactional-"+codec)
	}
	markersWritten(ctx, t, cl)
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
	hangingTransaction(t, b, s)
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
	cl := b.client(kgo.ConsumeTopics(locate.OffsetsTopic), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
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

// consumerGroup is a KIP-848 member that joins, commits offsets in a transaction that
// commits and one that aborts, and leaves.
func consumerGroup(t *testing.T, b *brokers, group string) {
	t.Helper()
	ctx := realContext(t)
	cl := b.client()
	const member = "4f5PFd7mQPyTfwBrmzJsnA"
	beat := func(epoch int32) int32 {
		req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
		req.Group, req.MemberID, req.MemberEpoch, req.RebalanceTimeoutMillis = group, member, epoch, 7000
		req.SubscribedTopicNames, req.Topics = []string{"work"}, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
		resp, err := req.RequestWith(ctx, cl)
		if err == nil {
			err = kerr.ErrorForCode(resp.ErrorCode)
		}
		if err != nil {
			t.Fatal(err)
		}
		return resp.MemberEpoch
	}
	epoch := beat(0)
	for offset, end := range map[int64]kgo.TransactionEndTry{777: kgo.TryCommit, 666: kgo.TryAbort} {
		endTransaction(ctx, t, commitInTransaction(ctx, t, b, group, member, epoch, offset), end)
	}
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
			endTransaction(ctx, t, commitInTransaction(ctx, t, b, group+"-offsets", "", -1, 666), kgo.TryAbort)
		}
		if _, err := s.End(ctx, end); err != nil {
			t.Fatal(err)
		}
	}
}

// commitInTransaction begins a transaction and commits an offset of the group in it. The
// transaction is left open; the client ends it.
func commitInTransaction(ctx context.Context, t *testing.T, b *brokers, group, member string, epoch int32, offset int64) *kgo.Client {
	t.Helper()
	id := fmt.Sprintf("%s-%d", group, offset)
	cl := b.client(kgo.TransactionalID(id), kgo.TransactionTimeout(10*time.Minute))
	pid, producerEpoch, err := cl.ProducerID(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := cl.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := cl.ProduceSync(ctx, &kgo.Record{Topic: "work", Value: []byte("in a transaction")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	add := kmsg.NewPtrAddOffsetsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch, add.Group = id, pid, producerEpoch, group
	added, err := add.RequestWith(ctx, cl)
	if err == nil {
		err = kerr.ErrorForCode(added.ErrorCode)
	}
	if err != nil {
		t.Fatal(err)
	}
	commit := kmsg.NewPtrTxnOffsetCommitRequest()
	commit.TransactionalID, commit.ProducerID, commit.ProducerEpoch = id, pid, producerEpoch
	commit.Group, commit.MemberID, commit.Generation = group, member, epoch
	rt, rp := kmsg.NewTxnOffsetCommitRequestTopic(), kmsg.NewTxnOffsetCommitRequestTopicPartition()
	rt.Topic, rp.Offset = "work", offset
	rt.Partitions = append(rt.Partitions, rp)
	commit.Topics = append(commit.Topics, rt)
	committed, err := commit.RequestWith(ctx, cl)
	if err == nil {
		err = kerr.ErrorForCode(committed.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("commit in a transaction of %s: %v", group, err)
	}
	return cl
}

// endTransaction ends a transaction, markers and all.
func endTransaction(ctx context.Context, t *testing.T, cl *kgo.Client, end kgo.TransactionEndTry) {
	t.Helper()
	if err := cl.EndTransaction(ctx, end); err != nil {
		t.Fatal(err)
	}
	markersWritten(ctx, t, cl)
}

// markersWritten waits until the markers of all transactions that have ended are in the
// log: the coordinator answers before it has had them written.
func markersWritten(ctx context.Context, t *testing.T, cl *kgo.Client) {
	t.Helper()
	for {
		all, err := kadm.NewClient(cl).DescribeTransactions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(all.Sorted(), func(d kadm.DescribedTransaction) bool { return strings.HasPrefix(d.State, "Prepare") }) {
			return
		}
	}
}

// neighbour is a group in the same of n offsets partitions.
func neighbour(t *testing.T, group string, n int32) string {
	t.Helper()
	want, err := locate.Partition(group, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		name := fmt.Sprintf("beside-%s-%d", group, i)
		if p, err := locate.Partition(name, n); err != nil || p == want {
			return name
		}
	}
}

// hangingTransaction leaves a transaction open in the log, as a killed producer does. An
// ordinary read_committed consumer sees nothing after it; the scanner and Follow do, and
// get what is in it once it is committed.
func hangingTransaction(t *testing.T, b *brokers, s *Scanner) {
	t.Helper()
	ctx := realContext(t)
	const group = "hangs"
	beside := neighbour(t, group, 5)
	groups := map[string]bool{group: true, beside: true}
	following, stop := context.WithCancel(ctx)
	defer stop()
	ready, done := make(chan struct{}), make(chan error, 1)
	got := make(chan string, 100)
	from := map[int32]int64{0: -1, 1: -1, 2: -1, 3: -1, 4: -1}
	go func() {
		done <- s.Follow(following, FollowRequest{From: from, Filter: Filter{Commits: true, Groups: groups}, Ready: func() { close(ready) }},
			func(r inspect.Record) error { got <- brief(r)[2:]; return nil })
	}()
	<-ready
	open := commitInTransaction(ctx, t, b, group, "", -1, 999)
	classicGroup(t, b, beside)

	scan := func() (seen []string, hanging int64) {
		logs, err := s.Scan(ctx, Request{Filter: Filter{Commits: true, Groups: groups}}, func(r inspect.Record) error {
			seen = append(seen, brief(r)[2:])
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range logs {
			hanging += l.Open
		}
		return seen, hanging
	}
	seen, hanging := scan()
	if hanging != 1 || len(seen) < 3 || strings.Contains(strings.Join(seen, "\n"), "commit 999") {
		t.Errorf("an open transaction: %d records of it counted, %q handed out; want 1, and all that came after", hanging, seen)
	}
	if slices.ContainsFunc(consumed(t, b), func(r inspect.Record) bool { return groups[r.Group] }) {
		t.Error("a read_committed consumer sees past the open transaction: this test tells nothing")
	}
	endTransaction(ctx, t, open, kgo.TryCommit)
	after, hanging := scan()
	if hanging != 0 || len(after) != len(seen)+1 || !strings.HasSuffix(after[len(after)-1], group+" commit 999") {
		t.Errorf("after its commit: %d counted as open, %q; want also its offset, last", hanging, after)
	}
	for i, want := range after {
		select {
		case line := <-got:
			if line != want {
				t.Errorf("Follow, record %d: %q, want %q", i, line, want)
			}
		case <-ctx.Done():
			t.Fatalf("Follow brought %d of %d records", i, len(after))
		}
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
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
	scanOverKilledLeader(t, b, adm, want)
}

// scanOverKilledLeader kills the leader while a scan is in the middle of the log, and
// wants of it each record that there is, once.
func scanOverKilledLeader(t *testing.T, b *brokers, adm *kadm.Client, want []string) {
	t.Helper()
	s := &Scanner{Client: b.client(kgo.MetadataMinAge(100 * time.Millisecond)), FetchBytes: 1 << 12, Patience: time.Minute}
	killed := leaderOf(t, adm)
	var got []string
	logs, err := s.Scan(realContext(t), Request{Parallel: 2, Filter: Filter{Commits: true}}, func(r inspect.Record) error {
		if len(got) == 0 {
			b.script("kill", strconv.Itoa(killed))
		}
		got = append(got, brief(r))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	compareSlices(t, got, want)
	if l := logs[0]; l.CompleteFrom != 0 || l.Error != "" {
		t.Errorf("log %+v", l)
	}
	if now := leaderOf(t, adm); now == killed {
		t.Errorf("broker %d still leads: the test tells nothing", now)
	}
}

// TestRealScanOverRetention deletes the head of the log, by retention, while a scan is in
// it and before Follow begins: both go on at the new start, and say what is lost.
func TestRealScanOverRetention(t *testing.T) {
	b := ownBrokers(t, "4.1.1", "1", "--offsets-partitions", "1", "--set", "log.retention.check.interval.ms=200", "--set", "log.initial.task.delay.ms=100",
		"--set", "log.segment.delete.delay.ms=0")
	ctx := realContext(t)
	cl := b.client()
	adm := kadm.NewClient(cl)
	if _, err := adm.CreateTopic(ctx, 3, 1, nil, "work"); err != nil {
		t.Fatal(err)
	}
	const before, after = 1500, 50
	for i := range int64(before) {
		commitUntilDone(ctx, t, adm, i)
	}
	s := &Scanner{Client: cl, FetchBytes: 1 << 12}
	var got []inspect.Record
	logs, err := s.Scan(ctx, Request{Parallel: 1, Filter: Filter{Commits: true}}, func(r inspect.Record) error {
		if len(got) == 0 {
			retain(ctx, t, s, adm, before-100)
			for i := range int64(after) {
				commitUntilDone(ctx, t, adm, before+i)
			}
		}
		got = append(got, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	edges, err := s.Edges(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	start := edges[0].Start
	l := logs[0]
	if len(got) >= before || start == 0 {
		t.Fatalf("%d of %d records read, the log starts at %d: nothing was deleted under the scan", len(got), before, start)
	}
	if want := min(start, l.To); l.CompleteFrom != want || l.To != before || l.Error != "" {
		t.Errorf("log %+v, want it complete from %d and read to %d", l, want, before)
	}
	for i, r := range got {
		if i > 0 && r.Offset != got[i-1].Offset+1 && r.Offset != start {
			t.Errorf("offset %d follows %d, and the log starts at %d", r.Offset, got[i-1].Offset, start)
		}
	}
	t.Logf("%d records read, then the log began at %d of %d", len(got), start, edges[0].End)

	following, stop := context.WithCancel(ctx)
	defer stop()
	var lost []Trouble
	next := int64(-1)
	err = s.Follow(following, FollowRequest{From: map[int32]int64{0: 0}, Filter: Filter{Commits: true}, Trouble: func(tr Trouble) { lost = append(lost, tr) }}, func(r inspect.Record) error {
		if next < 0 {
			next = r.Offset
		}
		if r.Offset != next {
			t.Errorf("Follow: offset %d, want %d", r.Offset, next)
		}
		if next = r.Offset + 1; next == edges[0].End {
			stop()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || ctx.Err() != nil {
		t.Fatal(err)
	}
	if len(lost) != 1 || lost[0].Lost != start || lost[0].Next != start || !errors.Is(lost[0].Err, kerr.OffsetOutOfRange) {
		t.Errorf("Follow told of %+v, want the loss of the first %d offsets", lost, start)
	}
}

// retain deletes what is older than a moment, until the log starts at or after an offset,
// and keeps what comes later.
func retain(ctx context.Context, t *testing.T, s *Scanner, adm *kadm.Client, from int64) {
	t.Helper()
	alter := func(kv ...string) {
		var list []kadm.AlterConfig
		for i := 0; i < len(kv); i += 2 {
			list = append(list, kadm.AlterConfig{Op: kadm.SetConfig, Name: kv[i], Value: kadm.StringPtr(kv[i+1])})
		}
		if rs, err := adm.AlterTopicConfigs(ctx, list, locate.OffsetsTopic); err != nil || rs[0].Err != nil {
			t.Fatal(err, rs)
		}
	}
	alter("cleanup.policy", "delete", "retention.ms", "1")
	for {
		edges, err := s.Edges(ctx, nil)
		if err == nil && edges[0].Start >= from {
			break
		}
		if err := pause.For(ctx, 100*time.Millisecond); err != nil {
			t.Fatalf("the log still starts at %d: %v", edges[0].Start, err)
		}
	}
	alter("cleanup.policy", "compact", "retention.ms", "604800000")
}

func leaderOf(t *testing.T, adm *kadm.Client) int {
	t.Helper()
	topics, err := adm.ListTopicsWithInternal(realContext(t), locate.OffsetsTopic)
	if err != nil {
		t.Fatal(err)
	}
	return int(topics[locate.OffsetsTopic].Partitions[0].Leader)
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
		if err := pause.For(ctx, 50*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}
