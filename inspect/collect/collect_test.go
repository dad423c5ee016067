package collect

import (
	"context"
	"errors"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/fakecluster"
	"github.com/kgdiag/kgdiag/locate"
)

// testPerBroker is a limit that a broker on the loopback never needs.
const testPerBroker = 700 * time.Millisecond

// fake is a simulated cluster with a Collector on it.
type fake struct {
	*fakecluster.Cluster
	c    *Collector
	cl   *kgo.Client
	sent atomic.Pointer[[]int16]
}

// newFake starts a cluster of three brokers with the topic work of six partitions.
func newFake(t *testing.T, opts ...fakecluster.Option) *fake {
	t.Helper()
	fc, err := fakecluster.New(append([]fakecluster.Option{fakecluster.Topic("work", 6)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fc.Close)
	f := &fake{Cluster: fc}
	f.sent.Store(&[]int16{})
	f.cl, err = kgo.NewClient(kgo.SeedBrokers(fc.Addrs()...), kgo.WithHooks(f))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.cl.Close)
	f.c = New(f.cl, Options{PerBroker: testPerBroker, Bootstrap: fc.Bootstrap()})
	return f
}

// OnBrokerWrite remembers the kinds of the requests that were sent.
func (f *fake) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	for {
		old := f.sent.Load()
		next := append(slices.Clone(*old), key)
		if f.sent.CompareAndSwap(old, &next) {
			return
		}
	}
}

// member joins a member and waits until the group is Stable with n members.
func (f *fake) member(t *testing.T, n int, cfg fakecluster.MemberConfig) *fakecluster.Member {
	t.Helper()
	if cfg.Topics == nil {
		cfg.Topics = []string{"work"}
	}
	m, err := f.Join(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.WaitStable(within(t, 20*time.Second), cfg.Group, n); err != nil {
		t.Fatal(err)
	}
	return m
}

// within is a context that ends with the test or after d.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// collect reads groups with everything.
func (f *fake) collect(t *testing.T, groups ...string) (*inspect.Case, error) {
	t.Helper()
	return f.c.Collect(within(t, 20*time.Second), Selection{Groups: groups}, Everything())
}

// group finds a group of the case.
func group(t *testing.T, c *inspect.Case, id string) *inspect.Group {
	t.Helper()
	for i := range c.Groups {
		if c.Groups[i].ID == id {
			return &c.Groups[i]
		}
	}
	t.Fatalf("group %q is not in the case", id)
	return nil
}

// gapsFor are the gaps of a group as "fact: why (needs)".
func gapsFor(c *inspect.Case, id string) []string {
	var out []string
	for _, g := range c.Gaps {
		if g.Group == id {
			out = append(out, string(g.Fact)+": "+g.Why+" ("+g.Needs+")")
		}
	}
	return out
}

func TestClassicGroup(t *testing.T) {
	f := newFake(t)
	if err := f.Produce(within(t, 9*time.Second), "work", 0, 60); err != nil {
		t.Fatal(err)
	}
	f.member(t, 1, fakecluster.MemberConfig{Group: "orders", ClientID: "orders-0", Host: "10.1.0.7", Session: 12 * time.Second, Rebalance: 90 * time.Second})
	f.member(t, 2, fakecluster.MemberConfig{Group: "orders", ClientID: "orders-1", InstanceID: "pod-1", Session: 12 * time.Second, Rebalance: 90 * time.Second})
	var g *inspect.Group
	eventually(t, "all is committed", func() bool {
		c, err := f.collect(t, "orders")
		if err != nil {
			t.Fatal(err)
		}
		g = group(t, c, "orders")
		return g.Lag != nil && *g.Lag == 0 && len(gapsFor(c, "orders")) == 0
	})
	if g.State != "Stable" || g.Type != inspect.Classic || g.Assignor != "range" || g.ProtocolType != "consumer" {
		t.Errorf("head: %s %s %s %s", g.State, g.Type, g.Assignor, g.ProtocolType)
	}
	if g.Generation == nil || *g.Generation < 2 || g.GenerationBasis != "record" {
		t.Errorf("generation %v by %q", g.Generation, g.GenerationBasis)
	}
	if g.Partition < 0 || g.Coordinator == nil || g.Coordinator.Port == 0 {
		t.Errorf("place: partition %d, coordinator %v", g.Partition, g.Coordinator)
	}
	if len(g.Members) != 2 {
		t.Fatalf("%d members", len(g.Members))
	}
	a, b := g.Members[0], g.Members[1]
	if a.ClientID != "orders-0" || a.Host != "10.1.0.7" || a.InstanceID != nil {
		t.Errorf("first member %+v", a)
	}
	if b.InstanceID == nil || *b.InstanceID != "pod-1" {
		t.Errorf("second member's instance id: %v", b.InstanceID)
	}
	if inspect.Or(a.Session, 0) != 12*time.Second || inspect.Or(a.Rebalance, 0) != 90*time.Second {
		t.Errorf("timeouts %v %v", a.Session, a.Rebalance)
	}
	if len(a.Assignment) != 1 || len(a.Assignment[0].Partitions) != 3 || !slices.Equal(a.Topics, []string{"work"}) {
		t.Errorf("assignment %v of %v", a.Assignment, a.Topics)
	}
	if g.Leader != a.MemberID && g.Leader != b.MemberID {
		t.Errorf("leader %q is no member", g.Leader)
	}
	for _, fact := range []inspect.Fact{inspect.FactState, inspect.FactMembers, inspect.FactGeneration, inspect.FactTimeouts, inspect.FactLag, inspect.FactBrokerConfig} {
		if !slices.ContainsFunc(g.Sources, func(s inspect.Source) bool { return s.Fact == fact && s.From != "" }) {
			t.Errorf("no source for %s in %v", fact, g.Sources)
		}
	}
	if inspect.Or(g.Limits.SessionMax, 0) == 0 {
		t.Errorf("no bounds: %+v", g.Limits)
	}
}

// eventually waits until f holds.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !f() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20s: %s", what)
		}
		time.Sleep(30 * time.Millisecond)
	}
}

