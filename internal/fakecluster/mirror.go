package fakecluster

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/locate"
)

// pollEvery is how often groups are looked at for what no request announces: the
// last member expires, and a KIP-848 member is fenced.
const pollEvery = 40 * time.Millisecond

// produceTimeout bounds one append to the offsets topic, as offsets.commit.timeout.ms does.
const produceTimeout = 5 * time.Second

// watched are the requests that the mirror decodes.
func watched(k kmsg.Key) bool {
	switch k {
	case kmsg.FindCoordinator, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.LeaveGroup, kmsg.OffsetCommit,
		kmsg.OffsetDelete, kmsg.DeleteGroups, kmsg.ConsumerGroupHeartbeat,
		kmsg.DescribeGroups, kmsg.ConsumerGroupDescribe, kmsg.ListGroups, kmsg.OffsetFetch,
		kmsg.SASLHandshake, kmsg.Metadata, kmsg.ApiVersions, kmsg.DescribeConfigs:
		return true
	}
	return false
}

// mirror writes __consumer_offsets from what it sees on the wire.
type mirror struct {
	c *Cluster

	mu     sync.Mutex // held while a record is written: the log has one order
	groups map[string]*groupState
	owner  map[int32]string // offsets partition to the group that its leader follows
	topics map[string]uuid
	names  map[uuid]string
	err    error
}

// groupState is what the log holds of one group, and what will be written next.
type groupState struct {
	id        string
	partition int32
	consumer  bool // KIP-848

	// classic
	recorded  int32 // generation of the last GroupMetadata record; -1 none yet
	protoType string
	joined    map[string]*joined // by member id, of every member that asked to join
	static    map[string]*joined // by instance id, until the member id is known
	roster    []rosterEntry      // of the generation that is being completed
	rosterGen int32
	protocol  string
	leader    string
	stateAt   int64 // currentStateTimestamp of the completing generation
	stableAt  int64 // when it became Stable: the one of a static replacement
	assigned  map[string][]byte
	written   []kmsg.GroupMetadataValueMember // members of the last record

	commits map[topicPartition]struct{}

	// KIP-848
	epoch   int32
	target  int32
	asked   map[string]*kmsg.ConsumerGroupHeartbeatRequest // last full heartbeat of each member
	members map[string]*consumerMember
	regexes map[string]struct{}
}

type topicPartition struct {
	topic     string
	partition int32
}

// joined is what a member's JoinGroup said of it.
type joined struct {
	clientID, host     string
	instance           *string
	session, rebalance int32
}

type rosterEntry struct {
	id       string
	instance *string
	metadata []byte
}

func newMirror(c *Cluster) *mirror {
	return &mirror{c: c, groups: map[string]*groupState{}, owner: map[int32]string{},
		topics: map[string]uuid{}, names: map[uuid]string{}}
}

// request prepares the cluster for what the broker is about to be asked.
func (m *mirror) request(c *conn, r *request) {
	switch req := r.body.(type) {
	case *kmsg.FindCoordinatorRequest:
		if req.CoordinatorType == 0 {
			// As KafkaApis does: the question creates the topic.
			m.note(m.c.ensureOffsetsTopic())
		}
	case *kmsg.JoinGroupRequest:
		m.note(m.c.align(req.Group))
		m.onJoinRequest(c, r, req)
	case *kmsg.ConsumerGroupHeartbeatRequest:
		m.note(m.c.align(req.Group))
	case *kmsg.OffsetCommitRequest:
		m.note(m.c.align(req.Group))
	case *kmsg.SyncGroupRequest:
		m.onSyncRequest(req)
	}
}

