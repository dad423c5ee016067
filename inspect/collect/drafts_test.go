package collect

import (
	"encoding/hex"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/locate"
)

// subscription is a member's metadata of a version, with a generation from v2 on.
func subscription(version int16, generation int32, topics ...string) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Version, m.Topics, m.Generation = version, topics, generation
	return m.AppendTo(nil)
}

// assignment is a member's assignment of one topic.
func assignment(topic string, partitions ...int32) []byte {
	a := kmsg.NewConsumerMemberAssignment()
	a.Topics = []kmsg.ConsumerMemberAssignmentTopic{{Topic: topic, Partitions: partitions}}
	return a.AppendTo(nil)
}

func TestClassicDraft(t *testing.T) {
	g := &kmsg.DescribeGroupsResponseGroup{Group: "g", State: "Stable", ProtocolType: "consumer", Protocol: "range", Members: []kmsg.DescribeGroupsResponseGroupMember{
		{MemberID: "b-2", ClientID: "b", ClientHost: "/10.0.0.2", ProtocolMetadata: subscription(3, 41, "t"), MemberAssignment: assignment("t", 3, 1)},
		{MemberID: "b-1", ClientID: "b", ClientHost: "10.0.0.1", ProtocolMetadata: subscription(1, -1, "u", "t"), MemberAssignment: nil},
		{MemberID: "a-1", ClientID: "a", ClientHost: "/fe80::1", ProtocolMetadata: []byte{0, 3, 0xff}, MemberAssignment: []byte{1}},
	}}
	d := classicDraft(g)
	if d.group.Generation == nil || *d.group.Generation != 42 || d.group.GenerationBasis != "lower_bound" {
		t.Errorf("generation %v by %q: 41 was owned before", d.group.Generation, d.group.GenerationBasis)
	}
	a, b1, b2 := d.group.Members[0], d.group.Members[1], d.group.Members[2]
	if a.MemberID != "a-1" || b1.MemberID != "b-1" || b2.MemberID != "b-2" || d.signs[0].MemberID != "a-1" {
		t.Errorf("order: %s %s %s", a.MemberID, b1.MemberID, b2.MemberID)
	}
	if a.Topics != nil || a.Assignment != nil {
		t.Errorf("malformed bytes are unknown, not empty: %v %v", a.Topics, a.Assignment)
	}
	if b1.Assignment == nil || len(b1.Assignment) != 0 || !slices.Equal(b1.Topics, []string{"t", "u"}) {
		t.Errorf("no bytes are no partitions: %v of %v", b1.Assignment, b1.Topics)
	}
	if !slices.Equal(b2.Assignment[0].Partitions, []int32{1, 3}) || a.Host != "fe80::1" || b2.Host != "10.0.0.2" {
		t.Errorf("partitions %v, hosts %s %s", b2.Assignment, a.Host, b2.Host)
	}
}

// Outside Stable the coordinator blanks subscriptions and assignments.
func TestClassicDraftWhileRebalancing(t *testing.T) {
	for _, state := range []string{"PreparingRebalance", "CompletingRebalance"} {
		d := classicDraft(&kmsg.DescribeGroupsResponseGroup{Group: "g", State: state, ProtocolType: "consumer", Members: []kmsg.DescribeGroupsResponseGroupMember{{MemberID: "a", ClientID: "a"}}})
		m := d.group.Members[0]
		if m.Topics != nil || m.Assignment != nil || d.group.Generation != nil {
			t.Errorf("%s: %+v, generation %v", state, m, d.group.Generation)
		}
	}
}

// The bytes of Connect are nobody's subscription.
func TestConnectDraft(t *testing.T) {
	d := classicDraft(&kmsg.DescribeGroupsResponseGroup{Group: "connect", State: "Stable", ProtocolType: "connect", Protocol: "sessioned",
		Members: []kmsg.DescribeGroupsResponseGroupMember{{MemberID: "w-1", ClientID: "connect-1", ProtocolMetadata: subscription(0, 0, "x"), MemberAssignment: assignment("t", 1)}}})
	d.guess()
	m := d.group.Members[0]
	if m.Topics != nil || m.Assignment != nil || m.Client.Family != inspect.Connect || m.Client.Confidence != inspect.High {
		t.Errorf("%+v", m)
	}
}

