package collect

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
)

// subscriptionKept bounds what is kept of a member's subscription, which shows its client
// library: one of megabytes shows it no better, and a client may send what it likes.
const subscriptionKept = 64 << 10

// classicDraft reads one group of a DescribeGroups answer. Outside the state
// Stable the coordinator blanks metadata and protocol, so that subscription and
// assignor are then unknown, not empty.
func classicDraft(g *kmsg.DescribeGroupsResponseGroup) draft {
	d := draft{group: inspect.Group{ID: g.Group, Type: inspect.Classic, ProtocolType: g.ProtocolType,
		State: g.State, Assignor: g.Protocol, Members: []inspect.Member{}}}
	stable := g.State == "Stable"
	for i := range g.Members {
		m := &g.Members[i]
		sign := family.Evidence{Group: g.Group, Type: inspect.Classic, ProtocolType: g.ProtocolType, Protocol: g.Protocol,
			ClientID: m.ClientID, MemberID: m.MemberID}
		member := inspect.Member{MemberID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID,
			Host: host(m.ClientHost), Protocol: inspect.Classic}
		if stable {
			if len(m.ProtocolMetadata) <= subscriptionKept {
				sign.Subscription = bytes.Clone(m.ProtocolMetadata) // a part of the answer would keep all of it
			}
			readClassicMember(&member, g.ProtocolType, m.ProtocolMetadata, m.MemberAssignment)
		}
		d.group.Members = append(d.group.Members, member)
		d.signs = append(d.signs, sign)
	}
	d.lowerBound()
	d.sortMembers()
	return d
}

// readClassicMember decodes what the embedded consumer protocol says; the bytes of
// Connect and of other protocols are nobody's business and stay unknown.
func readClassicMember(m *inspect.Member, protocolType string, metadata, assignment []byte) {
	if protocolType != "consumer" {
		return
	}
	if sub, ok := readSubscription(metadata); ok {
		m.Topics = sorted(sub.Topics)
		if sub.Version >= 2 && sub.Generation >= 0 {
			m.Generation = &sub.Generation
		}
		if sub.Version >= 3 && sub.Rack != nil {
			m.Rack = *sub.Rack
		}
	}
	var a kmsg.ConsumerMemberAssignment
	switch {
	case len(assignment) == 0:
		m.Assignment = []inspect.TopicPartitions{} // a Stable member without bytes was given nothing
	case a.ReadFrom(assignment) == nil:
		m.Assignment = []inspect.TopicPartitions{}
		for _, t := range a.Topics {
			m.Assignment = append(m.Assignment, inspect.TopicPartitions{Topic: t.Topic, Partitions: t.Partitions})
		}
		sortAssignment(m.Assignment)
	}
}

// readSubscription decodes a ConsumerProtocolSubscription. What claims to be v1 but
// ends before the owned partitions, as kafka-go writes it, is read as v0, which it
// is but for its number.
func readSubscription(b []byte) (kmsg.ConsumerMemberMetadata, bool) {
	var sub kmsg.ConsumerMemberMetadata
	if len(b) < 2 {
		return sub, false
	}
	if sub.ReadFrom(b) == nil {
		return sub, true
	}
	sub = kmsg.ConsumerMemberMetadata{}
	plain := append([]byte{0, 0}, b[2:]...)
	return sub, sub.ReadFrom(plain) == nil
}

// lowerBound sets the generation that the members' own words prove: each wrote the
// generation that it had owned before it joined the present one (facts B2).
func (d *draft) lowerBound() {
	best := int32(-1)
	for i := range d.group.Members {
		if g := d.group.Members[i].Generation; g != nil {
			best = max(best, *g)
		}
	}
	if best < 0 {
		return
	}
	g := best + 1
	d.group.Generation, d.group.GenerationBasis = &g, "lower_bound"
	d.group.Sources = append(d.group.Sources, inspect.Source{Fact: inspect.FactGeneration, From: "members' subscriptions"})
}

// consumerDraft reads one group of a ConsumerGroupDescribe answer.
func consumerDraft(g *kmsg.ConsumerGroupDescribeResponseGroup) draft {
	d := draft{group: inspect.Group{ID: g.Group, Type: inspect.Consumer, ProtocolType: "consumer", State: g.State,
		Assignor: g.AssignorName, Epoch: &g.Epoch, TargetEpoch: &g.AssignmentEpoch, Members: []inspect.Member{}}}
	for i := range g.Members {
		m := &g.Members[i]
		member := inspect.Member{MemberID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID,
			Host: host(m.ClientHost), Rack: text(m.RackID), Protocol: inspect.Consumer, Epoch: &m.MemberEpoch,
			Topics: sorted(m.SubscribedTopics), TopicRegex: text(m.SubscribedTopicRegex),
			Assignment: named(m.Assignment), Target: named(m.TargetAssignment)}
		if m.MemberType == 0 { // v1, Kafka 4.0: a classic client that the coordinator translates for
			member.Protocol = inspect.Classic
		}
		d.add(member, family.Evidence{Group: g.Group, Type: member.Protocol, ProtocolType: "consumer",
			Protocol: g.AssignorName, ClientID: m.ClientID, MemberID: m.MemberID})
	}
	d.sortMembers()
	return d
}