func TestConsumerGroup(t *testing.T) {
	f := newFake(t)
	f.member(t, 1, fakecluster.MemberConfig{Group: "pay", ClientID: "pay-0", Server: true, Rebalance: 80 * time.Second})
	c, err := f.collect(t, "pay")
	if err != nil {
		t.Fatal(err)
	}
	g := group(t, c, "pay")
	if g.Type != inspect.Consumer || g.State != "Stable" || g.Epoch == nil || *g.Epoch < 1 || g.TargetEpoch == nil {
		t.Errorf("head: %s %s epoch %v target %v", g.Type, g.State, g.Epoch, g.TargetEpoch)
	}
	m := g.Members[0]
	if m.Epoch == nil || m.Protocol != inspect.Consumer || len(m.Assignment) != 1 || len(m.Target) != 1 {
		t.Errorf("member %+v", m)
	}
	if inspect.Or(m.Rebalance, 0) != 80*time.Second {
		t.Errorf("rebalance timeout %v, gaps %v", m.Rebalance, gapsFor(c, "pay"))
	}
	if m.Session == nil || m.Heartbeat == nil {
		t.Errorf("session %v heartbeat %v, limits %+v, gaps %v", m.Session, m.Heartbeat, g.Limits, gapsFor(c, "pay"))
	}
}

// On a cluster where no group has ever been nothing may be created by looking.
func TestVirginCluster(t *testing.T) {
	f := newFake(t, fakecluster.Virgin())
	c, err := f.collect(t, "orders")
	var missing *NotFoundError
	if !errors.As(err, &missing) {
		t.Fatalf("error %v", err)
	}
	if !slices.ContainsFunc(c.Gaps, func(g inspect.Gap) bool { return g.Fact == inspect.FactOffsetsTopic }) {
		t.Errorf("gaps %v", c.Gaps)
	}
	if _, err := f.c.Collect(within(t, 9*time.Second), Selection{All: true}, Everything()); err != nil {
		t.Error(err)
	}
	f.c.NewPoller("orders").Poll(within(t, 9*time.Second))
	if slices.Contains(*f.sent.Load(), 10) {
		t.Error("FindCoordinator was sent")
	}
	topics, err := f.Topics(within(t, 9*time.Second))
	if err != nil || slices.Contains(topics, locate.OffsetsTopic) {
		t.Errorf("topics %v, error %v", topics, err)
	}
}

func TestNotFoundOffersTheNearest(t *testing.T) {
	f := newFake(t)
	f.member(t, 1, fakecluster.MemberConfig{Group: "orders"})
	c, err := f.collect(t, "ordres", "orders")
	var missing *NotFoundError
	if !errors.As(err, &missing) {
		t.Fatalf("error %v", err)
	}
	if want := `group "ordres": not found (1 group, 3 of 3 brokers answered)`; missing.Error() != want {
		t.Errorf("%q, want %q", missing, want)
	}
	if !slices.Equal(missing.Nearest["ordres"], []string{"orders"}) {
		t.Errorf("nearest %v", missing.Nearest)
	}
	if len(c.Groups) != 1 || c.Groups[0].State != "Stable" {
		t.Errorf("the other group must be shown in full: %+v", c.Groups)
	}
}

