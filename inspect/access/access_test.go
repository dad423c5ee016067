package access

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/kgdiag/kgdiag/locate"
)

// survey asks a fake cluster with ACLs as user u.
func survey(t *testing.T, acls ...kfake.ACL) *Report {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.EnableSASL(), kfake.EnableACLs(), kfake.SeedTopics(4, locate.OffsetsTopic), kfake.SeedTopics(1, "orders"),
		kfake.Superuser("PLAIN", "root", "p"), kfake.User("PLAIN", "u", "p", acls...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	as := func(user string) []kgo.Opt {
		return []kgo.Opt{kgo.SeedBrokers(c.ListenAddrs()...), kgo.SASL(plain.Auth{User: user, Pass: "p"}.AsMechanism()), kgo.DisableClientMetrics()}
	}
	join(t, as("root")...)
	cl, err := kgo.NewClient(as("u")...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	r, err := Survey(t.Context(), cl, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// join makes a group with one member.
func join(t *testing.T, opts ...kgo.Opt) {
	t.Helper()
	joined := make(chan struct{}, 8)
	cl, err := kgo.NewClient(append(opts, kgo.ConsumerGroup("g"), kgo.ConsumeTopics("orders"),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { joined <- struct{}{} }))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	select {
	case <-joined:
	case <-time.After(20 * time.Second):
		t.Fatal("the group was not joined")
	}
}

func allow(resource kmsg.ACLResourceType, name string, op kmsg.ACLOperation) kfake.ACL {
	return kfake.ACL{Resource: resource, Name: name, Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: op, Allow: true}
}

var (
	describeGroups  = allow(kmsg.ACLResourceTypeGroup, "*", kmsg.ACLOperationDescribe)
	describeTopics  = allow(kmsg.ACLResourceTypeTopic, "*", kmsg.ACLOperationDescribe)
	describeCluster = allow(kmsg.ACLResourceTypeCluster, "kafka-cluster", kmsg.ACLOperationDescribe)
	readOffsets     = allow(kmsg.ACLResourceTypeTopic, locate.OffsetsTopic, kmsg.ACLOperationRead)
	clusterConfigs  = allow(kmsg.ACLResourceTypeCluster, "kafka-cluster", kmsg.ACLOperationDescribeConfigs)
	groupConfigs    = allow(kmsg.ACLResourceTypeGroup, "*", kmsg.ACLOperationDescribeConfigs)
)

func works(r *Report) map[string]Works {
	out := make(map[string]Works)
	for _, c := range r.Commands() {
		out[c.Name] = c.Works
	}
	return out
}

// kfake does not check DESCRIBE_CONFIGS of groups; the real-broker suite does.
func TestRightsAndCommands(t *testing.T) {
	for _, tt := range []struct {
		name   string
		acls   []kfake.ACL
		rights map[ID]State
		works  map[string]Works
		grants []string
	}{
		{"everything", []kfake.ACL{describeGroups, describeTopics, describeCluster, readOffsets, clusterConfigs, groupConfigs},
			map[ID]State{Cluster: Yes, OffsetsTopic: Yes, OffsetsRead: Yes, Groups: Yes, Topics: Yes, BrokerConfigs: Yes, GroupConfigs: Yes},
			map[string]Works{"why": Fully, "locate": Fully, "describe": Fully, "history": Fully, "watch": Fully, "top": Fully, "advise": Fully, "record": Fully}, nil},
		{"DESCRIBE alone", []kfake.ACL{describeGroups, describeTopics, describeCluster},
			map[ID]State{Cluster: Yes, OffsetsTopic: Yes, OffsetsRead: No, Groups: Yes, Topics: Yes, BrokerConfigs: No, GroupConfigs: Yes},
			map[string]Works{"why": Partly, "locate": Fully, "describe": Partly, "history": Not, "watch": Partly, "top": Partly, "advise": Partly, "record": Partly},
			[]string{
				"kafka-acls --bootstrap-server b:1 --add --allow-principal User:u --operation Read --topic __consumer_offsets",
				"kafka-acls --bootstrap-server b:1 --add --allow-principal User:u --operation DescribeConfigs --cluster",
			}},
		{"nothing", nil,
			map[ID]State{Cluster: No, OffsetsTopic: No, OffsetsRead: No, Groups: Unknown, Topics: Unknown, BrokerConfigs: No, GroupConfigs: Yes},
			map[string]Works{"why": Not, "locate": Not, "describe": Not, "history": Not, "watch": Not, "top": Not, "advise": Not, "record": Not},
			[]string{
				"kafka-acls --bootstrap-server b:1 --add --allow-principal User:u --operation Describe --cluster --group '*' --topic '*'",
				"kafka-acls --bootstrap-server b:1 --add --allow-principal User:u --operation Read --topic __consumer_offsets",
				"kafka-acls --bootstrap-server b:1 --add --allow-principal User:u --operation DescribeConfigs --cluster",
			}},
		{"READ of the offsets topic, no groups", []kfake.ACL{readOffsets, describeCluster},
			map[ID]State{Cluster: Yes, OffsetsTopic: Yes, OffsetsRead: Yes, Groups: No, Topics: Unknown, BrokerConfigs: No, GroupConfigs: Yes},
			map[string]Works{"why": Not, "locate": Partly, "describe": Not, "history": Fully, "watch": Not, "top": Not, "advise": Not, "record": Not}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := survey(t, tt.acls...)
			got := make(map[ID]State)
			for _, x := range r.Rights {
				got[x.ID] = x.State
			}
			if d := cmp.Diff(tt.rights, got); d != "" {
				t.Errorf("rights: %s\n%+v", d, r.Rights)
			}
			if d := cmp.Diff(tt.works, works(r)); d != "" {
				t.Error("commands:", d)
			}
			if tt.grants == nil {
				return
			}
			var grants []string
			for _, g := range r.Grants("b:1", "User:u", false) {
				grants = append(grants, g.Command)
			}
			if d := cmp.Diff(tt.grants, grants); d != "" {
				t.Error("grants:", d)
			}
		})
	}
}

// TestAbsentOffsetsTopic: nothing that is routed by coordinator may be sent before
// __consumer_offsets shows, since a broker would create it.
func TestAbsentOffsetsTopic(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		switch req.Key() {
		case 10, 15, 69, 77, 89:
			t.Errorf("%s was sent", kmsg.NameForKey(req.Key()))
		}
		return nil, nil, false
	})
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.DisableClientMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	r, err := Survey(t.Context(), cl, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Right(OffsetsTopic).State; got != Absent {
		t.Errorf("%s: %s", OffsetsTopic, got)
	}
	if w := works(r); w["locate"] != Not || w["describe"] != Fully {
		t.Errorf("commands: %v", w)
	}
}

func TestPlatforms(t *testing.T) {
	for _, tt := range []struct{ id, host, want string }{
		{"redpanda.1b2c", "10.0.0.1", "redpanda"},
		{"abc", "b-1.x.abc.c2.kafka.eu-west-1.amazonaws.com", "msk"},
		{"abc", "boot-x.c1.kafka-serverless.us-east-1.amazonaws.com", "msk_serverless"},
		{"lkc-abc", "b0-pkc-1.eu-west-1.aws.confluent.cloud", "confluent_cloud"},
		{"abc", "ns.servicebus.windows.net", "event_hubs"},
		{"abc", "kafka-1-proj.a.aivencloud.com", "aiven"},
		{"Zk3xQ9", "kafka-1", ""},
	} {
		p := platformOf(tt.id, []string{tt.host})
		if p.Name != tt.want || p.Limits == nil || (p.Name != "" && len(p.Limits) == 0) {
			t.Errorf("%s %s: %+v, want %q", tt.id, tt.host, p, tt.want)
		}
	}
}

func TestGrantsOfPlatforms(t *testing.T) {
	r := &Report{Rights: []Right{{ID: OffsetsRead, State: No, Operation: "Read", Resource: "topic", Name: locate.OffsetsTopic}}}
	for name, want := range map[string]string{
		"redpanda":        "rpk security acl create --allow-principal User:u --operation read --topic __consumer_offsets",
		"confluent_cloud": "confluent kafka acl create",
		"":                "kafka-acls --bootstrap-server b:1 --command-config ADMIN.properties --add",
	} {
		r.Platform.Name = name
		if g := r.Grants("b:1", "User:u", true); len(g) != 1 || !strings.HasPrefix(g[0].Command, want) {
			t.Errorf("%s: %+v", name, g)
		}
	}
}