// response writes what the answer says has happened, before the client knows it.
func (m *mirror) response(c *conn, r *request, resp kmsg.Response) kmsg.Response {
	switch req := r.body.(type) {
	case *kmsg.JoinGroupRequest:
		m.onJoin(c, r, req, resp.(*kmsg.JoinGroupResponse))
	case *kmsg.SyncGroupRequest:
		m.onSync(req, resp.(*kmsg.SyncGroupResponse))
	case *kmsg.LeaveGroupRequest:
		m.refresh(req.Group)
	case *kmsg.OffsetCommitRequest:
		m.onCommit(req, resp.(*kmsg.OffsetCommitResponse))
	case *kmsg.OffsetDeleteRequest:
		m.onOffsetDelete(req, resp.(*kmsg.OffsetDeleteResponse))
	case *kmsg.DeleteGroupsRequest:
		m.onDelete(resp.(*kmsg.DeleteGroupsResponse))
	case *kmsg.ConsumerGroupHeartbeatRequest:
		m.onHeartbeat(req, resp.(*kmsg.ConsumerGroupHeartbeatResponse))
	case *kmsg.SASLHandshakeRequest:
		if len(m.c.opts.users) == 0 {
			return noSASL(resp.(*kmsg.SASLHandshakeResponse))
		}
	}
	denied := m.c.denied(c, resp)
	if d := m.c.opts.dialect; d != nil && !c.member {
		d.answer(r.body, resp)
		denied = resp
	}
	if !c.member && m.c.opts.advertise != nil && m.c.advertised(resp) {
		return resp
	}
	return denied
}

// noSASL answers as a listener without SASL does (KafkaApis.handleSaslHandshakeRequest);
// kfake would name the mechanisms that it knows.
func noSASL(resp *kmsg.SASLHandshakeResponse) kmsg.Response {
	resp.ErrorCode, resp.SupportedMechanisms = kerr.IllegalSaslState.Code, nil
	return resp
}

// note keeps the first error, which Cluster.Err gives to the test.
func (m *mirror) note(err error) {
	if err == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noteLocked(err)
}

func (m *mirror) noteLocked(err error) {
	if err != nil && m.err == nil {
		m.err = err
	}
}

// group finds or starts the state of a group; created says which. m.mu is held.
func (m *mirror) group(id string) (g *groupState, created bool) {
	if g := m.groups[id]; g != nil {
		return g, false
	}
	p, err := locate.PartitionIn(m.c.opts.clusterID, id, m.c.opts.offsetsPartitions)
	m.noteLocked(err)
	g = &groupState{
		id: id, partition: p, recorded: -1, rosterGen: -1, joined: map[string]*joined{}, static: map[string]*joined{},
		commits: map[topicPartition]struct{}{}, asked: map[string]*kmsg.ConsumerGroupHeartbeatRequest{},
		members: map[string]*consumerMember{}, regexes: map[string]struct{}{},
	}
	m.groups[id] = g
	return g, true
}

// onJoinRequest takes timeouts and client from the member's own request. This is
// done before the coordinator sees it: the leader may sync before the answer of a
// slower follower is on its way.
func (m *mirror) onJoinRequest(c *conn, r *request, req *kmsg.JoinGroupRequest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[req.Group]
	if g == nil {
		return // the first join ever has no member id yet, or the answer gives it
	}
	g.remember(c, r, req, req.MemberID)
}

// remember keeps what a join request says. The coordinator keeps the client id and
// host of a member's first join.
func (g *groupState) remember(c *conn, r *request, req *kmsg.JoinGroupRequest, member string) {
	now := &joined{clientID: r.clientID, host: string(c.host), instance: req.InstanceID,
		session: req.SessionTimeoutMillis, rebalance: req.RebalanceTimeoutMillis}
	if member == "" {
		if req.InstanceID != nil {
			g.static[*req.InstanceID] = now
		}
		return
	}
	if old := g.joined[member]; old != nil {
		now.clientID, now.host = old.clientID, old.host
	}
	g.joined[member] = now
}

// known is what the member with this roster entry said when it joined.
func (g *groupState) known(e rosterEntry) *joined {
	if j := g.joined[e.id]; j != nil {
		return j
	}
	if e.instance != nil {
		return g.static[*e.instance]
	}
	return nil
}