func TestDeniedGroup(t *testing.T) {
	f := newFake(t)
	f.member(t, 1, fakecluster.MemberConfig{Group: "orders"})
	f.member(t, 1, fakecluster.MemberConfig{Group: "secret"})
	f.DenyGroup("secret")
	c, err := f.collect(t, "secret", "orders")
	var open *IncompleteError
	var missing *NotFoundError
	if !errors.As(err, &open) || errors.As(err, &missing) {
		t.Fatalf("error %v: what is denied is neither found nor missing", err)
	}
	gaps := gapsFor(c, "secret")
	if len(gaps) != 1 || !strings.Contains(gaps[0], "not authorised") || !strings.Contains(gaps[0], "DESCRIBE on Group secret") {
		t.Errorf("gaps %q", gaps)
	}
	if g := group(t, c, "orders"); g.State != "Stable" || len(g.Members) != 1 {
		t.Errorf("the other group: %+v", g)
	}
	if g := group(t, c, "secret"); g.State != "" || g.Members != nil || g.Lag != nil {
		t.Errorf("what is not known must not be shown: %+v", g)
	}
}

func TestWithoutReadOnTheOffsetsTopic(t *testing.T) {
	f := newFake(t)
	f.member(t, 1, fakecluster.MemberConfig{Group: "orders", ClientID: "a"})
	f.member(t, 2, fakecluster.MemberConfig{Group: "orders", ClientID: "b"})
	f.DenyOffsetsRead()
	c, err := f.collect(t, "orders")
	if err != nil {
		t.Fatal(err)
	}
	g := group(t, c, "orders")
	if g.GenerationBasis != "lower_bound" || g.Generation == nil || *g.Generation < 2 {
		t.Errorf("generation %v by %q", g.Generation, g.GenerationBasis)
	}
	if g.Members[0].Session != nil || len(g.Members) != 2 {
		t.Errorf("members %+v", g.Members)
	}
	gaps := strings.Join(gapsFor(c, "orders"), "\n")
	if !strings.Contains(gaps, "READ on Topic __consumer_offsets") {
		t.Errorf("gaps %s", gaps)
	}
}

// One broker that accepts and never answers hides its own groups only.
func TestSilentBroker(t *testing.T) {
	f := newFake(t)
	byBroker := map[int32]string{}
	for _, id := range []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"} {
		if len(byBroker) == 3 {
			break
		}
		if b := f.Kfake().CoordinatorFor(id); byBroker[b] == "" && f.Align(id) == nil {
			f.member(t, 1, fakecluster.MemberConfig{Group: id})
			byBroker[b] = id
		}
	}
	if len(byBroker) < 2 {
		t.Fatal("the ids all have one coordinator")
	}
	if _, err := f.collect(t, "alpha"); err != nil { // connections are up
		t.Fatal(err)
	}
	sick := int32(-1)
	for b := range byBroker {
		sick = max(sick, b)
	}
	undo, err := f.Silence(sick)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	c, err := f.c.Collect(within(t, 20*time.Second), Selection{All: true}, Everything())
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("took %s", took)
	}
	for b, id := range byBroker {
		if b != sick {
			if g := group(t, c, id); g.State != "Stable" {
				t.Errorf("%s at healthy broker %d: %q", id, b, g.State)
			}
		}
	}
	if c.Cluster.Answered != 2 {
		t.Errorf("%d brokers answered", c.Cluster.Answered)
	}
	if !slices.ContainsFunc(c.Gaps, func(g inspect.Gap) bool {
		return g.Fact == inspect.FactGroups && strings.Contains(g.Why, "did not answer within")
	}) {
		t.Errorf("gaps %+v", c.Gaps)
	}
	// Named, it is "could not complete", not "not found".
	_, err = f.collect(t, byBroker[sick])
	var open *IncompleteError
	if !errors.As(err, &open) {
		t.Errorf("error %v", err)
	}
	undo()
	eventually(t, "the broker answers again", func() bool { _, err := f.collect(t, byBroker[sick]); return err == nil })
}

