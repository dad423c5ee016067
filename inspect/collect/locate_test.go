package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/locate"
)

// coordinatorsFake is a cluster of three brokers whose FindCoordinator answers are the
// test's: answer says what broker node answers about id.
type coordinatorsFake struct {
	*kfake.Cluster
	collector *Collector
	asked     atomic.Int64 // FindCoordinator requests
	answer    atomic.Pointer[func(node int32, id string) (int32, error)]
}

// leaderOf is what Metadata says of the id's partition, by count partitions.
func (f *coordinatorsFake) leaderOf(id string, count int32) int32 {
	p, err := locate.Partition(id, count)
	if err != nil {
		return -1
	}
	return f.LeaderFor(locate.OffsetsTopic, p)
}

// errMute lets a broker take the request and say nothing.
var errMute = errors.New("mute")

func newCoordinators(t *testing.T, opts ...kfake.Opt) *coordinatorsFake {
	t.Helper()
	base := []kfake.Opt{kfake.NumBrokers(3), kfake.ClusterID("locate-test"),
		kfake.SeedTopics(50, locate.OffsetsTopic), kfake.SeedTopics(10, locate.TransactionsTopic)}
	c, err := kfake.NewCluster(append(base, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	f := &coordinatorsFake{Cluster: c}
	f.say(func(_ int32, id string) (int32, error) { return f.leaderOf(id, 50), nil })
	c.ControlKey(int16(kmsg.FindCoordinator), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		f.asked.Add(1)
		return f.respond(c.CurrentNode(), kreq.(*kmsg.FindCoordinatorRequest))
	})
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()[0]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	f.collector = New(cl, Options{PerBroker: 2 * time.Second})
	return f
}

func (f *coordinatorsFake) say(answer func(int32, string) (int32, error)) { f.answer.Store(&answer) }

func (f *coordinatorsFake) respond(node int32, req *kmsg.FindCoordinatorRequest) (kmsg.Response, error, bool) {
	resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
	ids := req.CoordinatorKeys
	if req.Version < batchVersion {
		ids = []string{req.CoordinatorKey}
	}
	for _, id := range ids {
		sc := kmsg.NewFindCoordinatorResponseCoordinator()
		sc.Key, sc.NodeID = id, -1
		who, err := (*f.answer.Load())(node, id)
		var ke *kerr.Error
		switch {
		case errors.As(err, &ke):
			sc.ErrorCode = ke.Code
		case errors.Is(err, errMute):
			return nil, nil, true // no answer ever
		case err != nil:
			return nil, err, true
		default:
			sc.NodeID = who
		}
		resp.Coordinators = append(resp.Coordinators, sc)
		resp.NodeID, resp.ErrorCode = sc.NodeID, sc.ErrorCode
	}
	return resp, nil, true
}

func (f *coordinatorsFake) locate(t *testing.T, ids ...string) *Located {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	l, err := f.collector.Locate(ctx, LocateQuery{IDs: ids})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLocateAgrees(t *testing.T) {
	f := newCoordinators(t)
	l := f.locate(t, "foo", "my-group", "polygenelubricants")
	for i, want := range []int32{24, 12, 0} {
		loc := l.Locations[i]
		if loc.Partition != want || loc.Agreement != Agrees || loc.Coordinator != f.LeaderFor(locate.OffsetsTopic, want) {
			t.Errorf("%s: %+v", loc.ID, loc)
		}
		if len(loc.Answers) != 3 || loc.Reason != "" {
			t.Errorf("%s: asked %v, reason %q; want all three brokers and no reason", loc.ID, loc.Answers, loc.Reason)
		}
	}
	if len(l.Gaps) != 0 {
		t.Errorf("gaps: %v", l.Gaps)
	}
}

// On a cluster without the topic a FindCoordinator would create it.
func TestLocateNeverCreatesTheTopic(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.AllowAutoTopicCreation())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var asked atomic.Int64
	c.ControlKey(int16(kmsg.FindCoordinator), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		asked.Add(1)
		return nil, nil, false
	})
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for _, transactional := range []bool{false, true} {
		l, err := New(cl, Options{}).Locate(t.Context(), LocateQuery{IDs: []string{"orders"}, Transactional: transactional})
		want := ErrNoOffsetsTopic
		if transactional {
			want = ErrNoTransactionsTopic
		}
		if err != nil || !errors.Is(l.TopicErr, want) || l.Topic != nil || len(l.Locations) != 0 {
			t.Errorf("transactional %v: %+v, %v; want %v", transactional, l, err, want)
		}
		for _, topic := range []string{locate.OffsetsTopic, locate.TransactionsTopic} {
			if c.TopicInfo(topic) != nil {
				t.Errorf("%s was created", topic)
			}
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d FindCoordinator requests were sent", n)
	}
}

func TestLocateMajorityAndReasons(t *testing.T) {
	old := func(f *coordinatorsFake) func(int32, string) (int32, error) {
		return func(node int32, id string) (int32, error) {
			if node == 2 {
				return f.leaderOf(id, 40), nil // started when the topic had 40 partitions
			}
			return f.leaderOf(id, 50), nil
		}
	}
	for _, c := range []struct {
		name   string
		answer func(*coordinatorsFake) func(int32, string) (int32, error)
		reason Reason
		why    string
		agrees bool
	}{
		{"one broker counts fewer partitions", old, ReasonPartitionCount, "broker 2 still counts 40 partitions where the topic has 50", true},
		{"redpanda", func(f *coordinatorsFake) func(int32, string) (int32, error) {
			return func(_ int32, id string) (int32, error) {
				p, err := locate.RedpandaPartition(id, 50)
				return f.LeaderFor(locate.OffsetsTopic, p), err
			}
		}, ReasonRedpanda, "another hash", false},
		{"no rule", func(f *coordinatorsFake) func(int32, string) (int32, error) {
			return func(_ int32, id string) (int32, error) { return int32(len(id)) % 3, nil }
		}, "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newCoordinators(t)
			answer := c.answer(f)
			f.say(answer)
			// An id about which the fault shows.
			id := ""
			for i := 0; id == ""; i++ {
				try := fmt.Sprintf("g%d", i)
				if who, _ := answer(2, try); who != f.leaderOf(try, 50) {
					id = try
				}
			}
			loc := f.locate(t, id).Locations[0]
			if loc.Agreement != Disagrees || loc.Reason != c.reason || !strings.Contains(loc.Why, c.why) {
				t.Errorf("agreement %s, reason %q: %s", loc.Agreement, loc.Reason, loc.Why)
			}
			want, _ := answer(0, id) // brokers 0 and 1 say the same
			if loc.Coordinator != want || (loc.Coordinator == loc.State.Leader) != c.agrees {
				t.Errorf("coordinator %d, leader %d; want %d", loc.Coordinator, loc.State.Leader, want)
			}
		})
	}
}

