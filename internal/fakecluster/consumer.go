package fakecluster

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerMember is what the log holds of a KIP-848 member.
type consumerMember struct {
	info    memberInfo
	target  assignment
	current current
	hasCur  bool
}

// onHeartbeat keeps what only the request says (rebalance timeout, pattern,
// assignor) and looks at the group if the answer says that something moved.
func (m *mirror) onHeartbeat(req *kmsg.ConsumerGroupHeartbeatRequest, resp *kmsg.ConsumerGroupHeartbeatResponse) {
	if resp.ErrorCode != 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	g, _ := m.group(req.Group)
	g.consumer = true
	id := req.MemberID
	if resp.MemberID != nil && *resp.MemberID != "" {
		id = *resp.MemberID
	}
	full := req.RebalanceTimeoutMillis != -1
	if full {
		g.asked[id] = req
	}
	known := g.members[id]
	if full || known == nil || resp.Assignment != nil || resp.MemberEpoch != known.current.epoch {
		m.refreshConsumer(g)
	}
}

// refreshConsumer describes a KIP-848 group and writes the records of what differs
// from the log. m.mu is held.
func (m *mirror) refreshConsumer(g *groupState) {
	now, err := m.describe(g.id)
	switch {
	case err != nil:
		if !m.c.isClosed() {
			m.noteLocked(err)
		}
		return
	case now == nil:
		m.bury(g)
		return
	}
	m.write(g, m.consumerRecords(g, now)...)
}

// describe asks the coordinator; nil without an error is a group that is gone.
func (m *mirror) describe(id string) (*kmsg.ConsumerGroupDescribeResponseGroup, error) {
	node, ok := m.c.coordinatorFor(id)
	if !ok {
		return nil, fmt.Errorf("mirror: describe %q: the cluster is closed", id)
	}
	ctx, cancel := context.WithTimeout(context.Background(), produceTimeout)
	defer cancel()
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = []string{id}
	kresp, err := m.c.client.Broker(int(node)).RetriableRequest(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("mirror: describe %q: %w", id, err)
	}
	resp := kresp.(*kmsg.ConsumerGroupDescribeResponse)
	if len(resp.Groups) != 1 {
		return nil, fmt.Errorf("mirror: describe %q: %d groups in the answer", id, len(resp.Groups))
	}
	got := &resp.Groups[0]
	switch err := kerr.ErrorForCode(got.ErrorCode); err {
	case nil:
		return got, nil
	case kerr.GroupIDNotFound:
		return nil, nil
	default:
		return nil, fmt.Errorf("mirror: describe %q: %w", id, err)
	}
}

// consumerRecords lists what a broker writes for the change, in its order: members
// that are gone, changed members, the group epoch, targets, the target epoch, what
// each member owns.
func (m *mirror) consumerRecords(g *groupState, now *kmsg.ConsumerGroupDescribeResponseGroup) []record {
	slices.SortFunc(now.Members, func(a, b kmsg.ConsumerGroupDescribeResponseGroupMember) int {
		return bytes.Compare([]byte(a.MemberID), []byte(b.MemberID))
	})
	var gone, info, targets, currents []record
	alive := map[string]bool{}
	for i := range now.Members {
		alive[now.Members[i].MemberID] = true
	}
	for id := range g.members {
		if !alive[id] {
			gone = append(gone, tombstones(g.id, id)...)
			delete(g.members, id)
			delete(g.asked, id)
		}
	}
	for i := range now.Members {
		sm := &now.Members[i]
		cm := g.members[sm.MemberID]
		fresh := cm == nil
		if fresh {
			cm = &consumerMember{}
			g.members[sm.MemberID] = cm
		}
		if is := g.memberInfo(sm); fresh || !is.equal(cm.info) {
			cm.info = is
			info = append(info, record{memberKey(keyMember, g.id, sm.MemberID), memberValue(is)})
			info = append(info, m.regexRecord(g, is.regex)...)
		}
		if target := toAssignment(sm.TargetAssignment); !target.equal(cm.target) || fresh {
			cm.target = target
			targets = append(targets, record{memberKey(keyTargetMember, g.id, sm.MemberID), targetValue(target)})
		}
		if cur := cm.next(sm, now.AssignmentEpoch, g.asked[sm.MemberID]); !cm.hasCur || !cur.equal(cm.current) {
			cm.current, cm.hasCur = cur, true
			currents = append(currents, record{memberKey(keyCurrent, g.id, sm.MemberID), currentValue(cur)})
		}
	}
	out := append(gone, info...)
	if now.Epoch != g.epoch {
		g.epoch = now.Epoch
		out = append(out, record{groupKey(keyEpoch, g.id), epochValue(now.Epoch, topicsHash(now))})
	}
	out = append(out, targets...)
	if now.AssignmentEpoch != g.target {
		g.target = now.AssignmentEpoch
		out = append(out, record{groupKey(keyTargetEpoch, g.id), targetEpochValue(now.AssignmentEpoch)})
	}
	return append(out, currents...)
}