// onJoin takes the members of the new generation from the leader's answer: only the
// leader gets them.
func (m *mirror) onJoin(c *conn, r *request, req *kmsg.JoinGroupRequest, resp *kmsg.JoinGroupResponse) {
	if resp.ErrorCode != 0 && resp.ErrorCode != kerr.MemberIDRequired.Code {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	g, created := m.group(req.Group)
	if created {
		// GroupMetadataManager (4.x): the first JoinGroup creates the group with an
		// empty record of generation 0 and no protocol type.
		g.recorded = 0
		m.write(g, g.emptyRecord("", 0, m.now(g.partition).UnixMilli()))
	}
	if resp.ErrorCode != 0 {
		return
	}
	g.remember(c, r, req, resp.MemberID)
	if g.replaceStatic(req, resp) {
		m.write(g, g.metadataRecord(g.stableAt))
		return
	}
	if resp.Generation > g.rosterGen {
		g.rosterGen, g.roster, g.assigned = resp.Generation, nil, nil
		g.stateAt = m.now(g.partition).UnixMilli()
	}
	if resp.LeaderID == resp.MemberID && resp.Generation == g.rosterGen && len(resp.Members) > 0 && g.recorded < resp.Generation {
		g.leader = resp.LeaderID
		g.protoType = req.ProtocolType
		if resp.Protocol != nil {
			g.protocol = *resp.Protocol
		}
		g.roster = nil
		for _, rm := range resp.Members {
			g.roster = append(g.roster, rosterEntry{rm.MemberID, rm.InstanceID, bytes.Clone(rm.ProtocolMetadata)})
		}
	}
}

// replaceStatic says whether a static member came back to a stable group under a
// new member id: the generation stays and one member is exchanged (KIP-345).
func (g *groupState) replaceStatic(req *kmsg.JoinGroupRequest, resp *kmsg.JoinGroupResponse) bool {
	if req.InstanceID == nil || resp.Generation != g.recorded {
		return false
	}
	i := slices.IndexFunc(g.written, func(w kmsg.GroupMetadataValueMember) bool {
		return sameString(w.InstanceID, req.InstanceID) && w.MemberID != resp.MemberID
	})
	if i < 0 {
		return false
	}
	w := &g.written[i]
	if g.leader == w.MemberID {
		g.leader = resp.MemberID
	}
	j := g.joined[resp.MemberID]
	w.MemberID, w.ClientID, w.ClientHost = resp.MemberID, j.clientID, j.host
	w.RebalanceTimeoutMillis, w.SessionTimeoutMillis = j.rebalance, j.session
	for _, p := range req.Protocols {
		if p.Name == g.protocol {
			w.Subscription = bytes.Clone(p.Metadata)
		}
	}
	return true
}

// onSyncRequest keeps the leader's assignment for the moment when the coordinator
// has accepted it.
func (m *mirror) onSyncRequest(req *kmsg.SyncGroupRequest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[req.Group]
	if g == nil || req.MemberID != g.leader || req.Generation != g.rosterGen {
		return
	}
	g.assigned = map[string][]byte{}
	for _, a := range req.GroupAssignment {
		g.assigned[a.MemberID] = bytes.Clone(a.MemberAssignment)
	}
}

// onSync writes the generation that the first successful answer proves, so that no
// member acts on an assignment that is not in the log yet.
func (m *mirror) onSync(req *kmsg.SyncGroupRequest, resp *kmsg.SyncGroupResponse) {
	if resp.ErrorCode != 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[req.Group]
	if g == nil || req.Generation <= g.recorded || req.Generation != g.rosterGen || g.assigned == nil || g.roster == nil {
		return
	}
	g.recorded, g.stableAt = req.Generation, m.now(g.partition).UnixMilli()
	g.written = nil
	for _, e := range g.roster {
		j := g.known(e)
		if j == nil {
			m.noteLocked(fmt.Errorf("group %q: member %s is in generation %d but never joined", g.id, e.id, g.recorded))
			continue
		}
		g.written = append(g.written, kmsg.GroupMetadataValueMember{
			MemberID: e.id, InstanceID: e.instance, ClientID: j.clientID, ClientHost: j.host,
			RebalanceTimeoutMillis: j.rebalance, SessionTimeoutMillis: j.session,
			Subscription: e.metadata, Assignment: g.assigned[e.id],
		})
	}
	g.forget()
	m.write(g, g.metadataRecord(g.stateAt))
}

// forget drops what was known of members that are gone, once there are many: some
// of them may be on their way in.
func (g *groupState) forget() {
	if len(g.joined) < 64+4*len(g.written) {
		return
	}
	for id := range g.joined {
		if !slices.ContainsFunc(g.written, func(w kmsg.GroupMetadataValueMember) bool { return w.MemberID == id }) {
			delete(g.joined, id)
		}
	}
}

// onCommit writes a record for each partition that the broker accepted.
func (m *mirror) onCommit(req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var rs []record
	p, _ := locate.PartitionIn(m.c.opts.clusterID, req.Group, m.c.opts.offsetsPartitions) // an error is told by group
	now := m.now(p).UnixMilli()
	var g *groupState
	for _, t := range resp.Topics {
		name, id, err := m.topic(t.Topic, t.TopicID)
		if err != nil {
			m.noteLocked(err)
			continue
		}
		for _, p := range t.Partitions {
			asked := askedCommit(req, t, p.Partition)
			if p.ErrorCode != 0 || asked == nil {
				continue
			}
			if g == nil {
				g, _ = m.group(req.Group)
			}
			metadata := ""
			if asked.Metadata != nil {
				metadata = *asked.Metadata
			}
			g.commits[topicPartition{name, p.Partition}] = struct{}{}
			rs = append(rs, record{commitKey(g.id, name, p.Partition), commitValue(asked.Offset, asked.LeaderEpoch, metadata, now, id)})
		}
	}
	if g != nil {
		m.write(g, rs...)
	}
}

func askedCommit(req *kmsg.OffsetCommitRequest, t kmsg.OffsetCommitResponseTopic, partition int32) *kmsg.OffsetCommitRequestTopicPartition {
	for i := range req.Topics {
		if req.Topics[i].Topic != t.Topic || req.Topics[i].TopicID != t.TopicID {
			continue
		}
		for j := range req.Topics[i].Partitions {
			if req.Topics[i].Partitions[j].Partition == partition {
				return &req.Topics[i].Partitions[j]
			}
		}
	}
	return nil
}

func (m *mirror) onOffsetDelete(req *kmsg.OffsetDeleteRequest, resp *kmsg.OffsetDeleteResponse) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[req.Group]
	if g == nil || resp.ErrorCode != 0 {
		return
	}
	var rs []record
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			tp := topicPartition{t.Topic, p.Partition}
			if _, committed := g.commits[tp]; p.ErrorCode == 0 && committed {
				delete(g.commits, tp)
				rs = append(rs, record{key: commitKey(g.id, tp.topic, tp.partition)})
			}
		}
	}
	m.write(g, rs...)
}