// While the leader moves, brokers contradict each other; the second look settles it.
func TestLocateElection(t *testing.T) {
	f := newCoordinators(t)
	before := f.leaderOf("orders", 50)
	after := (before + 1) % 3
	p, err := locate.Partition("orders", 50)
	if err != nil {
		t.Fatal(err)
	}
	// The second Metadata request waits for the move, as a slow election would have it.
	moved := make(chan struct{})
	var begun atomic.Bool
	f.say(func(int32, string) (int32, error) {
		if begun.CompareAndSwap(false, true) {
			go func() {
				defer close(moved)
				f.MoveTopicPartition(locate.OffsetsTopic, p, after)
			}()
		}
		return after, nil
	})
	f.ControlKey(int16(kmsg.Metadata), func(kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		if begun.Load() {
			f.SleepControl(func() { <-moved })
		}
		return nil, nil, false
	})
	loc := f.locate(t, "orders").Locations[0]
	if loc.Agreement != Agrees || loc.Coordinator != after || loc.State.Leader != after ||
		loc.Reason != ReasonElection || !strings.Contains(loc.Why, fmt.Sprintf("from broker %d to broker %d", before, after)) {
		t.Errorf("%+v", loc)
	}
}

func TestLocateDenied(t *testing.T) {
	f := newCoordinators(t)
	f.say(func(_ int32, id string) (int32, error) {
		if id == "secret" {
			return -1, kerr.GroupAuthorizationFailed
		}
		return f.leaderOf(id, 50), nil
	})
	l := f.locate(t, "orders", "secret")
	if l.Locations[0].Agreement != Agrees {
		t.Errorf("one denied group spoiled another: %+v", l.Locations[0])
	}
	if loc := l.Locations[1]; loc.Agreement != Unverified || loc.Coordinator != -1 || loc.Reason != ReasonDenied {
		t.Errorf("%+v", loc)
	}
	if len(l.Gaps) != 1 || l.Gaps[0].Fact != inspect.FactCoordinator || !strings.Contains(l.Gaps[0].What, `"secret"`) ||
		!strings.Contains(l.Gaps[0].Needs, "DESCRIBE") {
		t.Errorf("gaps: %+v", l.Gaps)
	}
}

