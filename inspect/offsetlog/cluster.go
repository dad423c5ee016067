package offsetlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/internal/pause"
)

// cluster knows the offsets topic and who leads its partitions.
type cluster struct {
	client *kgo.Client
	topic  string
	asking chan struct{} // holds one token, for whoever asks for Metadata

	mu      sync.Mutex
	id      [16]byte
	leaders map[int32]leader
	at      time.Time // of the last refresh
}

// leader is the broker that leads a partition, and since which leader epoch.
type leader struct {
	broker int32 // -1 none
	epoch  int32
	err    error // of the partition, where it has no leader
}

func (s *Scanner) newCluster() *cluster {
	return &cluster{client: s.Client, topic: s.topic(), asking: make(chan struct{}, 1)}
}

// knownFor is how long leaders are taken for granted from one scan to the next. One
// that has moved refuses, and is asked for again.
const knownFor = 10 * time.Second

// Learn takes over what a Metadata answer of just now says of the topic, so that the
// first scan need not ask for it again. An answer without the topic, or nil, is ignored.
func (s *Scanner) Learn(resp *kmsg.MetadataResponse) {
	if resp == nil {
		return
	}
	for i := range resp.Topics {
		if t := &resp.Topics[i]; t.Topic != nil && *t.Topic == s.topic() && t.ErrorCode == 0 {
			c := s.newCluster()
			c.learn(t)
			s.keep(c)
		}
	}
}

func (s *Scanner) keep(c *cluster) {
	s.knownMu.Lock()
	defer s.knownMu.Unlock()
	s.known = c
}

// located is the cluster as it was found a moment ago, or is now. It is an error if
// the topic does not exist, or may not be seen.
func (s *Scanner) located(ctx context.Context) (*cluster, error) {
	s.knownMu.Lock()
	c := s.known
	s.knownMu.Unlock()
	if c != nil && c.age() < knownFor {
		return c, nil
	}
	c = s.newCluster()
	if err := c.refresh(ctx); err != nil {
		return nil, err
	}
	s.keep(c)
	return c, nil
}

func (c *cluster) age() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.at)
}

// refresh asks for the topic's metadata. It is an error if the topic does not
// exist, or may not be seen.
func (c *cluster) refresh(ctx context.Context) error { return c.refreshSince(ctx, time.Now()) }

// refreshSince refreshes unless somebody has after t, so that the workers of a scan
// that run into the same dead broker ask once.
func (c *cluster) refreshSince(ctx context.Context, t time.Time) error {
	select {
	case c.asking <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.asking }()
	c.mu.Lock()
	done := c.at.After(t)
	c.mu.Unlock()
	if done {
		return nil
	}
	resp, err := askMetadata(ctx, c.client, c.topic)
	if err != nil {
		return fmt.Errorf("topic %s: metadata: %w", c.topic, err)
	}
	if len(resp.Topics) != 1 {
		return fmt.Errorf("topic %s: metadata holds %d topics", c.topic, len(resp.Topics))
	}
	topic := &resp.Topics[0]
	if err := kerr.ErrorForCode(topic.ErrorCode); err != nil {
		return fmt.Errorf("topic %s: %w", c.topic, err)
	}
	c.learn(topic)
	return nil
}

// learn replaces what is known of the topic.
func (c *cluster) learn(t *kmsg.MetadataResponseTopic) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id, c.at = t.TopicID, time.Now()
	c.leaders = make(map[int32]leader, len(t.Partitions))
	for _, p := range t.Partitions {
		c.leaders[p.Partition] = leader{p.Leader, p.LeaderEpoch, kerr.ErrorForCode(p.ErrorCode)}
	}
}

// hedgeAfter is how long a broker may think about a question that any other can
// answer too before the next one is asked as well.
const hedgeAfter = time.Second