// Without DESCRIBE on the offsets topic coordinators come from ListGroups, since
// FindCoordinator might create the topic.
func TestHiddenOffsetsTopic(t *testing.T) {
	f := newFake(t)
	f.member(t, 1, fakecluster.MemberConfig{Group: "orders"})
	f.Kfake().ControlKey(3, func(req kmsg.Request) (kmsg.Response, error, bool) {
		f.Kfake().KeepControl()
		m := req.(*kmsg.MetadataRequest)
		if len(m.Topics) == 0 || m.Topics[0].Topic == nil || *m.Topics[0].Topic != locate.OffsetsTopic {
			return nil, nil, false
		}
		resp := m.ResponseKind().(*kmsg.MetadataResponse)
		for i, addr := range f.Addrs() {
			b := kmsg.NewMetadataResponseBroker()
			b.NodeID = int32(i)
			b.Host, b.Port = hostPort(t, addr)
			resp.Brokers = append(resp.Brokers, b)
		}
		topic := kmsg.NewMetadataResponseTopic()
		topic.Topic, topic.ErrorCode = m.Topics[0].Topic, 29
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	c, err := f.collect(t, "orders", "ordres")
	var open *IncompleteError
	if !errors.As(err, &open) || !slices.Equal(open.Groups, []string{"ordres"}) {
		t.Errorf("error %v", err)
	}
	g := group(t, c, "orders")
	if g.State != "Stable" || g.Partition != -1 {
		t.Errorf("state %q, partition %d", g.State, g.Partition)
	}
	if o := f.c.NewPoller("orders").Poll(within(t, 9*time.Second)); o[0].State != "Stable" {
		t.Errorf("poll %+v", o[0])
	}
	if slices.Contains(*f.sent.Load(), 10) {
		t.Error("FindCoordinator was sent")
	}
}

// Brokers of 2.8 know one group a FindCoordinator and OffsetFetch request, name no
// types, and call a group that they do not know Dead.
func TestOldBrokers(t *testing.T) {
	f := newFake(t, fakecluster.Kfake(kfake.MaxVersions(kversion.V2_8_0())))
	f.member(t, 1, fakecluster.MemberConfig{Group: "orders", ClientID: "a"})
	f.member(t, 1, fakecluster.MemberConfig{Group: "billing", ClientID: "b"})
	var mu sync.Mutex
	var keys []string
	f.Kfake().ControlKey(10, func(req kmsg.Request) (kmsg.Response, error, bool) {
		f.Kfake().KeepControl()
		if r := req.(*kmsg.FindCoordinatorRequest); r.Version < 4 {
			mu.Lock()
			keys = append(keys, r.CoordinatorKey)
			mu.Unlock()
		}
		return nil, nil, false
	})
	c, err := f.collect(t, "orders", "billing", "ordres")
	var missing *NotFoundError
	var open *IncompleteError
	if !errors.As(err, &missing) || errors.As(err, &open) || !missing.MaybeConsumer || !strings.Contains(err.Error(), "not found, or of the consumer protocol (KIP-848)") {
		t.Errorf("error %v", err)
	}
	for _, id := range []string{"orders", "billing"} {
		g := group(t, c, id)
		if g.State != "Stable" || len(g.Members) != 1 || g.Generation == nil || g.Members[0].Session == nil || len(g.Offsets) != 6 {
			t.Errorf("%s: %+v, gaps %v", id, g, gapsFor(c, id))
		}
	}
	mu.Lock()
	asked := slices.Compact(slices.Sorted(slices.Values(keys)))
	mu.Unlock()
	if !slices.Equal(asked, []string{"billing", "orders", "ordres"}) {
		t.Errorf("FindCoordinator was asked for %q", asked)
	}
	if o := f.c.NewPoller("orders", "ordres").Poll(within(t, 9*time.Second)); o[0].State != "Stable" || o[1].State != "Dead" {
		t.Errorf("poll %+v", o)
	}
}

func TestSelection(t *testing.T) {
	f := newFake(t)
	f.member(t, 1, fakecluster.MemberConfig{Group: "orders"})
	f.member(t, 1, fakecluster.MemberConfig{Group: "payments", Server: true})
	m := f.member(t, 1, fakecluster.MemberConfig{Group: "billing"})
	m.Leave()
	if err := f.WaitEmpty(within(t, 9*time.Second), "billing"); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		sel  Selection
		want string
	}{
		"all":   {Selection{All: true}, "billing orders payments"},
		"match": {Selection{All: true, Match: regexp.MustCompile("^.*s$")}, "orders payments"},
		"state": {Selection{All: true, States: []string{"empty"}}, "billing"},
		"type":  {Selection{All: true, Types: []inspect.GroupType{inspect.Consumer}}, "payments"},
		"named": {Selection{Groups: []string{"payments", "orders", "payments"}}, "payments orders"},
		"named and filtered": {Selection{Groups: []string{"payments", "orders"}, States: []string{"Stable"},
			Types: []inspect.GroupType{inspect.Classic}}, "orders"},
	} {
		c, err := f.c.Collect(within(t, 9*time.Second), tc.sel, Want{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var ids []string
		for _, g := range c.Groups {
			ids = append(ids, g.ID)
		}
		if got := strings.Join(ids, " "); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// hostPort splits an address.
func hostPort(t *testing.T, addr string) (string, int32) {
	t.Helper()
	h, p, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(p)
	if err != nil {
		t.Fatal(err)
	}
	return h, int32(n)
}