// A verifier that hangs costs a second at most, and is named.
func TestLocateSlowVerifier(t *testing.T) {
	f := newCoordinators(t)
	f.say(func(node int32, id string) (int32, error) {
		if node == 1 {
			return -1, errMute
		}
		return f.leaderOf(id, 50), nil
	})
	start := time.Now()
	l := f.locate(t, "foo")
	if took := time.Since(start); took > verifierWait+2*time.Second {
		t.Errorf("took %v", took)
	}
	loc := l.Locations[0]
	if loc.Agreement != Agrees {
		t.Errorf("%+v", loc)
	}
	i := slices.IndexFunc(loc.Answers, func(a Answer) bool { return a.Broker == 1 })
	if i < 0 || loc.Answers[i].Err == nil || !strings.Contains(loc.Answers[i].Err.Error(), "did not answer within 1s") {
		t.Errorf("answers: %+v", loc.Answers)
	}
	if len(l.Gaps) != 1 || !strings.Contains(l.Gaps[0].What, "broker 1") {
		t.Errorf("gaps: %+v", l.Gaps)
	}
}

// Brokers up to 2.8 take one id a request; a batch would be answered for the empty id.
func TestLocateOldBrokers(t *testing.T) {
	f := newCoordinators(t, kfake.MaxVersions(kversion.V2_8_0()))
	ids := manyIDs(60)
	l := f.locate(t, ids...)
	for _, loc := range l.Locations {
		if loc.Agreement != Agrees || len(loc.Answers) != 3 {
			t.Fatalf("%+v", loc)
		}
	}
	if got, want := f.asked.Load(), int64(3*len(ids)); got != want {
		t.Errorf("%d requests, want %d", got, want)
	}
}

func manyIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("group-%d-é🚀", i)
	}
	return ids
}

func TestLocateTenThousand(t *testing.T) {
	f := newCoordinators(t)
	ids := manyIDs(10_000)
	start := time.Now()
	l := f.locate(t, ids...)
	took := time.Since(start)
	if len(l.Locations) != len(ids) {
		t.Fatalf("%d locations", len(l.Locations))
	}
	for i, loc := range l.Locations {
		if loc.ID != ids[i] || loc.Agreement != Agrees {
			t.Fatalf("%d: %+v", i, loc)
		}
	}
	if n := f.asked.Load(); n > 20 {
		t.Errorf("%d requests for 10000 ids at three brokers", n)
	}
	if took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	t.Logf("10000 ids, 3 brokers: %v", took)
}

// One broker that counts otherwise must show for every id it concerns, sample or not.
func TestLocateManyWithADisagreement(t *testing.T) {
	f := newCoordinators(t)
	answer := func(node int32, id string) (int32, error) {
		if node == 2 {
			return f.leaderOf(id, 40), nil
		}
		return f.leaderOf(id, 50), nil
	}
	f.say(answer)
	for _, loc := range f.locate(t, manyIDs(3000)...).Locations {
		want := Agrees
		if who, _ := answer(2, loc.ID); who != loc.State.Leader {
			want = Disagrees
		}
		if loc.Agreement != want || (want == Disagrees) != (loc.Reason == ReasonPartitionCount) {
			t.Fatalf("%+v: want %s", loc, want)
		}
	}
}

func TestLocateRefusesBadIDs(t *testing.T) {
	f := newCoordinators(t)
	for _, id := range []string{"", "caf\xe9"} {
		if _, err := f.collector.Locate(t.Context(), LocateQuery{IDs: []string{"ok", id}}); err == nil {
			t.Errorf("%q was accepted", id)
		}
	}
	if f.asked.Load() != 0 {
		t.Error("the brokers were asked about an id that was refused")
	}
}