func (m *mirror) onDelete(resp *kmsg.DeleteGroupsResponse) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range resp.Groups {
		if g := m.groups[r.Group]; g != nil && r.ErrorCode == 0 {
			m.bury(g)
		}
	}
}

// bury writes the tombstones of a group that is gone: offsets first, then the group
// (GroupCoordinatorShard.deleteGroups).
func (m *mirror) bury(g *groupState) {
	var rs []record
	for tp := range g.commits {
		rs = append(rs, record{key: commitKey(g.id, tp.topic, tp.partition)})
	}
	slices.SortFunc(rs, func(a, b record) int { return bytes.Compare(a.key, b.key) })
	switch {
	case g.consumer:
		rs = append(rs, g.consumerTombstones()...)
	case g.recorded >= 0:
		rs = append(rs, record{key: groupKey(keyGroupMetadata, g.id)})
	}
	m.write(g, rs...)
	delete(m.groups, g.id)
}

// refresh looks at a group for what no request shows: it has become empty, or it
// is gone.
func (m *mirror) refresh(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.groups[id]
	if g == nil {
		return
	}
	if g.consumer {
		m.refreshConsumer(g)
		return
	}
	info, ok := m.c.groupInfo(id)
	if !ok {
		return // closing
	}
	if info == nil {
		m.bury(g)
		return
	}
	if info.State == "Empty" && info.Epoch > g.recorded && len(info.Members) == 0 {
		g.recorded, g.rosterGen, g.roster, g.written = info.Epoch, info.Epoch, nil, nil
		g.forget()
		m.write(g, g.emptyRecord(g.protoType, info.Epoch, m.now(g.partition).UnixMilli()))
	}
}

