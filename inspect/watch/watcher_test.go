package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/judge"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/internal/fakecluster"
)

// live is a watch on a simulated cluster.
type live struct {
	*fakecluster.Cluster
	t      *testing.T
	w      *Watcher
	info   *Info
	result *Result
	stop   func()
	done   chan struct{}

	mu     sync.Mutex
	events []Event
}

func newFake(t *testing.T, opts ...fakecluster.Option) *fakecluster.Cluster {
	t.Helper()
	c, err := fakecluster.New(append([]fakecluster.Option{fakecluster.Brokers(3), fakecluster.Topic("work", 4),
		fakecluster.MinSession(100 * time.Millisecond)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// watchOn starts a watch and waits until it polls.
func watchOn(t *testing.T, c *fakecluster.Cluster, cfg Config) *live {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Addrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	scanner := &offsetlog.Scanner{Client: cl}
	cfg.Collector, cfg.Scanner = collect.New(cl, collect.Options{Log: scanner}), scanner
	w := New(cfg)
	l := &live{Cluster: c, t: t, w: w, done: make(chan struct{})}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	if l.info, err = w.Start(ctx); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(l.done)
		l.result, _ = w.Run(ctx, func(e Event) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.events = append(l.events, e)
			return nil
		})
	}()
	l.stop = func() { cancel(); <-l.done }
	t.Cleanup(l.stop)
	return l
}

func named(groups ...string) Config {
	return Config{Selection: collect.Selection{Groups: groups}}
}

func (l *live) join(cfg fakecluster.MemberConfig) *fakecluster.Member {
	l.t.Helper()
	cfg.Topics = []string{"work"}
	if cfg.Session == 0 {
		cfg.Session, cfg.Heartbeat = 1500*time.Millisecond, 100*time.Millisecond
	}
	m, err := l.Join(cfg)
	if err != nil {
		l.t.Fatal(err)
	}
	return m
}

func (l *live) stable(group string, n int) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), 20*time.Second)
	defer cancel()
	if err := l.WaitStable(ctx, group, n); err != nil {
		l.t.Fatal(err)
	}
}

