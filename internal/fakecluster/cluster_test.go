package fakecluster_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/kgdiag/kgdiag/internal/fakecluster"
	"github.com/kgdiag/kgdiag/locate"
)

const (
	session   = 600 * time.Millisecond
	heartbeat = 100 * time.Millisecond
)

func start(t *testing.T, opts ...fakecluster.Option) (*fakecluster.Cluster, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	c, err := fakecluster.New(append([]fakecluster.Option{fakecluster.MinSession(100 * time.Millisecond), fakecluster.Topic("work", 6)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Err(); err != nil {
			t.Errorf("mirror: %v", err)
		}
		c.Close()
	})
	return c, ctx
}

func join(t *testing.T, c *fakecluster.Cluster, cfg fakecluster.MemberConfig) *fakecluster.Member {
	t.Helper()
	if cfg.Topics == nil {
		cfg.Topics = []string{"work"}
	}
	cfg.Session, cfg.Heartbeat = session, heartbeat
	if cfg.Rebalance == 0 {
		cfg.Rebalance = 2 * time.Second
	}
	m, err := c.Join(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// outsider is a client as kgdiag is one: over TCP.
func outsider(t *testing.T, c *fakecluster.Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.Addrs()...), kgo.MetadataMinAge(20 * time.Millisecond), kgo.RetryTimeout(3 * time.Second)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// tail follows the offsets partition of a group.
type tail struct {
	mu sync.Mutex
	rs []*kgo.Record
}

func follow(t *testing.T, c *fakecluster.Cluster, group string) *tail {
	t.Helper()
	p, err := locate.Partition(group, 50)
	if err != nil {
		t.Fatal(err)
	}
	cl := outsider(t, c, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{locate.OffsetsTopic: {p: kgo.NewOffset().AtStart()}}), kgo.FetchMaxWait(50*time.Millisecond))
	tl := &tail{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			fs := cl.PollFetches(ctx)
			tl.mu.Lock()
			tl.rs = append(tl.rs, fs.Records()...)
			tl.mu.Unlock()
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return tl
}

func (tl *tail) records() []*kgo.Record {
	tl.mu.Lock()
	defer tl.mu.Unlock()
	return slices.Clone(tl.rs)
}

// metadata decodes the GroupMetadata records of the group; nil for a tombstone.
func (tl *tail) metadata(t *testing.T, group string) []*kmsg.GroupMetadataValue {
	t.Helper()
	var out []*kmsg.GroupMetadataValue
	for _, r := range tl.records() {
		k := kbin.Reader{Src: r.Key}
		if k.Int16() != 2 || k.String() != group {
			continue
		}
		if r.Value == nil {
			out = append(out, nil)
			continue
		}
		v := new(kmsg.GroupMetadataValue)
		if err := v.ReadFrom(r.Value); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// types lists the types of the records of a group, "T" marking tombstones.
func (tl *tail) types(group string) string {
	var out []string
	for _, r := range tl.records() {
		k := kbin.Reader{Src: r.Key}
		typ := k.Int16()
		if k.String() != group {
			continue
		}
		s := fmt.Sprint(typ)
		if r.Value == nil {
			s += "T"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func await(t *testing.T, ctx context.Context, what string, ok func() bool) {
	t.Helper()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: did not happen", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func ids(v *kmsg.GroupMetadataValue) []string {
	var out []string
	for _, m := range v.Members {
		out = append(out, m.ClientID+"@"+m.ClientHost)
	}
	slices.Sort(out)
	return out
}

func TestClassicLife(t *testing.T) {
	c, ctx := start(t)
	tl := follow(t, c, "orders")
	a := join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "a", Host: "10.0.0.1"})
	must(t, c.WaitStable(ctx, "orders", 1))
	must(t, c.Produce(ctx, "work", 2, 5))
	b := join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "b", Host: "10.0.0.2", Rebalance: 3 * time.Second})
	must(t, c.WaitStable(ctx, "orders", 2))
	b.Leave()
	must(t, c.WaitStable(ctx, "orders", 1))
	a.Leave()
	must(t, c.WaitEmpty(ctx, "orders"))
	await(t, ctx, "the empty record", func() bool {
		ms := tl.metadata(t, "orders")
		return len(ms) > 1 && len(ms[len(ms)-1].Members) == 0
	})
	must(t, c.DeleteGroup(ctx, "orders"))
	await(t, ctx, "the tombstone", func() bool {
		ms := tl.metadata(t, "orders")
		return ms[len(ms)-1] == nil
	})

	ms := tl.metadata(t, "orders")
	if ms[0].Generation != 0 || ms[0].ProtocolType != "" || len(ms[0].Members) != 0 || ms[0].Protocol != nil {
		t.Errorf("the first record is %+v, want generation 0 without protocol type", ms[0])
	}
	gen := int32(0)
	var most *kmsg.GroupMetadataValue
	for _, m := range ms[1 : len(ms)-1] {
		if m.Generation <= gen {
			t.Errorf("generation %d after %d", m.Generation, gen)
		}
		gen = m.Generation
		if most == nil || len(m.Members) >= len(most.Members) {
			most = m
		}
	}
	if got := ids(most); !slices.Equal(got, []string{"a@/10.0.0.1", "b@/10.0.0.2"}) {
		t.Errorf("members %v", got)
	}
	for _, m := range most.Members {
		if want := map[string]int32{"a": 2000, "b": 3000}[m.ClientID]; m.RebalanceTimeoutMillis != want || m.SessionTimeoutMillis != 600 {
			t.Errorf("%s: rebalance %d session %d, want %d and 600", m.ClientID, m.RebalanceTimeoutMillis, m.SessionTimeoutMillis, want)
		}
		var sub kmsg.ConsumerMemberMetadata
		var asg kmsg.ConsumerMemberAssignment
		if err := errors.Join(sub.ReadFrom(m.Subscription), asg.ReadFrom(m.Assignment)); err != nil {
			t.Errorf("%s: %v", m.ClientID, err)
		} else if !slices.Equal(sub.Topics, []string{"work"}) || len(asg.Topics) != 1 || len(asg.Topics[0].Partitions) != 3 {
			t.Errorf("%s: subscription %v, assignment %+v", m.ClientID, sub.Topics, asg.Topics)
		}
	}
	if *most.Protocol != "range" || !strings.HasPrefix(*most.Leader, "a-") || most.ProtocolType != "consumer" || most.CurrentStateTimestamp == 0 {
		t.Errorf("protocol %s, leader %s, type %s, state time %d", *most.Protocol, *most.Leader, most.ProtocolType, most.CurrentStateTimestamp)
	}
	if last := ms[len(ms)-2]; last.Protocol != nil || last.Leader != nil || last.ProtocolType != "consumer" || last.Generation != gen {
		t.Errorf("the empty record is %+v", last)
	}
	if got := tl.types("orders"); !strings.HasSuffix(got, "2 1T 2T") || !strings.Contains(got, " 1 ") {
		t.Errorf("records of types %s, want commits, and at the end the empty group, the offset's tombstone and the group's", got)
	}
}

func TestCommitNamesOffsetAndTopicID(t *testing.T) {
	c, ctx := start(t)
	tl := follow(t, c, "orders")
	join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "a"})
	must(t, c.Produce(ctx, "work", 4, 7))
	var v kmsg.OffsetCommitValue
	await(t, ctx, "a commit of offset 7", func() bool {
		for _, r := range tl.records() {
			k := kbin.Reader{Src: r.Key}
			if k.Int16() == 1 && k.String() == "orders" && k.String() == "work" && k.Int32() == 4 {
				must(t, v.ReadFrom(r.Value))
			}
		}
		return v.Offset == 7
	})
	tops, err := kadm.NewClient(outsider(t, c)).ListTopics(ctx, "work")
	must(t, err)
	if v.Version != 4 || v.TopicID != [16]byte(tops["work"].ID) || time.Since(time.UnixMilli(v.CommitTimestamp)) > time.Minute {
		t.Errorf("commit %+v, topic id %x", v, tops["work"].ID)
	}
}

func TestKilledMemberIsNoticedAfterItsSession(t *testing.T) {
	c, ctx := start(t)
	tl := follow(t, c, "orders")
	join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "stays"})
	b := join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "dies"})
	must(t, c.WaitStable(ctx, "orders", 2))
	killed := time.Now()
	b.Kill()
	must(t, c.WaitStable(ctx, "orders", 1))
	if d := time.Since(killed); d < session-2*heartbeat {
		t.Errorf("the member was out after %v, before its session of %v", d, session)
	}
	await(t, ctx, "a record without the member", func() bool {
		ms := tl.metadata(t, "orders")
		last := ms[len(ms)-1]
		return len(last.Members) == 1 && last.Members[0].ClientID == "stays"
	})
}

