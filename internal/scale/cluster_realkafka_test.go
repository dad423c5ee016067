//go:build realkafka

package scale

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/kgdiag/kgdiag/locate"
)

// cluster is the cluster under test, with the leaders of its offsets partitions.
type cluster struct {
	t       *testing.T
	cl      *kgo.Client
	id      [16]byte
	leaders map[int32]int32
}

// topic is what the groups commit offsets of, and width how many partitions it has, of
// which each group commits all.
const (
	topic = "work"
	width = 10
)

// internalClient is the client id with which a broker takes records for its internal
// topics from a producer (KafkaApis.handleProduceRequest).
const internalClient = "__admin_client"

// connect opens a client and makes the topics, unless they are there.
func connect(t *testing.T) *cluster {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap(t)...), kgo.ClientID(internalClient), kgo.DisableClientMetrics(),
		kgo.MaxVersions(kversion.V4_0_0()) /* topics by name */)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	c := &cluster{t: t, cl: cl}
	adm := kadm.NewClient(cl)
	adm.CreateTopic(t.Context(), width, 1, nil, topic)
	for len(c.leaders) == 0 {
		c.commit("first", 0) // creates the offsets topic
		c.learn(adm)
	}
	return c
}

func bootstrap(t *testing.T) []string {
	t.Helper()
	seeds := os.Getenv("KGDIAG_TEST_BOOTSTRAP")
	if seeds == "" {
		t.Fatal("KGDIAG_TEST_BOOTSTRAP is not set: run scripts/bench")
	}
	return strings.Split(seeds, ",")
}

// learn asks who leads the offsets partitions.
func (c *cluster) learn(adm *kadm.Client) {
	c.t.Helper()
	topics, err := adm.ListTopicsWithInternal(c.t.Context(), locate.OffsetsTopic)
	if err != nil {
		c.t.Fatal(err)
	}
	leaders := map[int32]int32{}
	for _, p := range topics[locate.OffsetsTopic].Partitions {
		if p.Err != nil || p.Leader < 0 {
			return
		}
		leaders[p.Partition] = p.Leader
	}
	c.id, c.leaders = topics[locate.OffsetsTopic].ID, leaders
}

// partition is the offsets partition of a group.
func (c *cluster) partition(group string) int32 {
	c.t.Helper()
	p, err := locate.Partition(group, int32(max(len(c.leaders), 1)))
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

// commit commits one offset of each partition as a client without a group does, and tries
// again while the coordinator is not ready.
func (c *cluster) commit(group string, offset int64) {
	c.t.Helper()
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic = topic
	for p := range int32(width) {
		rp := kmsg.NewOffsetCommitRequestTopicPartition()
		rp.Partition, rp.Offset = p, offset
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	var by kmsg.Requestor = c.cl
	if leader, ok := c.leaders[c.partition(group)]; ok {
		by = c.cl.Broker(int(leader))
	}
	for end := time.Now().Add(2 * time.Minute); ; {
		resp, err := req.RequestWith(c.t.Context(), by)
		if err == nil {
			err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
		}
		if err == nil {
			return
		}
		if time.Now().After(end) || c.t.Context().Err() != nil {
			c.t.Fatalf("commit of %s: %v", group, err)
		}
		wait(c.t.Context(), 50*time.Millisecond)
	}
}

// wait waits for d, or for the end of the test.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// groupName is the id of the i-th group.
func groupName(i int) string { return fmt.Sprintf("group-%05d", i) }

// groups commits once for each group from the first to the last, which creates them.
func (c *cluster) groups(first, last int) {
	each(32, last-first, func(i int) { c.commit(groupName(first+i), 1) })
}

// each calls f for 0 to n-1, so many at a time.
func each(atATime, n int, f func(int)) {
	var wg sync.WaitGroup
	work := make(chan int)
	for range atATime {
		wg.Go(func() {
			for i := range work {
				f(i)
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wg.Wait()
}

// batch is a batch of commits of a group as the coordinator writes it for one request, or
// for several that it wrote together.
func batch(group string, records int) []byte {
	var body []byte
	for i := range records {
		key := kmsg.OffsetCommitKey{Version: 1, Group: group, Topic: topic, Partition: int32(i % width)}
		value := kmsg.OffsetCommitValue{Version: 3, Offset: int64(i), LeaderEpoch: -1, CommitTimestamp: time.Now().UnixMilli()}
		rec := kmsg.NewRecord()
		rec.OffsetDelta, rec.Key, rec.Value = int32(i), key.AppendTo(nil), value.AppendTo(nil)
		rec.Length = int32(len(rec.AppendTo(nil)) - 1)
		rec.Length = int32(len(rec.AppendTo(nil)) - len(binary.AppendVarint(nil, int64(rec.Length))))
		body = rec.AppendTo(body)
	}
	b := kmsg.NewRecordBatch()
	b.PartitionLeaderEpoch, b.Magic, b.LastOffsetDelta = -1, 2, int32(records-1)
	b.ProducerID, b.ProducerEpoch, b.FirstSequence = -1, -1, -1
	b.NumRecords, b.Records = int32(records), body
	raw := b.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	return raw
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// stamped is a batch at a time.
func stamped(template []byte, at time.Time) []byte {
	raw := append([]byte(nil), template...)
	binary.BigEndian.PutUint64(raw[27:], uint64(at.UnixMilli()))
	binary.BigEndian.PutUint64(raw[35:], uint64(at.UnixMilli()))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], castagnoli))
	return raw
}

// filling is what to write into partitions of the offsets log.
type filling struct {
	templates map[int32][][]byte // by partition, taken in turn
	batches   int                // in each partition
	from, to  time.Time          // over which they are spread
}

// fill writes it, with the brokers side by side, and gives the bytes.
func (c *cluster) fill(f filling) (bytes int64) {
	byLeader := map[int32][]int32{}
	for p := range f.templates {
		byLeader[c.leaders[p]] = append(byLeader[c.leaders[p]], p)
	}
	const inFlight = 4
	var wg sync.WaitGroup
	var mu sync.Mutex
	for leader, partitions := range byLeader {
		for lane := range inFlight {
			wg.Go(func() {
				for b := lane; b < f.batches; b += inFlight {
					at := f.from.Add(time.Duration(float64(f.to.Sub(f.from)) * float64(b) / float64(f.batches)))
					n := c.produce(leader, partitions, func(p int32) []byte { return stamped(f.templates[p][b%len(f.templates[p])], at) })
					mu.Lock()
					bytes += n
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	return bytes
}

// produce writes one batch into each of the partitions.
func (c *cluster) produce(leader int32, partitions []int32, records func(int32) []byte) (bytes int64) {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = 1, 30_000
	rt := kmsg.NewProduceRequestTopic()
	rt.Topic, rt.TopicID = locate.OffsetsTopic, c.id
	for _, p := range partitions {
		rp := kmsg.NewProduceRequestTopicPartition()
		rp.Partition, rp.Records = p, records(p)
		bytes += int64(len(rp.Records))
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(c.t.Context(), c.cl.Broker(int(leader)))
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		c.t.Errorf("produce: %v", err)
	}
	return bytes
}
