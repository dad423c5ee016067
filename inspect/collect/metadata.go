package collect

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/locate"
)

// ErrNoOffsetsTopic says that Metadata shows no __consumer_offsets: no group has ever
// been there, or the service has no such topic, as Azure Event Hubs has none. A request
// that is routed by coordinator would create it, where it can be.
var ErrNoOffsetsTopic = errors.New(locate.OffsetsTopic + " does not exist: no group has ever committed or joined here, or the service keeps its groups elsewhere")

// ErrElsewhere is ErrNoOffsetsTopic of a cluster that lists groups all the same.
var ErrElsewhere error = elsewhere{}

type elsewhere struct{}

func (elsewhere) Error() string {
	return locate.OffsetsTopic + " does not exist, yet there are groups: the service keeps them elsewhere"
}

func (elsewhere) Is(target error) bool { return target == ErrNoOffsetsTopic }

// noteElsewhere tells in m whether groups are listed though the offsets topic is not there.
// It asks for the topic once more: the first group ever may have come with it just now.
func (c *Collector) noteElsewhere(ctx context.Context, m *Metadata, l *Listing) {
	if !errors.Is(m.OffsetsErr, ErrNoOffsetsTopic) || len(l.Groups) == 0 {
		return
	}
	if again, err := c.Metadata(ctx); err == nil && errors.Is(again.OffsetsErr, ErrNoOffsetsTopic) {
		m.OffsetsErr = ErrElsewhere
	}
}

// Elsewhere reports whether brokers list groups though m shows no offsets topic.
func (c *Collector) Elsewhere(ctx context.Context, m *Metadata) bool {
	if errors.Is(m.OffsetsErr, ErrNoOffsetsTopic) {
		c.noteElsewhere(ctx, m, c.ListAll(ctx, m))
	}
	return errors.Is(m.OffsetsErr, ErrElsewhere)
}

// Metadata is one Metadata answer (KIP-4, AllowAutoTopicCreation false), which
// neither creates topics nor needs a coordinator.
type Metadata struct {
	At         inspect.Time
	ClusterID  string
	Controller int32            // node id; on KRaft a broker that forwards to it; -1 unknown
	Brokers    []inspect.Broker // ordered by id
	Topics     map[string]TopicMeta

	// Offsets is the placement of __consumer_offsets, nil where OffsetsErr says why:
	// ErrNoOffsetsTopic, ErrElsewhere, or one of kerr's authorisation errors.
	Offsets    *inspect.OffsetsTopic
	OffsetsErr error

	byID map[[16]byte]string
}

// TopicMeta is one topic of a Metadata answer.
type TopicMeta struct {
	ID         [16]byte // zero below Metadata v10
	Partitions []PartitionMeta
	Err        error // of the topic, a *kerr.Error
}

// leader is the leader of a partition, where the topic was asked for.
func (m *Metadata) leader(topic string, partition int32) (int32, error) {
	t, ok := m.Topics[topic]
	if !ok {
		return -1, kerr.UnknownTopicOrPartition
	}
	if t.Err != nil {
		return -1, t.Err
	}
	for _, pm := range t.Partitions {
		if pm.Partition == partition {
			if pm.Leader < 0 {
				return -1, kerr.LeaderNotAvailable
			}
			return pm.Leader, nil
		}
	}
	return -1, kerr.UnknownTopicOrPartition
}

// PartitionMeta is the placement of one partition.
type PartitionMeta struct {
	Partition   int32
	Leader      int32 // -1 none
	LeaderEpoch int32 // -1 unknown
	Replicas    []int32
	ISR         []int32
	Offline     []int32
}

// Metadata asks any broker for the brokers, for __consumer_offsets, and for the
// topics named. The error is the client's: no broker could be reached in ctx's time.
func (c *Collector) Metadata(ctx context.Context, topics ...string) (*Metadata, error) {
	if resp := c.takeMet(topics); resp != nil {
		return c.readMetadata(resp), nil
	}
	resp, err := c.anyMetadata(ctx, func() *kmsg.MetadataRequest { return metadataRequest(topics) })
	if err != nil {
		return nil, err
	}
	return c.readMetadata(resp), nil
}