func TestLastMemberKilledEmptiesTheGroup(t *testing.T) {
	c, ctx := start(t)
	tl := follow(t, c, "orders")
	m := join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "a"})
	must(t, c.WaitStable(ctx, "orders", 1))
	m.Kill()
	await(t, ctx, "the empty record", func() bool {
		ms := tl.metadata(t, "orders")
		return len(ms) == 3 && len(ms[2].Members) == 0 && ms[2].Generation == ms[1].Generation+1
	})
}

func TestFrozenMemberExpiresAndReturns(t *testing.T) {
	c, ctx := start(t)
	join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "stays"})
	b := join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "freezes"})
	must(t, c.WaitStable(ctx, "orders", 2))
	b.Freeze()
	must(t, c.WaitStable(ctx, "orders", 1))
	b.Thaw()
	must(t, c.WaitStable(ctx, "orders", 2))
}

func TestStallingMemberLeavesByItselfAndRejoins(t *testing.T) {
	c, ctx := start(t)
	tl := follow(t, c, "orders")
	var mu sync.Mutex
	var events []fakecluster.Event
	join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "steady"})
	m := join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "slow", MaxPoll: 400 * time.Millisecond,
		Event: func(_ *fakecluster.Member, e fakecluster.Event) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, e)
		}})
	must(t, c.WaitStable(ctx, "orders", 2))
	m.Stall(time.Second)
	must(t, c.Feed("work", 6, 50*time.Millisecond))
	must(t, c.WaitStable(ctx, "orders", 1))
	must(t, c.WaitStable(ctx, "orders", 2))
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(events, []fakecluster.Event{fakecluster.EventLeft, fakecluster.EventReturn}) {
		t.Errorf("events %v", events)
	}
	await(t, ctx, "two member ids of the slow client in the log", func() bool {
		members := map[string]bool{}
		for _, v := range tl.metadata(t, "orders") {
			for _, m := range v.Members {
				if m.ClientID == "slow" {
					members[m.MemberID] = true
				}
			}
		}
		return len(members) == 2
	})
}