// kafka-go calls its subscription v1 but leaves the owned partitions out.
func TestKafkaGoSubscription(t *testing.T) {
	b, err := hex.DecodeString("000100000001000b636f6c6c6563742d7a6f6fffffffff")
	if err != nil {
		t.Fatal(err)
	}
	if sub, ok := readSubscription(b); !ok || !slices.Equal(sub.Topics, []string{"collect-zoo"}) {
		t.Errorf("%v %+v", ok, sub)
	}
}

func TestConsumerDraft(t *testing.T) {
	id := [16]byte{1}
	d := consumerDraft(&kmsg.ConsumerGroupDescribeResponseGroup{Group: "g", State: "Reconciling", Epoch: 7, AssignmentEpoch: 6, AssignorName: "uniform",
		Members: []kmsg.ConsumerGroupDescribeResponseGroupMember{
			{MemberID: "m1", ClientID: "new", ClientHost: "/10.0.0.1", MemberEpoch: 6, MemberType: 1, RackID: kmsg.StringPtr("r1"), SubscribedTopicRegex: kmsg.StringPtr("pay.*"),
				Assignment:       kmsg.Assignment{TopicPartitions: []kmsg.AssignmentTopicPartition{{Topic: "pay", Partitions: []int32{1, 0}}}},
				TargetAssignment: kmsg.Assignment{TopicPartitions: []kmsg.AssignmentTopicPartition{{TopicID: id, Partitions: []int32{0}}}}},
			{MemberID: "m2", ClientID: "old", MemberEpoch: 6, MemberType: 0},
		}})
	m := d.group.Members[0]
	if *d.group.Epoch != 7 || *d.group.TargetEpoch != 6 || m.TopicRegex != "pay.*" || m.Rack != "r1" || m.Protocol != inspect.Consumer {
		t.Errorf("%+v", d.group)
	}
	if m.Target[0].Topic != "AQAAAAAAAAAAAAAAAAAAAA" {
		t.Errorf("a deleted topic keeps its id: %v", m.Target)
	}
	if d.group.Members[1].Protocol != inspect.Classic {
		t.Error("a classic client in a consumer group")
	}
}

func TestStreamsDraft(t *testing.T) {
	d := streamsDraft(&kmsg.StreamsGroupDescribeResponseGroup{Group: "app", State: "Stable", Epoch: 3,
		Topology: &kmsg.StreamsGroupDescribeResponseGroupTopology{Subtopologies: []kmsg.StreamsGroupDescribeResponseGroupTopologySubtopology{
			{SubtopologyID: "0", SourceTopics: []string{"in"}},
			{SubtopologyID: "1", RepartitionSourceTopics: []kmsg.TopicInfo{{Topic: "app-repartition"}}}}},
		Members: []kmsg.StreamsGroupDescribeResponseGroupMember{{MemberID: "m", ClientID: "c", Assignment: kmsg.StreamsAssignment{
			ActiveTasks:  []kmsg.TaskIDs{{SubtopologyID: "0", Partitions: []int32{1, 0}}, {SubtopologyID: "1", Partitions: []int32{2}}},
			StandbyTasks: []kmsg.TaskIDs{{SubtopologyID: "1", Partitions: []int32{9}}}}}}})
	got := d.group.Members[0]
	if len(got.Assignment) != 2 || got.Assignment[0].Topic != "app-repartition" || !slices.Equal(got.Assignment[1].Partitions, []int32{0, 1}) {
		t.Errorf("%+v", got.Assignment)
	}
	if !slices.Equal(got.Topics, []string{"app-repartition", "in"}) {
		t.Errorf("topics %v", got.Topics)
	}
}