// askMetadata is a Metadata request that creates nothing. The brokers that the
// client knows are asked one after another, each as soon as the one before has
// failed or thought for hedgeAfter, since one that hangs must not hold up a scan of
// the others. Where the client knows none yet it asks by itself, and so learns them.
func askMetadata(ctx context.Context, cl *kgo.Client, topic string) (*kmsg.MetadataResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	brokers := cl.DiscoveredBrokers()
	answers := make(chan metadataAnswer, len(brokers)+1)
	asked, pending := 0, 0
	next := func() {
		if asked > len(brokers) {
			return
		}
		var by kmsg.Requestor = cl // the last resort, which also dials the bootstrap addresses again
		if asked < len(brokers) {
			by = brokers[asked]
		}
		asked, pending = asked+1, pending+1
		go func() {
			resp, err := metadataOf(topic).RequestWith(ctx, by)
			answers <- metadataAnswer{resp, err}
		}()
	}
	next()
	for {
		hedge := time.NewTimer(hedgeAfter)
		select {
		case a := <-answers:
			hedge.Stop()
			if pending--; a.err == nil {
				return a.resp, nil
			}
			if next(); pending == 0 {
				return nil, a.err
			}
		case <-hedge.C:
			next()
		case <-ctx.Done():
			hedge.Stop()
			return nil, ctx.Err()
		}
	}
}

// metadataOf is the request; each broker gets its own, since the client writes the
// version into it.
func metadataOf(topic string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = kmsg.StringPtr(topic)
	req.Topics = append(req.Topics, t)
	return req
}

// metadataAnswer is what one broker said.
type metadataAnswer struct {
	resp *kmsg.MetadataResponse
	err  error
}

// partitions are the topic's partitions in order.
func (c *cluster) partitions() []int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]int32, 0, len(c.leaders))
	for p := range c.leaders {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// known splits ids into partitions that the topic has, each once, and others.
func (c *cluster) known(ids []int32) (known, missing []int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		switch _, ok := c.leaders[id]; {
		case slices.Contains(known, id):
		case ok:
			known = append(known, id)
		default:
			missing = append(missing, id)
		}
	}
	return known, missing
}

// leader is who leads partition p. ok is false where the topic has no such
// partition.
func (c *cluster) leader(p int32) (l leader, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok = c.leaders[p]
	return l, ok
}

// The times by which ListOffsets means the ends of a log.
const (
	endOfLog   int64 = -1 // the high watermark
	startOfLog int64 = -2
)

const (
	// offsetsWithin is how long a leader may take to list offsets.
	offsetsWithin = 5 * time.Second
	// offsetsTries is how often leaders are asked, with fresh metadata between.
	offsetsTries = 4
)

// offsets lists one offset of each partition: by time in milliseconds, endOfLog or
// startOfLog. A time after the newest record answers -1. What
// could not be answered is in the second map. Each leader is asked for its own, so
// that one that hangs costs its own partitions alone.
func (c *cluster) offsets(ctx context.Context, partitions []int32, at int64) (map[int32]int64, map[int32]error) {
	out, errs := make(map[int32]int64), make(map[int32]error)
	open := partitions
	for try := 1; len(open) > 0; try++ {
		asked := time.Now()
		c.offsetsOnce(ctx, open, at, out, errs)
		open = slices.DeleteFunc(slices.Clone(open), func(p int32) bool {
			return errs[p] == nil || !moved(errs[p]) || errors.Is(errs[p], context.DeadlineExceeded)
		})
		if len(open) == 0 || try == offsetsTries || pause.For(ctx, backoff(try)) != nil || c.refreshSince(ctx, asked) != nil {
			break
		}
	}
	return out, errs
}