func TestStaticRestartKeepsTheGeneration(t *testing.T) {
	c, ctx := start(t)
	tl := follow(t, c, "orders")
	join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "one", InstanceID: "i1"})
	must(t, c.WaitStable(ctx, "orders", 1))
	b := join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "two", InstanceID: "i2"})
	must(t, c.WaitStable(ctx, "orders", 2))
	await(t, ctx, "two members in the log", func() bool {
		ms := tl.metadata(t, "orders")
		return len(ms) > 0 && len(ms[len(ms)-1].Members) == 2
	})
	before := tl.metadata(t, "orders")
	b.Leave()
	join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "two", InstanceID: "i2"})
	await(t, ctx, "a record of the return", func() bool { return len(tl.metadata(t, "orders")) > len(before) })
	old, now := before[len(before)-1], tl.metadata(t, "orders")[len(before)]
	if now.Generation != old.Generation || len(now.Members) != 2 {
		t.Fatalf("generation %d with %d members after %d", now.Generation, len(now.Members), old.Generation)
	}
	for i := range now.Members {
		same := now.Members[i].MemberID == old.Members[i].MemberID
		if inst := *now.Members[i].InstanceID; same != (inst == "i1") {
			t.Errorf("%s: member id kept: %v", inst, same)
		}
	}
}

func TestServerSideGroup(t *testing.T) {
	c, ctx := start(t, fakecluster.BrokerConfig("group.consumer.session.timeout.ms", "800"),
		fakecluster.BrokerConfig("group.consumer.heartbeat.interval.ms", "100"))
	tl := follow(t, c, "payments")
	a := join(t, c, fakecluster.MemberConfig{Group: "payments", ClientID: "a", Host: "10.0.0.1", Server: true})
	await(t, ctx, "the first batch", func() bool { return strings.HasPrefix(tl.types("payments"), "5 3 7 6 8") })
	b := join(t, c, fakecluster.MemberConfig{Group: "payments", ClientID: "b", Server: true})
	must(t, c.WaitStable(ctx, "payments", 2))
	await(t, ctx, "both members converged", func() bool {
		states := map[string][]int32{}
		target := int32(0)
		for _, r := range tl.records() {
			k := kbin.Reader{Src: r.Key}
			typ := k.Int16()
			if k.String() != "payments" || r.Value == nil {
				continue
			}
			v := kbin.Reader{Src: r.Value[2:]}
			switch typ {
			case 6:
				target = v.Int32()
			case 8:
				states[k.String()] = []int32{v.Int32(), v.Int32(), int32(v.Int8())}
			}
		}
		n := 0
		for _, s := range states {
			if s[0] == target && s[2] == 0 {
				n++
			}
		}
		return n == 2 && target > 1
	})
	revoked := false
	for _, r := range tl.records() {
		k := kbin.Reader{Src: r.Key}
		if k.Int16() == 8 && r.Value != nil && r.Value[10] == 1 {
			revoked = true
		}
	}
	if !revoked {
		t.Error("no member was seen giving partitions up (state 1)")
	}
	b.Kill()
	await(t, ctx, "tombstones of the fenced member", func() bool { return strings.Contains(tl.types("payments"), "8T 7T 5T 3") })
	a.Leave()
	await(t, ctx, "tombstones of the last member", func() bool { return strings.Count(tl.types("payments"), "8T 7T 5T") == 2 })
	must(t, c.DeleteGroup(ctx, "payments"))
	await(t, ctx, "tombstones of the group", func() bool { return strings.HasSuffix(tl.types("payments"), "6T 3T") })
}