// takeMet is the answer with which the client connected, the first time that it says
// what is asked, and nil from then on: it grows old.
func (c *Collector) takeMet(topics []string) *kmsg.MetadataResponse {
	c.metMu.Lock()
	defer c.metMu.Unlock()
	met := c.met
	c.met = nil
	if met == nil {
		return nil
	}
	for _, name := range append([]string{locate.OffsetsTopic}, topics...) {
		if !slices.ContainsFunc(met.Topics, func(t kmsg.MetadataResponseTopic) bool { return t.Topic != nil && *t.Topic == name }) {
			return nil
		}
	}
	return met
}

// anyMetadata asks the brokers that the client knows, one after another, those first that
// have answered before: one that hangs costs a second and no more, and a connection that
// stands costs none; at last the client by itself, which dials
// the bootstrap addresses again. Each gets a request of its own from make, since the
// client writes the version into it.
func (c *Collector) anyMetadata(ctx context.Context, make func() *kmsg.MetadataRequest) (*kmsg.MetadataResponse, error) {
	var by []kmsg.Requestor
	for _, id := range c.answering() {
		by = append(by, c.cl.Broker(int(id)))
	}
	for _, b := range c.cl.DiscoveredBrokers() {
		by = append(by, b)
	}
	by = append(by, c.cl)
	return firstAnswer(ctx, by, func(ctx context.Context, b kmsg.Requestor) (*kmsg.MetadataResponse, error) {
		return make().RequestWith(ctx, b)
	})
}

// metadataFrom asks one broker.
func (c *Collector) metadataFrom(ctx context.Context, b broker) (*Metadata, error) {
	resp, err := metadataRequest(nil).RequestWith(ctx, b)
	if err != nil {
		return nil, err
	}
	return c.readMetadata(resp), nil
}