func TestLag(t *testing.T) {
	d := draft{group: inspect.Group{Members: []inspect.Member{
		{MemberID: "a", Assignment: []inspect.TopicPartitions{{Topic: "t", Partitions: []int32{0, 1, 4}}}},
		{MemberID: "b", Assignment: []inspect.TopicPartitions{{Topic: "t", Partitions: []int32{2}}}},
		{MemberID: "c", Assignment: []inspect.TopicPartitions{}}}}}
	d.setLag(commits{{"t", 0}: 10, {"t", 1}: 100, {"t", 2}: -1, {"t", 3}: 7, {"u", 0}: 5}, nil, map[tp]extent{
		{"t", 0}: {start: 0, end: 25}, {"t", 1}: {start: 0, end: 90}, {"t", 2}: {start: 0, end: 50}, {"t", 3}: {start: 2, end: 9}, {"t", 4}: {start: 0, end: 3}, {"u", 0}: {start: -1, end: -1, err: errNoBroker}})
	want := []struct {
		topic     string
		partition int32
		lag       string
		member    string
	}{{"t", 0, "15", "a"}, {"t", 1, "-10", "a"}, {"t", 2, "-", "b"}, {"t", 3, "2", ""}, {"t", 4, "-", "a"}, {"u", 0, "-", ""}}
	if len(d.group.Offsets) != len(want) {
		t.Fatalf("%+v", d.group.Offsets)
	}
	for i, w := range want {
		o := d.group.Offsets[i]
		if o.Topic != w.topic || o.Partition != w.partition || textOf(o.Lag) != w.lag || o.MemberID != w.member {
			t.Errorf("%+v, want %+v", o, w)
		}
	}
	if textOf(d.group.Lag) != "17" || textOf(d.group.Members[0].Lag) != "15" || d.group.Members[1].Lag != nil || d.group.Members[2].Lag != nil {
		t.Errorf("sums %v %v", textOf(d.group.Lag), textOf(d.group.Members[0].Lag))
	}
	if o := d.group.Offsets[5]; o.Committed == nil || *o.Committed != 5 || o.End != nil {
		t.Errorf("an unreadable end leaves the commit: %+v", o)
	}
}