func TestCoordinatorIsTheLeader(t *testing.T) {
	c, ctx := start(t)
	adm := kadm.NewClient(outsider(t, c))
	for _, g := range []string{"orders", "billing", "消費者グループ"} {
		if err := c.Align(g); err != nil {
			t.Fatal(err)
		}
		agree(t, ctx, adm, g)
	}
	must(t, c.MoveCoordinator("orders"))
	agree(t, ctx, adm, "orders")
	agree(t, ctx, adm, "billing")
}

func agree(t *testing.T, ctx context.Context, adm *kadm.Client, group string) {
	t.Helper()
	p, err := locate.Partition(group, 50)
	must(t, err)
	var leader, coordinator int32
	await(t, ctx, group+": leader and coordinator agree", func() bool {
		tops, err := adm.ListTopicsWithInternal(ctx)
		must(t, err)
		leader = tops[locate.OffsetsTopic].Partitions[p].Leader
		coordinator = adm.FindGroupCoordinators(ctx, group)[group].NodeID
		return leader == coordinator
	})
}

func TestMembersSurviveAMovedCoordinator(t *testing.T) {
	c, ctx := start(t)
	join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "a"})
	must(t, c.WaitStable(ctx, "orders", 1))
	must(t, c.MoveCoordinator("orders"))
	tl := follow(t, c, "orders")
	must(t, c.Produce(ctx, "work", 0, 3))
	await(t, ctx, "a commit at the new coordinator", func() bool { return strings.Contains(tl.types("orders"), "1") })
}

func TestVirginClusterHasNoOffsetsTopicUntilAsked(t *testing.T) {
	c, ctx := start(t, fakecluster.Virgin())
	cl := outsider(t, c)
	topics := func() []string {
		ts, err := c.Topics(ctx)
		must(t, err)
		return ts
	}
	if _, err := kadm.NewClient(cl).ListGroups(ctx); err != nil {
		t.Fatal(err)
	}
	if got := topics(); !slices.Equal(got, []string{"work"}) {
		t.Fatalf("topics %v", got)
	}
	kadm.NewClient(cl).FindGroupCoordinators(ctx, "orders")
	if got := topics(); !slices.Contains(got, locate.OffsetsTopic) {
		t.Errorf("topics %v after FindCoordinator, want the offsets topic", got)
	}
}

func TestDenials(t *testing.T) {
	c, ctx := start(t)
	join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "a"})
	must(t, c.WaitStable(ctx, "orders", 1))
	cl := outsider(t, c)
	adm := kadm.NewClient(cl)

	undo := c.DenyGroup("orders")
	if got := adm.FindGroupCoordinators(ctx, "orders")["orders"].Err; !errors.Is(got, kerr.GroupAuthorizationFailed) {
		t.Errorf("FindCoordinator: %v", got)
	}
	if ls, err := adm.ListGroups(ctx); err != nil || len(ls) != 0 {
		t.Errorf("ListGroups: %v, %v", ls, err)
	}
	undo()
	if ls, err := adm.ListGroups(ctx); err != nil || len(ls) != 1 {
		t.Errorf("ListGroups after undo: %v, %v", ls, err)
	}

	undo = c.DenyOffsetsRead()
	p, _ := locate.Partition("orders", 50)
	r := outsider(t, c, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{locate.OffsetsTopic: {p: kgo.NewOffset().AtStart()}}))
	if err := r.PollFetches(ctx).Err(); !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("fetch: %v", err)
	}
	undo()
	await(t, ctx, "a record", func() bool { return r.PollFetches(ctx).NumRecords() > 0 })
}