// shareDraft reads one group of a ShareGroupDescribe answer; share members have no
// target of their own.
func shareDraft(g *kmsg.ShareGroupDescribeResponseGroup) draft {
	d := draft{group: inspect.Group{ID: g.GroupID, Type: inspect.Share, ProtocolType: "share", State: g.GroupState,
		Assignor: g.Assignor, Epoch: &g.GroupEpoch, TargetEpoch: &g.AssignmentEpoch, Members: []inspect.Member{}}}
	for i := range g.Members {
		m := &g.Members[i]
		a := []inspect.TopicPartitions{}
		for _, tp := range m.Assignment.TopicPartitions {
			a = append(a, inspect.TopicPartitions{Topic: tp.Topic, Partitions: tp.Partitions})
		}
		sortAssignment(a)
		d.add(inspect.Member{MemberID: m.MemberID, ClientID: m.ClientID, Host: host(m.ClientHost), Rack: text(m.RackID),
			Protocol: inspect.Share, Epoch: &m.MemberEpoch, Topics: sorted(m.SubscribedTopicNames), Assignment: a},
			family.Evidence{Group: g.GroupID, Type: inspect.Share, ProtocolType: "share", ClientID: m.ClientID, MemberID: m.MemberID})
	}
	d.sortMembers()
	return d
}

// streamsDraft reads one group of a StreamsGroupDescribe answer. Active tasks are
// shown as the source partitions that they read.
func streamsDraft(g *kmsg.StreamsGroupDescribeResponseGroup) draft {
	d := draft{group: inspect.Group{ID: g.Group, Type: inspect.Streams, ProtocolType: "streams", State: g.State,
		Assignor: text(g.AssignorName), Epoch: &g.Epoch, TargetEpoch: &g.AssignmentEpoch, Members: []inspect.Member{}}}
	sources := map[string][]string{}
	var topics []string
	if g.Topology != nil {
		for _, s := range g.Topology.Subtopologies {
			read := slices.Clone(s.SourceTopics)
			for _, r := range s.RepartitionSourceTopics {
				read = append(read, r.Topic)
			}
			sources[s.SubtopologyID] = read
			topics = append(topics, read...)
		}
	}
	for i := range g.Members {
		m := &g.Members[i]
		member := inspect.Member{MemberID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID,
			Host: host(m.ClientHost), Rack: text(m.RackID), Protocol: inspect.Streams, Epoch: &m.MemberEpoch,
			Assignment: tasks(m.Assignment.ActiveTasks, sources), Target: tasks(m.TargetAssignment.ActiveTasks, sources)}
		if g.Topology != nil {
			member.Topics = sorted(topics)
		}
		if m.IsClassic {
			member.Protocol = inspect.Classic
		}
		d.add(member, family.Evidence{Group: g.Group, Type: inspect.Streams, ProtocolType: "streams", ClientID: m.ClientID, MemberID: m.MemberID})
	}
	d.sortMembers()
	return d
}

// add appends a member with its signs.
func (d *draft) add(m inspect.Member, e family.Evidence) {
	d.group.Members = append(d.group.Members, m)
	d.signs = append(d.signs, e)
}

// sortMembers orders members and signs alike: by instance or client id, then by
// member id, so that two looks at the same group read alike.
func (d *draft) sortMembers() {
	order := make([]int, len(d.group.Members))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &d.group.Members[a], &d.group.Members[b]
		return cmp.Or(strings.Compare(x.ClientID, y.ClientID), strings.Compare(text(x.InstanceID), text(y.InstanceID)),
			strings.Compare(x.MemberID, y.MemberID))
	})
	members := make([]inspect.Member, len(order))
	signs := make([]family.Evidence, len(order))
	for to, from := range order {
		members[to], signs[to] = d.group.Members[from], d.signs[from]
	}
	d.group.Members, d.signs = members, signs
}

// guess names the client library of every member from all that is known by now.
func (d *draft) guess() {
	for i := range d.group.Members {
		m, e := &d.group.Members[i], &d.signs[i]
		e.InstanceID, e.Session, e.Rebalance = m.InstanceID, m.Session, m.Rebalance
		m.Client = family.Guess(*e)
	}
}

// tasks turns streams tasks into the partitions of the topics that they read.
func tasks(ids []kmsg.TaskIDs, sources map[string][]string) []inspect.TopicPartitions {
	byTopic := map[string][]int32{}
	for _, t := range ids {
		for _, topic := range sources[t.SubtopologyID] {
			byTopic[topic] = append(byTopic[topic], t.Partitions...)
		}
	}
	out := []inspect.TopicPartitions{}
	for topic, ps := range byTopic {
		out = append(out, inspect.TopicPartitions{Topic: topic, Partitions: ps})
	}
	sortAssignment(out)
	return out
}

// named is a KIP-848 assignment; a topic that was deleted meanwhile keeps its id.
func named(a kmsg.Assignment) []inspect.TopicPartitions {
	out := []inspect.TopicPartitions{}
	for _, tp := range a.TopicPartitions {
		topic := tp.Topic
		if topic == "" {
			topic = topicIDText(tp.TopicID)
		}
		out = append(out, inspect.TopicPartitions{Topic: topic, Partitions: tp.Partitions})
	}
	sortAssignment(out)
	return out
}

// sortAssignment orders topics and the partitions of each.
func sortAssignment(a []inspect.TopicPartitions) {
	for i := range a {
		a[i].Partitions = slices.Sorted(slices.Values(a[i].Partitions))
	}
	slices.SortFunc(a, func(x, y inspect.TopicPartitions) int { return strings.Compare(x.Topic, y.Topic) })
}

// sorted is a copy in order without repeats, never nil: an empty subscription is known.
func sorted(s []string) []string {
	out := slices.Clone(s)
	slices.Sort(out)
	out = slices.Compact(out)
	if out == nil {
		out = []string{}
	}
	return out
}

// host is a client host without the slash with which Java's InetAddress.toString
// begins an address that was not looked up.
func host(s string) string { return strings.TrimPrefix(s, "/") }

// text is the string behind p, "" for nil.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// lower is s in lower case; the broker's words for types differ in case by release.
func lower(s string) string { return strings.ToLower(s) }