func TestLocateTransactionalID(t *testing.T) {
	f := newCoordinators(t)
	f.say(func(_ int32, id string) (int32, error) {
		p, err := locate.Partition(id, 10)
		return f.LeaderFor(locate.TransactionsTopic, p), err
	})
	l, err := f.collector.Locate(t.Context(), LocateQuery{IDs: []string{"tx-1"}, Transactional: true})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := locate.Partition("tx-1", 10)
	if loc := l.Locations[0]; loc.Partition != want || loc.Agreement != Agrees || l.Topic.Topic != locate.TransactionsTopic {
		t.Errorf("%+v", loc)
	}
}

func TestWeigh(t *testing.T) {
	answer := func(broker, coordinator int32) Answer { return Answer{Broker: broker, Coordinator: coordinator} }
	failed := Answer{Broker: 9, Coordinator: -1, Err: kerr.CoordinatorNotAvailable}
	for _, c := range []struct {
		name        string
		leader      int32
		answers     []Answer
		coordinator int32
		agreement   Agreement
	}{
		{"nobody", 1, nil, -1, Unverified},
		{"only errors", 1, []Answer{failed}, -1, Unverified},
		{"one answer", 1, []Answer{failed, answer(2, 1)}, 1, Agrees},
		{"majority against the hash", 1, []Answer{answer(1, 2), answer(2, 2), answer(3, 1)}, 2, Disagrees},
		{"a tie goes to the computed leader", 3, []Answer{answer(1, 2), answer(2, 3)}, 3, Disagrees},
		{"a tie without it goes to the lowest id", 1, []Answer{answer(1, 3), answer(2, 2)}, 2, Disagrees},
		{"the bootstrap address has no second vote", 2, []Answer{answer(-1, 1), answer(1, 1), answer(2, 2)}, 2, Disagrees},
		{"the bootstrap address alone", 1, []Answer{answer(-1, 1), failed}, 1, Agrees},
		{"all say another", 1, []Answer{answer(1, 2), answer(2, 2)}, 2, Disagrees},
	} {
		loc := Location{Placement: locate.Placement{State: locate.PartitionState{Leader: c.leader}}, Answers: c.answers}
		loc.weigh()
		if loc.Coordinator != c.coordinator || loc.Agreement != c.agreement {
			t.Errorf("%s: %d %s, want %d %s", c.name, loc.Coordinator, loc.Agreement, c.coordinator, c.agreement)
		}
	}
}

func TestCommonVerifiers(t *testing.T) {
	cl, err := kgo.NewClient(kgo.SeedBrokers("b7:9092"))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	c := New(cl, Options{})
	m := &Metadata{Controller: 30}
	for id := int32(1); id <= 40; id++ {
		m.Brokers = append(m.Brokers, inspect.Broker{BrokerRef: inspect.BrokerRef{ID: id, Host: fmt.Sprintf("b%d", id), Port: 9092}})
	}
	got := c.common(m, false)
	if len(got) != maxVerifiers-1 || got[0] != 30 || got[1] != 7 {
		t.Errorf("verifiers %v: want the controller, the bootstrap broker, and 9 more", got)
	}
	if got := c.common(m, true); len(got) != 40 {
		t.Errorf("-v asks %d brokers, want all 40", len(got))
	}
}

func FuzzIDChunks(f *testing.F) {
	f.Add(uint16(2500), uint16(3))
	f.Add(uint16(70), uint16(30000))
	f.Fuzz(func(t *testing.T, n, size uint16) {
		id := strings.Repeat("x", int(size)%locate.MaxIDBytes) // one for all: 100 MB an execution otherwise
		ids := slices.Repeat([]string{id}, int(n)%3000)
		total := 0
		for _, chunk := range idChunks(ids) {
			if len(chunk) == 0 || len(chunk) > locateChunk {
				t.Fatalf("a request of %d ids", len(chunk))
			}
			total += len(chunk)
		}
		if total != len(ids) {
			t.Fatalf("%d of %d ids", total, len(ids))
		}
	})
}