func (l *live) seen() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// await waits for an event for which ok holds.
func (l *live) await(what string, ok func(Event) bool) Event {
	l.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		if i := slices.IndexFunc(l.seen(), ok); i >= 0 {
			return l.seen()[i]
		}
		select {
		case <-deadline:
			l.t.Fatalf("no %s among:\n  %s", what, l.text())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (l *live) text() string {
	var lines []string
	for _, e := range l.seen() {
		lines = append(lines, outline(e)+" "+e.Why)
	}
	return strings.Join(lines, "\n  ")
}

// rebalance waits for a rebalance with this many members and one change.
func (l *live) rebalance(members int, joined, left string) Event {
	l.t.Helper()
	return l.await("rebalance", func(e Event) bool {
		has := func(ws []Who, label string) bool {
			return label == "" || slices.ContainsFunc(ws, func(w Who) bool { return w.Label == label })
		}
		return e.Type == RebalanceDone && *e.Members == members && has(e.Joined, joined) && has(e.Left, left)
	})
}

// generations checks that none is missed and none told twice.
func (l *live) generations() {
	l.t.Helper()
	last := int32(-1)
	for _, e := range l.seen() {
		if e.Type != RebalanceDone || e.Generation == nil {
			continue
		}
		if last >= 0 && *e.Generation != last+1+e.Skipped {
			l.t.Errorf("generation %d after %d (skipped %d)\n  %s", *e.Generation, last, e.Skipped, l.text())
		}
		last = *e.Generation
	}
}

func TestWatchJoinLeaveKill(t *testing.T) {
	c := newFake(t)
	l := &live{Cluster: c, t: t}
	l.join(fakecluster.MemberConfig{Group: "g", ClientID: "a"})
	l.stable("g", 1)
	l = watchOn(t, c, named("g"))
	if !l.info.Log || l.info.Every != QuickEvery || len(l.info.Waiting) != 0 {
		t.Errorf("%+v", l.info)
	}
	b := l.join(fakecluster.MemberConfig{Group: "g", ClientID: "b"})
	l.stable("g", 2)
	l.rebalance(2, "b", "")
	b.Leave()
	l.stable("g", 1)
	left := l.rebalance(1, "", "b")
	if w := left.Left[0].LeftBetween; w == nil || w[1].Before(w[0].Time) {
		t.Errorf("left between: %v", w)
	}
	k := l.join(fakecluster.MemberConfig{Group: "g", ClientID: "k"})
	l.stable("g", 2)
	l.rebalance(2, "k", "")
	k.Kill()
	l.stable("g", 1)
	l.rebalance(1, "", "k")
	l.stop()
	l.generations()
	if n := l.result.Tallies["g"].Rebalances; n < 4 {
		t.Errorf("%d rebalances counted", n)
	}
}

// The coordinator dies, is dead for a while, and comes back; meanwhile nothing is
// missed and afterwards nothing is told twice.
func TestWatchCoordinatorKilledAndRestarted(t *testing.T) {
	c := newFake(t)
	l := &live{Cluster: c, t: t}
	l.join(fakecluster.MemberConfig{Group: "g", ClientID: "a", Session: 10 * time.Second, Heartbeat: 200 * time.Millisecond})
	l.stable("g", 1)
	l = watchOn(t, c, named("g"))
	slow := fakecluster.MemberConfig{Group: "g", ClientID: "b", Session: 10 * time.Second, Heartbeat: 200 * time.Millisecond}
	l.join(slow)
	l.rebalance(2, "b", "")
	coordinator := c.Kfake().CoordinatorFor("g")
	if err := c.StopBroker(coordinator); err != nil {
		t.Fatal(err)
	}
	l.await("source_lost", func(e Event) bool { return e.Type == SourceLost })
	if err := c.StartBroker(coordinator); err != nil {
		t.Fatal(err)
	}
	l.await("source_back", func(e Event) bool { return e.Type == SourceBack })
	l.stable("g", 2)
	slow.ClientID = "c"
	l.join(slow)
	l.rebalance(3, "c", "")
	if err := c.MoveCoordinator("g"); err != nil {
		t.Fatal(err)
	}
	l.await("coordinator_moved", func(e Event) bool { return e.Type == CoordinatorMoved })
	l.stop()
	l.generations()
}

func TestWatchWithoutREAD(t *testing.T) {
	c := newFake(t)
	l := &live{Cluster: c, t: t}
	l.join(fakecluster.MemberConfig{Group: "g", ClientID: "a"})
	l.stable("g", 1)
	defer c.DenyOffsetsRead()()
	l = watchOn(t, c, named("g"))
	if l.info.Log || l.info.LogNeeds == "" || !strings.Contains(l.info.LogWhy, "denied") {
		t.Errorf("%+v", l.info)
	}
	l.join(fakecluster.MemberConfig{Group: "g", ClientID: "b"})
	e := l.rebalance(2, "b", "")
	if e.Source != FromPoll || (e.Generation != nil && e.GenerationBasis != "lower_bound") {
		t.Errorf("%+v", e)
	}
	l.await("the cause of its incident", func(c Event) bool {
		return c.Type == CauseFound && c.Incident == e.Incident && c.Cause == inspect.MemberJoined
	})
	// What it kept is a history of its own.
	l.stop()
	tls := judge.Build(l.w.Case(), judge.Options{})
	if len(tls) != 1 || len(tls[0].Rebalances) != 1 || tls[0].Rebalances[0].ID != e.Record || tls[0].Rebalances[0].Cause != inspect.MemberJoined {
		t.Errorf("the case tells %+v, want the join of b, %s", tls, e.Record)
	}
}

// READ that is taken away in the course of the watch is told, and the watch goes on.
func TestWatchLosesREAD(t *testing.T) {
	c := newFake(t)
	l := &live{Cluster: c, t: t}
	l.join(fakecluster.MemberConfig{Group: "g", ClientID: "a"})
	l.stable("g", 1)
	l = watchOn(t, c, named("g"))
	defer c.DenyOffsetsRead()()
	e := l.await("source_lost", func(e Event) bool { return e.Type == SourceLost && e.Source == FromLog })
	if !strings.Contains(e.Why, "denied") || !strings.Contains(e.Why, "lower bound") {
		t.Errorf("%s", e.Why)
	}
	l.join(fakecluster.MemberConfig{Group: "g", ClientID: "b"})
	if e := l.rebalance(2, "b", ""); e.Source != FromPoll {
		t.Errorf("%+v", e)
	}
}

// A group that is not there yet, on a cluster where no group has ever been.
func TestWatchWaitsForAGroup(t *testing.T) {
	c := newFake(t, fakecluster.Virgin())
	l := watchOn(t, c, named("g"))
	l.await("waiting", func(e Event) bool { return e.Type == GroupWaiting && e.Group == "g" })
	l.join(fakecluster.MemberConfig{Group: "g", ClientID: "a"})
	l.await("appeared", func(e Event) bool { return e.Type == GroupAppeared })
	l.rebalance(1, "a", "")
	l.stop()
	if len(l.result.NeverCame) != 0 {
		t.Errorf("never came: %v", l.result.NeverCame)
	}
}

func TestWatchGroupThatNeverComes(t *testing.T) {
	c := newFake(t)
	l := &live{Cluster: c, t: t}
	l.join(fakecluster.MemberConfig{Group: "orders", ClientID: "a"})
	l.stable("orders", 1)
	l = watchOn(t, c, named("ordres"))
	e := l.await("waiting", func(e Event) bool { return e.Type == GroupWaiting })
	if !slices.Equal(e.Nearest, []string{"orders"}) {
		t.Errorf("nearest: %v", e.Nearest)
	}
	l.stop()
	if !slices.Equal(l.result.NeverCame, []string{"ordres"}) {
		t.Errorf("never came: %v", l.result.NeverCame)
	}
}

func TestWatchAllGroups(t *testing.T) {
	c := newFake(t)
	l := watchOn(t, c, Config{Selection: collect.Selection{All: true}})
	if l.info.Every != SlowEvery {
		t.Errorf("pace %v", l.info.Every)
	}
	l.join(fakecluster.MemberConfig{Group: "new", ClientID: "a"})
	l.await("a group that came into being", func(e Event) bool { return e.Type == RebalanceDone && e.Group == "new" })
	l.join(fakecluster.MemberConfig{Group: "new", ClientID: "b"})
	l.rebalance(2, "b", "")
	l.stop()
	l.generations()
}

// The timeouts of a KIP-848 group are on no record: they are asked for at the start,
// and of a group that comes later when it comes.
func TestWatchKnowsServerSideTimeouts(t *testing.T) {
	c := newFake(t, fakecluster.BrokerConfig("group.consumer.session.timeout.ms", "1500"))
	l := &live{Cluster: c, t: t}
	l.join(fakecluster.MemberConfig{Group: "early", ClientID: "a", Server: true})
	l.stable("early", 1)
	l = watchOn(t, c, named("early", "late"))
	l.stop()
	session := func(groups []inspect.Group, id string) *inspect.Millis {
		for i := range groups {
			if groups[i].ID == id {
				return groups[i].Limits.Session
			}
		}
		t.Fatalf("no group %s among %d", id, len(groups))
		return nil
	}
	if got := session(l.w.Case().Groups, "early"); got == nil || got.Duration() != 1500*time.Millisecond {
		t.Errorf("session timeout %v at the start, want 1.5s", got)
	}
	l.join(fakecluster.MemberConfig{Group: "late", ClientID: "b", Server: true})
	l.stable("late", 1)
	l.w.came["late"] = true
	l.w.meet(time.Now())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	in := make(chan input)
	go reply(ctx, l.w.wantGroup, in, collect.DefaultPerBroker, l.w.askGroups)
	select {
	case i := <-in:
		l.w.take(i)
	case <-ctx.Done():
		t.Fatal("nobody asked for the group that came")
	}
	if got := session(l.w.Case().Groups, "late"); got == nil || got.Duration() != 1500*time.Millisecond {
		t.Errorf("session timeout %v of the group that came, want 1.5s", got)
	}
}

func TestWatchServerSideGroup(t *testing.T) {
	c := newFake(t)
	l := &live{Cluster: c, t: t}
	l.join(fakecluster.MemberConfig{Group: "g", ClientID: "a", Server: true})
	l.stable("g", 1)
	l = watchOn(t, c, named("g"))
	b := l.join(fakecluster.MemberConfig{Group: "g", ClientID: "b", Server: true})
	e := l.rebalance(2, "b", "")
	if e.GenerationBasis != "epoch" {
		t.Errorf("%+v", e)
	}
	l.await("converged", func(c Event) bool { return c.Type == Converged && *c.Generation >= *e.Generation })
	b.Leave()
	l.rebalance(1, "", "b")
}

func TestWatchUntilStable(t *testing.T) {
	c := newFake(t)
	l := &live{Cluster: c, t: t}
	l.join(fakecluster.MemberConfig{Group: "g", ClientID: "a"})
	l.stable("g", 1)
	cfg := named("g")
	cfg.Until = &Until{For: 500 * time.Millisecond, Members: 2}
	l = watchOn(t, c, cfg)
	l.join(fakecluster.MemberConfig{Group: "g", ClientID: "b"})
	select {
	case <-l.done:
	case <-time.After(20 * time.Second):
		t.Fatalf("the gate did not open:\n  %s", l.text())
	}
	if !l.result.Stable {
		t.Errorf("%+v", l.result)
	}
}

// Where there are hundreds of groups only the restless ones are described, and yet a
// rebalance of one of them is told like any other.
func TestWatchHundredsOfGroups(t *testing.T) {
	c := newFake(t)
	l := &live{Cluster: c, t: t}
	l.join(fakecluster.MemberConfig{Group: "busy", ClientID: "a"})
	l.stable("busy", 1)
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Addrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	for i := range describeAtMost + 20 {
		var offsets kadm.Offsets
		offsets.Add(kadm.Offset{Topic: "work", LeaderEpoch: -1})
		if err := adm.CommitAllOffsets(t.Context(), fmt.Sprintf("idle-%d", i), offsets); err != nil {
			t.Fatal(err)
		}
	}
	l = watchOn(t, c, Config{Selection: collect.Selection{All: true}})
	if l.info.Groups <= describeAtMost {
		t.Fatalf("%d groups", l.info.Groups)
	}
	l.join(fakecluster.MemberConfig{Group: "busy", ClientID: "b"})
	l.rebalance(2, "b", "")
	l.stop()
	l.generations()
	if tally := l.result.Tallies["busy"]; tally.Rebalances == 0 {
		t.Errorf("%+v", tally)
	}
}

// Somebody else's question gets what the watch has seen so far, of the groups that were
// asked for alone, and none once the watch is over.
func TestALookTellsWhatHasBeenSeenSoFar(t *testing.T) {
	c := newFake(t)
	l := watchOn(t, c, named("one", "two"))
	l.join(fakecluster.MemberConfig{Group: "one", ClientID: "a"})
	l.join(fakecluster.MemberConfig{Group: "two", ClientID: "b"})
	l.stable("one", 1)
	l.stable("two", 1)
	l.await("both groups' rebalances", func(e Event) bool { return e.Type == RebalanceDone && e.Group == "one" })
	l.await("both groups' rebalances", func(e Event) bool { return e.Type == RebalanceDone && e.Group == "two" })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	got, err := l.w.Look(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	if ids := got.GroupIDs(); !slices.Equal(ids, []string{"one"}) || len(got.Records) == 0 || len(got.Observations) == 0 {
		t.Errorf("groups %v, %d records, %d observations", ids, len(got.Records), len(got.Observations))
	}
	all, err := l.w.Look(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if ids := all.GroupIDs(); !slices.Equal(ids, []string{"one", "two"}) {
		t.Errorf("all groups: %v", ids)
	}
	l.stop()
	over, end := context.WithCancel(t.Context())
	end()
	if _, err := l.w.Look(over, "one"); err == nil {
		t.Error("a watch that is over still answers")
	}
}