// offsetsOnce asks every leader once and replaces what out and errs say of its
// partitions.
func (c *cluster) offsetsOnce(ctx context.Context, partitions []int32, at int64, out map[int32]int64, errs map[int32]error) {
	byLeader := make(map[int32][]int32)
	for _, p := range partitions {
		l, ok := c.leader(p)
		switch {
		case !ok:
			errs[p] = fmt.Errorf("list offsets: %w", kerr.UnknownTopicOrPartition)
		case l.broker < 0:
			errs[p] = fmt.Errorf("list offsets: %w", kerr.LeaderNotAvailable)
		default:
			byLeader[l.broker] = append(byLeader[l.broker], p)
		}
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	for broker, ids := range byLeader {
		wg.Go(func() {
			got, failed := c.offsetsOf(ctx, broker, ids, at)
			mu.Lock()
			defer mu.Unlock()
			for _, p := range ids {
				delete(errs, p)
				if err := failed[p]; err != nil {
					errs[p] = fmt.Errorf("list offsets: %w", err)
				} else {
					out[p] = got[p]
				}
			}
		})
	}
	wg.Wait()
}

// offsetsOf asks one leader.
func (c *cluster) offsetsOf(ctx context.Context, broker int32, ids []int32, at int64) (map[int32]int64, map[int32]error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = c.topic
	for _, p := range ids {
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp, rp.CurrentLeaderEpoch = p, at, -1
		t.Partitions = append(t.Partitions, rp)
	}
	req.Topics = append(req.Topics, t)
	limited, cancel := context.WithTimeout(ctx, offsetsWithin)
	defer cancel()
	out, errs := make(map[int32]int64), make(map[int32]error)
	resp, err := req.RequestWith(limited, c.client.Broker(int(broker)))
	if err == nil {
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				out[p.Partition], errs[p.Partition] = p.Offset, kerr.ErrorForCode(p.ErrorCode)
			}
		}
		err = errors.New("no answer")
	}
	for _, p := range ids {
		if _, ok := out[p]; !ok {
			errs[p] = err
		}
	}
	return out, errs
}

// want is one partition of a fetch.
type want struct {
	partition int32
	offset    int64
	epoch     int32 // leader epoch that the broker must have; -1 any
	bytes     int32
}

// answerWithin is how long a broker may take for a fetch beyond the wait that it was
// asked for.
const answerWithin = 10 * time.Second

// fetch asks one broker for records, without a fetch session, up to the high
// watermark (read_uncommitted: see transactions).
func (c *cluster) fetch(ctx context.Context, cl *kgo.Client, broker int32, wait time.Duration, wants []want) (*kmsg.FetchResponse, error) {
	req := kmsg.NewPtrFetchRequest()
	req.ReplicaID = -1
	req.SessionEpoch = -1
	req.MaxWaitMillis = int32(wait.Milliseconds())
	req.MinBytes = 1
	t := kmsg.NewFetchRequestTopic()
	c.mu.Lock()
	t.Topic, t.TopicID = c.topic, c.id // by id from v13, by name before
	c.mu.Unlock()
	req.MaxBytes = 0
	for _, w := range wants {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.CurrentLeaderEpoch, p.PartitionMaxBytes = w.partition, w.offset, w.epoch, w.bytes
		req.MaxBytes = min(req.MaxBytes+w.bytes, max(maxAnswer, w.bytes))
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	ctx, cancel := context.WithTimeout(ctx, wait+answerWithin)
	defer cancel()
	resp, err := cl.Broker(int(broker)).Request(ctx, req)
	if err != nil {
		return nil, err
	}
	answer := resp.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(answer.ErrorCode); err != nil {
		return nil, err
	}
	return answer, nil
}

// maxAnswer bounds one fetch response over many partitions.
const maxAnswer = 8 << 20

// errNoAnswer is a fetch response that leaves out the partition that was asked for.
var errNoAnswer = errors.New("fetch: no answer for the partition")

// each hands every partition of a fetch response to fn.
func each(resp *kmsg.FetchResponse, fn func(*kmsg.FetchResponseTopicPartition)) {
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			fn(&resp.Topics[i].Partitions[j])
		}
	}
}

// moved reports whether an error may go away when the metadata is asked again: the
// leader has changed, is not known yet or is not reached. What the caller may not
// do, and what is misconfigured, does not.
func moved(err error) bool {
	var ke *kerr.Error
	if errors.As(err, &ke) {
		return ke.Retriable || ke == kerr.FencedLeaderEpoch || ke == kerr.UnknownTopicID || ke == kerr.InconsistentTopicID
	}
	return !errors.Is(err, context.Canceled) && !errors.Is(err, kgo.ErrClientClosed)
}

// backoff is the wait before try n, from 50 ms to 1 s.
func backoff(n int) time.Duration {
	return min(50*time.Millisecond<<min(n, 5), time.Second)
}
