package collect

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/fakecluster"
)

func TestPoller(t *testing.T) {
	f := newFake(t)
	m := f.member(t, 1, fakecluster.MemberConfig{Group: "orders", ClientID: "a", Host: "10.1.0.7"})
	f.member(t, 2, fakecluster.MemberConfig{Group: "orders", ClientID: "b"})
	f.member(t, 1, fakecluster.MemberConfig{Group: "pay", Server: true})
	p := f.c.NewPoller("pay", "orders", "nobody", "pay")
	seen := p.Poll(within(t, 9*time.Second))
	if len(seen) != 3 || seen[0].Group != "pay" || seen[1].Group != "orders" {
		t.Fatalf("order: %+v", seen)
	}
	pay, orders, nobody := seen[0], seen[1], seen[2]
	if pay.State != "Stable" || pay.Epoch == nil || len(pay.Members) != 1 || p.Type("pay") != inspect.Consumer {
		t.Errorf("pay: %+v, type %s", pay, p.Type("pay"))
	}
	if orders.State != "Stable" || len(orders.Members) != 2 || orders.GenerationBound == nil || *orders.GenerationBound < 2 ||
		orders.Coordinator < 0 || orders.From.IsZero() {
		t.Errorf("orders: %+v", orders)
	}
	if !slices.ContainsFunc(orders.Members, func(m inspect.ObservedMember) bool { return m.ClientID == "a" && m.Host == "10.1.0.7" }) {
		t.Errorf("members: %+v", orders.Members)
	}
	if nobody.State != "Dead" || nobody.Error != "" {
		t.Errorf("nobody: %+v", nobody)
	}

	// From the second poll on: one request a coordinator and type, and nothing else.
	before := len(*f.sent.Load())
	p.Poll(within(t, 9*time.Second))
	for _, key := range (*f.sent.Load())[before:] {
		if key != 15 && key != 69 && key != 77 && key != 89 {
			t.Errorf("a poll sent request %d", key)
		}
	}

	m.Leave()
	eventually(t, "the departure shows", func() bool { return len(p.Poll(within(t, 9*time.Second))[1].Members) == 1 })
	p.Set("orders", "late")
	f.member(t, 1, fakecluster.MemberConfig{Group: "late"})
	eventually(t, "the late group shows", func() bool { return p.Poll(within(t, 9*time.Second))[1].State == "Stable" })
}

func TestPollerFollowsTheCoordinator(t *testing.T) {
	f := newFake(t)
	f.member(t, 1, fakecluster.MemberConfig{Group: "orders"})
	p := f.c.NewPoller("orders")
	was := p.Poll(within(t, 9*time.Second))[0].Coordinator
	if err := f.MoveCoordinator("orders"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new coordinator shows", func() bool {
		o := p.Poll(within(t, 9*time.Second))[0]
		return o.Error == "" && o.Coordinator != was && o.State != "Dead"
	})
}

// A coordinator that hangs makes its own groups fail, and the others are polled at
// their pace all the same.
func TestPollerLeavesASilentBrokerAlone(t *testing.T) {
	f := newFake(t)
	ids := map[int32]string{}
	for _, id := range []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta"} {
		if b := f.Kfake().CoordinatorFor(id); ids[b] == "" && f.Align(id) == nil {
			f.member(t, 1, fakecluster.MemberConfig{Group: id})
			ids[b] = id
		}
	}
	if len(ids) < 2 {
		t.Fatal("the ids all have one coordinator")
	}
	var order []int32
	for b := range ids {
		order = append(order, b)
	}
	slices.Sort(order)
	sick, well := order[0], order[1]
	p := f.c.NewPoller(ids[sick], ids[well])
	p.Poll(within(t, 9*time.Second))
	if _, err := f.Silence(sick); err != nil {
		t.Fatal(err)
	}
	first := p.Poll(within(t, 9*time.Second))
	if !strings.Contains(first[0].Error, "did not answer within 1s") || first[1].State != "Stable" {
		t.Fatalf("first poll: %+v", first)
	}
	start := time.Now()
	for range 4 {
		seen := p.Poll(within(t, 9*time.Second))
		if seen[0].Error == "" || seen[1].State != "Stable" {
			t.Errorf("poll: %+v", seen)
		}
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("four polls beside a silent broker took %s", took)
	}
}