func TestSilentAndDeadBrokers(t *testing.T) {
	c, ctx := start(t)
	cl := outsider(t, c)
	ask := func(broker int) error {
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		_, err := cl.Broker(broker).RetriableRequest(short, kmsg.NewPtrListGroupsRequest())
		return err
	}
	must(t, ask(1))
	undo, err := c.Silence(1)
	must(t, err)
	if err := ask(1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("silent broker: %v", err)
	}
	must(t, ask(2))
	undo()
	must(t, ask(1))
	must(t, c.StopBroker(1))
	if ask(1) == nil {
		t.Error("a dead broker answered")
	}
	must(t, c.StartBroker(1))
	await(t, ctx, "the broker answers again", func() bool { return ask(1) == nil })
	if _, err := c.Silence(9); err == nil {
		t.Error("broker 9 does not exist")
	}
}

func TestCollidingGroupsAreRefused(t *testing.T) {
	c, _ := start(t)
	refused := false
	for i := range 200 {
		if err := c.Align(fmt.Sprint("g", i)); err != nil {
			refused = true
			if !strings.Contains(err.Error(), "shares its offsets partition") {
				t.Fatal(err)
			}
		}
	}
	if !refused {
		t.Error("200 groups on 50 partitions and 3 brokers never collided")
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestUsersAndACLs(t *testing.T) {
	c, ctx := start(t, fakecluster.Superuser("SCRAM-SHA-256", "admin", "secret"),
		fakecluster.User("PLAIN", "sre", "pw", kfake.ACL{Resource: kmsg.ACLResourceTypeCluster, Name: "kafka-cluster",
			Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: kmsg.ACLOperationDescribe, Allow: true}))
	join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "a"})
	must(t, c.WaitStable(ctx, "orders", 1))

	admin := kadm.NewClient(outsider(t, c, kgo.SASL(scram.Auth{User: "admin", Pass: "secret"}.AsSha256Mechanism())))
	if d, err := admin.DescribeGroups(ctx, "orders"); err != nil || len(d["orders"].Members) != 1 {
		t.Errorf("admin: %+v, %v", d, err)
	}
	sre := kadm.NewClient(outsider(t, c, kgo.SASL(plain.Auth{User: "sre", Pass: "pw"}.AsMechanism())))
	if err := sre.FindGroupCoordinators(ctx, "orders")["orders"].Err; !errors.Is(err, kerr.GroupAuthorizationFailed) {
		t.Errorf("sre without DESCRIBE on the group: %v", err)
	}
	if _, err := kadm.NewClient(outsider(t, c)).ListGroups(ctx); err == nil {
		t.Error("a client without credentials was served")
	}
}

func TestTLSListener(t *testing.T) {
	srv := httptest.NewUnstartedServer(nil)
	srv.StartTLS() // for its certificate of 127.0.0.1
	defer srv.Close()
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	c, ctx := start(t, fakecluster.TLS(&tls.Config{Certificates: srv.TLS.Certificates}))
	join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "a"})
	must(t, c.WaitStable(ctx, "orders", 1))
	if ls, err := kadm.NewClient(outsider(t, c, kgo.DialTLSConfig(&tls.Config{RootCAs: pool}))).ListGroups(ctx); err != nil || len(ls) != 1 {
		t.Errorf("over TLS: %v, %v", ls, err)
	}
	if _, err := kadm.NewClient(outsider(t, c)).ListGroups(ctx); err == nil {
		t.Error("a plaintext client was served on a TLS listener")
	}
}

// TestTLSGreetingOnPlaintext is what a client with security.protocol=SSL does to a
// plaintext listener: a broker closes the connection.
func TestTLSGreetingOnPlaintext(t *testing.T) {
	c, _ := start(t)
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", c.Addrs()[0], &tls.Config{InsecureSkipVerify: true})
	if err == nil {
		conn.Close()
		t.Fatal("a TLS handshake succeeded")
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the listener did not close the connection: %v", err)
	}
}

func TestCloseTwiceAndWithMembersInEveryState(t *testing.T) {
	c, ctx := start(t)
	join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "works"})
	frozen := join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "frozen"})
	killed := join(t, c, fakecluster.MemberConfig{Group: "orders", ClientID: "killed"})
	must(t, c.WaitStable(ctx, "orders", 3))
	frozen.Freeze()
	killed.Kill()
	must(t, c.StopBroker(0))
	if _, err := c.Silence(1); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { c.Close(); c.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("Close did not return")
	}
}