// metadataRequest asks for __consumer_offsets and topics, creating nothing.
func metadataRequest(topics []string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	req.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range append([]string{locate.OffsetsTopic}, topics...) {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	return req
}

// readMetadata turns the response into ours.
func (c *Collector) readMetadata(resp *kmsg.MetadataResponse) *Metadata {
	m := &Metadata{At: c.now(), Controller: resp.ControllerID, Topics: map[string]TopicMeta{}, byID: map[[16]byte]string{}}
	if resp.ClusterID != nil {
		m.ClusterID = *resp.ClusterID
	}
	for _, b := range resp.Brokers {
		ref := inspect.BrokerRef{ID: b.NodeID, Host: b.Host, Port: b.Port}
		if b.Rack != nil {
			ref.Rack = *b.Rack
		}
		m.Brokers = append(m.Brokers, inspect.Broker{BrokerRef: ref})
	}
	slices.SortFunc(m.Brokers, func(a, b inspect.Broker) int { return int(a.ID) - int(b.ID) })
	for i := range resp.Topics {
		m.addTopic(&resp.Topics[i])
	}
	m.readOffsetsTopic()
	return m
}

// addTopic takes over one topic of the answer.
func (m *Metadata) addTopic(t *kmsg.MetadataResponseTopic) {
	if t.Topic == nil {
		return // a topic id that nobody knows any more
	}
	tm := TopicMeta{ID: t.TopicID, Err: kerr.ErrorForCode(t.ErrorCode)}
	for _, p := range t.Partitions {
		tm.Partitions = append(tm.Partitions, PartitionMeta{Partition: p.Partition, Leader: p.Leader,
			LeaderEpoch: p.LeaderEpoch, Replicas: p.Replicas, ISR: p.ISR, Offline: p.OfflineReplicas})
	}
	slices.SortFunc(tm.Partitions, func(a, b PartitionMeta) int { return int(a.Partition) - int(b.Partition) })
	m.Topics[*t.Topic] = tm
	if t.TopicID != ([16]byte{}) {
		m.byID[t.TopicID] = *t.Topic
	}
}

// readOffsetsTopic fills Offsets or OffsetsErr.
func (m *Metadata) readOffsetsTopic() {
	t, ok := m.Topics[locate.OffsetsTopic]
	switch {
	case !ok, errors.Is(t.Err, kerr.UnknownTopicOrPartition):
		m.OffsetsErr = ErrNoOffsetsTopic
		return
	case t.Err != nil && len(t.Partitions) == 0:
		m.OffsetsErr = t.Err
		return
	}
	m.Offsets = &inspect.OffsetsTopic{}
	for _, p := range t.Partitions {
		m.Offsets.Partitions = append(m.Offsets.Partitions, inspect.OffsetsPartition{Partition: p.Partition,
			Leader: p.Leader, Replicas: p.Replicas, ISR: p.ISR, Offline: p.Offline})
	}
}

// OffsetsPartitions is the partition count of __consumer_offsets, 0 where it could
// not be read.
func (m *Metadata) OffsetsPartitions() int32 {
	if m.Offsets == nil {
		return 0
	}
	return int32(len(m.Offsets.Partitions))
}

// Leader is the leader of an offsets partition; -1 none or unknown.
func (m *Metadata) Leader(partition int32) int32 {
	if m.Offsets == nil || partition < 0 || int(partition) >= len(m.Offsets.Partitions) {
		return -1
	}
	return m.Offsets.Partitions[partition].Leader
}

// Broker finds a broker by node id.
func (m *Metadata) Broker(id int32) (inspect.BrokerRef, bool) {
	for _, b := range m.Brokers {
		if b.ID == id {
			return b.BrokerRef, true
		}
	}
	return inspect.BrokerRef{}, false
}

// ref is a pointer to the broker for a Group's Coordinator; nil for -1.
func (m *Metadata) ref(id int32) *inspect.BrokerRef {
	if id < 0 {
		return nil
	}
	if b, ok := m.Broker(id); ok {
		return &b
	}
	return &inspect.BrokerRef{ID: id}
}

// Cluster is the head of a Case.
func (c *Collector) cluster(m *Metadata) inspect.Cluster {
	return inspect.Cluster{ID: m.ClusterID, Context: c.opts.Context, Bootstrap: c.opts.Bootstrap,
		Brokers: len(m.Brokers), OffsetsPartitions: m.OffsetsPartitions()}
}

// broker is b as a destination of requests.
func (c *Collector) broker(m *Metadata, id int32) broker {
	to := broker{c: c, id: id}
	if ref, ok := m.Broker(id); ok && ref.Host != "" {
		to.addr = net.JoinHostPort(ref.Host, strconv.Itoa(int(ref.Port)))
	}
	return to
}

// brokers are all brokers as destinations.
func (c *Collector) brokers(m *Metadata) []broker {
	out := make([]broker, 0, len(m.Brokers))
	for _, b := range m.Brokers {
		out = append(out, c.broker(m, b.ID))
	}
	return out
}

// topicsByID asks for the names of topics known by id only, as OffsetFetch v10
// answers; ids that no longer exist stay unknown.
func (c *Collector) topicsByID(ctx context.Context, ids [][16]byte) ([]kmsg.MetadataResponseTopic, error) {
	resp, err := c.anyMetadata(ctx, func() *kmsg.MetadataRequest {
		req := kmsg.NewPtrMetadataRequest()
		req.AllowAutoTopicCreation = false
		for _, id := range ids {
			t := kmsg.NewMetadataRequestTopic()
			t.TopicID = id
			req.Topics = append(req.Topics, t)
		}
		return req
	})
	if err != nil {
		return nil, fmt.Errorf("topic names: %w", err)
	}
	return resp.Topics, nil
}

// topicIDText is a topic id as Kafka prints it.
func topicIDText(id [16]byte) string { return base64.RawURLEncoding.EncodeToString(id[:]) }