// memberInfo joins the description with what only the heartbeat says.
func (g *groupState) memberInfo(sm *kmsg.ConsumerGroupDescribeResponseGroupMember) memberInfo {
	is := memberInfo{instance: sm.InstanceID, rack: sm.RackID, clientID: sm.ClientID, host: sm.ClientHost, topics: slices.Clone(sm.SubscribedTopics), timeout: -1}
	slices.Sort(is.topics)
	if req := g.asked[sm.MemberID]; req != nil {
		is.timeout, is.assignor = req.RebalanceTimeoutMillis, req.ServerAssignor
		if req.SubscribedTopicRegex != nil {
			is.regex = *req.SubscribedTopicRegex
		}
	}
	return is
}

// next derives the member's state: kfake, like a broker, names what the member was
// told to own; what it owned before and must still give up is pending revocation
// until its epoch reaches the target's.
func (cm *consumerMember) next(sm *kmsg.ConsumerGroupDescribeResponseGroupMember, target int32, asked *kmsg.ConsumerGroupHeartbeatRequest) current {
	told := toAssignment(sm.Assignment)
	cur := current{epoch: sm.MemberEpoch, previous: cm.current.previous, assigned: told}
	if cm.hasCur && sm.MemberEpoch != cm.current.epoch {
		cur.previous = cm.current.epoch
	}
	if sm.MemberEpoch >= 0 && sm.MemberEpoch < target {
		cur.revoking = cm.current.assigned.plus(cm.current.revoking).minus(told)
		if asked != nil && asked.Topics != nil && asked.MemberEpoch == sm.MemberEpoch && len(cur.revoking) > 0 {
			cur.revoking = cur.revoking.minus(cur.revoking.minus(requested(asked)))
		}
	}
	switch {
	case len(cur.revoking) > 0:
		cur.state = stateUnrevoked
	case sm.MemberEpoch == target && len(toAssignment(sm.TargetAssignment).minus(told)) > 0:
		cur.state = stateUnreleased
	default:
		cur.state = stateStable
	}
	return cur
}

// requested is what the member said it owns.
func requested(req *kmsg.ConsumerGroupHeartbeatRequest) assignment {
	out := assignment{}
	for _, t := range req.Topics {
		out[t.TopicID] = slices.Clone(t.Partitions)
	}
	return out
}

func toAssignment(a kmsg.Assignment) assignment {
	out := assignment{}
	for _, tp := range a.TopicPartitions {
		if len(tp.Partitions) > 0 {
			out[tp.TopicID] = slices.Clone(tp.Partitions)
			slices.Sort(out[tp.TopicID])
		}
	}
	return out
}

// topicsHash stands for the broker's hash over the subscribed topics: it changes
// with them, its value means nothing to anybody but the broker that wrote it.
func topicsHash(now *kmsg.ConsumerGroupDescribeResponseGroup) int64 {
	names := map[string]bool{}
	for i := range now.Members {
		for _, t := range now.Members[i].SubscribedTopics {
			names[t] = true
		}
	}
	sorted := make([]string, 0, len(names))
	for n := range names {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	h := fnv.New64a()
	for _, n := range sorted {
		_, _ = h.Write(append([]byte(n), 0))
	}
	return int64(h.Sum64())
}

// regexRecord is the record of a pattern that the group did not have before. The
// broker matches the whole name (RE2/J).
func (m *mirror) regexRecord(g *groupState, pattern string) []record {
	if _, had := g.regexes[pattern]; had || pattern == "" {
		return nil
	}
	g.regexes[pattern] = struct{}{}
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil // the coordinator has refused it too
	}
	_, _, _ = m.topic(pattern, uuid{}) // refreshes the names; a pattern is no topic
	var names []string
	for n := range m.topics {
		if re.MatchString(n) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return []record{{memberKey(keyRegex, g.id, pattern), regexValue(names, 1, time.Now().UnixMilli())}}
}

// tombstones are those of a member that left or was fenced.
func tombstones(group, member string) []record {
	return []record{
		{key: memberKey(keyCurrent, group, member)},
		{key: memberKey(keyTargetMember, group, member)},
		{key: memberKey(keyMember, group, member)},
	}
}

// consumerTombstones are those of a deleted group.
func (g *groupState) consumerTombstones() []record {
	var rs []record
	for id := range g.members {
		rs = append(rs, tombstones(g.id, id)...)
	}
	rs = append(rs, record{key: groupKey(keyTargetEpoch, g.id)})
	for pattern := range g.regexes {
		rs = append(rs, record{key: memberKey(keyRegex, g.id, pattern)})
	}
	return append(rs, record{key: groupKey(keyEpoch, g.id)})
}