// refreshAll is one round of polling.
func (m *mirror) refreshAll() {
	m.mu.Lock()
	ids := make([]string, 0, len(m.groups))
	for id, g := range m.groups {
		if g.consumer || len(g.written) > 0 || g.recorded >= 0 {
			ids = append(ids, id)
		}
	}
	m.mu.Unlock()
	for _, id := range ids {
		m.refresh(id)
	}
}

// emptyRecord is a GroupMetadata record without members, protocol and leader.
func (g *groupState) emptyRecord(protoType string, generation int32, at int64) record {
	v := kmsg.GroupMetadataValue{Version: metadataVersion, ProtocolType: protoType, Generation: generation, CurrentStateTimestamp: at}
	return record{groupKey(keyGroupMetadata, g.id), v.AppendTo(nil)}
}

// metadataRecord is the record of a completed rebalance, or of a static replacement;
// at is when the group entered the state that it was in before the record.
func (g *groupState) metadataRecord(at int64) record {
	protocol, leader := g.protocol, g.leader
	v := kmsg.GroupMetadataValue{
		Version: metadataVersion, ProtocolType: g.protoType, Generation: g.recorded,
		Protocol: &protocol, Leader: &leader, CurrentStateTimestamp: at, Members: g.written,
	}
	return record{groupKey(keyGroupMetadata, g.id), v.AppendTo(nil)}
}

// topic resolves a topic by name or id: commits since OffsetCommit v10 carry the id
// alone. m.mu is held.
func (m *mirror) topic(name string, id uuid) (string, uuid, error) {
	known := func() (string, uuid, bool) {
		if name == "" {
			n, ok := m.names[id]
			return n, id, ok
		}
		i, ok := m.topics[name]
		return name, i, ok
	}
	if n, i, ok := known(); ok {
		return n, i, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), produceTimeout)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = nil
	resp, err := req.RequestWith(ctx, m.c.client)
	if err != nil {
		return "", id, fmt.Errorf("mirror: topics: %w", err)
	}
	for _, t := range resp.Topics {
		if t.Topic != nil {
			m.topics[*t.Topic], m.names[t.TopicID] = t.TopicID, *t.Topic
		}
	}
	if n, i, ok := known(); ok {
		return n, i, nil
	}
	return "", id, fmt.Errorf("mirror: topic %q %x: not in the cluster", name, id)
}

// write appends records to the group's offsets partition in one batch. m.mu is held.
func (m *mirror) write(g *groupState, rs ...record) {
	if len(rs) == 0 {
		return
	}
	now := m.now(g.partition)
	krs := make([]*kgo.Record, 0, len(rs))
	for _, r := range rs {
		krs = append(krs, &kgo.Record{Topic: locate.OffsetsTopic, Partition: g.partition, Key: r.key, Value: r.value, Timestamp: now})
	}
	ctx, cancel := context.WithTimeout(context.Background(), produceTimeout)
	defer cancel()
	if err := m.c.client.ProduceSync(ctx, krs...).FirstErr(); err != nil && !m.c.isClosed() {
		m.noteLocked(fmt.Errorf("mirror: group %q, %d records to %s-%d: %w", g.id, len(rs), locate.OffsetsTopic, g.partition, err))
	}
}

// now is the time by the clock of the partition's leader.
func (m *mirror) now(partition int32) time.Time {
	now := time.Now()
	if m.c.opts.skew == nil {
		return now
	}
	m.c.admin(func() { now = now.Add(m.c.opts.skew(m.c.kf.LeaderFor(locate.OffsetsTopic, partition))) })
	return now
}