// textOf is a number, "-" for nil.
func textOf(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// record is a GroupMetadata record.
func record(generation int32, members ...inspect.GroupMember) *inspect.Record {
	leader, protocol := "leader", "range"
	return &inspect.Record{Type: inspect.RecGroupMetadata, Group: "g", Time: inspect.AtMillis(1_700_000_000_000),
		Metadata: &inspect.GroupMetadata{ProtocolType: "consumer", Generation: generation, Leader: &leader, Protocol: &protocol, Members: members}}
}

func TestRecordAndDescribe(t *testing.T) {
	member := inspect.GroupMember{MemberID: "a", Session: inspect.Millis(10 * time.Second), Rebalance: inspect.Millis(5 * time.Minute)}
	newDraft := func(bound int32) *draft {
		d := classicDraft(&kmsg.DescribeGroupsResponseGroup{Group: "g", State: "Stable", ProtocolType: "consumer",
			Members: []kmsg.DescribeGroupsResponseGroupMember{{MemberID: "a", ProtocolMetadata: subscription(3, bound-1, "t")}}})
		return &d
	}
	d := newDraft(5)
	d.apply(record(7, member))
	if g := d.group; *g.Generation != 7 || g.GenerationBasis != "record" || g.Leader != "leader" || inspect.Or(g.Members[0].Session, 0) != 10*time.Second {
		t.Errorf("%+v", g)
	}
	if n := sourcesOf(&d.group, inspect.FactGeneration); len(n) != 1 || n[0] != locate.OffsetsTopic {
		t.Errorf("sources of the generation: %v", n)
	}
	// An older record than what the members prove: its generation is not the present one.
	d = newDraft(9)
	d.apply(record(7, member))
	if g := d.group; *g.Generation != 9 || g.GenerationBasis != "lower_bound" || g.Leader != "" || g.Members[0].Session == nil {
		t.Errorf("%+v", g)
	}
	// A record of members that have gone says nothing about the present ones.
	d = newDraft(5)
	d.apply(record(7, inspect.GroupMember{MemberID: "gone", Session: inspect.Millis(time.Second)}))
	if d.group.Members[0].Session != nil {
		t.Errorf("%+v", d.group.Members[0])
	}
	d.apply(&inspect.Record{Type: inspect.RecGroupMetadata, Group: "g", Tombstone: true})
}

func sourcesOf(g *inspect.Group, f inspect.Fact) []string {
	var out []string
	for _, s := range g.Sources {
		if s.Fact == f {
			out = append(out, s.From)
		}
	}
	return out
}

func TestLimits(t *testing.T) {
	broker := map[string]string{"group.min.session.timeout.ms": "6000", "group.max.session.timeout.ms": "1800000",
		"group.consumer.session.timeout.ms": "45000", "group.consumer.heartbeat.interval.ms": "5000",
		"group.consumer.min.session.timeout.ms": "45000", "group.consumer.max.session.timeout.ms": "60000"}
	group := map[string]string{"consumer.session.timeout.ms": "50000", "consumer.heartbeat.interval.ms": "7000"}
	for name, tc := range map[string]struct {
		typ           inspect.GroupType
		group, broker map[string]string
		want          string
	}{
		"classic":                 {inspect.Classic, nil, broker, "6s 30m0s - - broker 2 config"},
		"consumer":                {inspect.Consumer, group, broker, "45s 1m0s 50s 7s group config"},
		"consumer, group denied":  {inspect.Consumer, nil, broker, "45s 1m0s 45s 5s broker 2 config"},
		"consumer, broker denied": {inspect.Consumer, group, nil, "- - 50s 7s group config"},
		"nothing":                 {inspect.Consumer, nil, nil, "- - - - "},
	} {
		d := draft{group: inspect.Group{Type: tc.typ, Coordinator: &inspect.BrokerRef{ID: 2},
			Members: []inspect.Member{{Protocol: tc.typ}, {Protocol: inspect.Classic}}}}
		d.applyLimits(tc.group, tc.broker, inspect.Time{})
		l := d.group.Limits
		if got := span(l.SessionMin) + " " + span(l.SessionMax) + " " + span(l.Session) + " " + span(l.Heartbeat) + " " + l.From; got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if d.group.Members[1].Session != nil {
			t.Errorf("%s: a classic member's session is its own", name)
		}
		if tc.typ == inspect.Consumer && span(d.group.Members[0].Session) != span(l.Session) {
			t.Errorf("%s: member's session %s", name, span(d.group.Members[0].Session))
		}
	}
	for _, bad := range []string{"", "x", "-1", "99999999999999999999"} {
		if m := millis(bad); m != nil {
			t.Errorf("%q: %v", bad, m)
		}
	}
}

func span(m *inspect.Millis) string {
	if m == nil {
		return "-"
	}
	return m.Duration().String()
}

func FuzzClassicMember(f *testing.F) {
	f.Add(subscription(3, 5, "t"), assignment("t", 0, 1))
	f.Add([]byte{0, 1, 0, 0, 0, 1, 0, 1, 't', 0xff, 0xff, 0xff, 0xff}, []byte{0})
	f.Add([]byte{0xff, 0xff, 0x7f, 0xff, 0xff, 0xff}, []byte{0, 0, 0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, metadata, assigned []byte) {
		d := classicDraft(&kmsg.DescribeGroupsResponseGroup{Group: "g", State: "Stable", ProtocolType: "consumer",
			Members: []kmsg.DescribeGroupsResponseGroupMember{{ProtocolMetadata: metadata, MemberAssignment: assigned}}})
		d.guess()
		d.setLag(nil, nil, nil)
		if len(d.group.Members) != 1 || d.group.Members[0].Client.Family == "" {
			t.Fatalf("%+v", d.group)
		}
	})
}
