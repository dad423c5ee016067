//go:build realkafka

package collect

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Twenty groups polled every 250 ms is what watch does; a departure shows in the
// next poll, long before its record is written.
func TestRealPoll(t *testing.T) {
	bootstrap := os.Getenv("KGDIAG_TEST_BOOTSTRAP")
	if bootstrap == "" {
		t.Fatal("KGDIAG_TEST_BOOTSTRAP is not set: run scripts/test")
	}
	seeds := kgo.SeedBrokers(strings.Split(bootstrap, ",")...)
	f := &fake{}
	f.sent.Store(&[]int16{})
	cl, err := kgo.NewClient(seeds, kgo.WithHooks(f))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	run := time.Now().UnixNano()
	topic := fmt.Sprintf("collect-poll-%x", run)
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), 2, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
	var groups []string
	var members []*kgo.Client
	for i := range 20 {
		id := fmt.Sprintf("collect-poll-%x-%d", run, i)
		m, err := kgo.NewClient(seeds, kgo.ConsumeTopics(topic), kgo.ConsumerGroup(id), kgo.SessionTimeout(6*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		defer m.CloseAllowingRebalance()
		go func() {
			for !m.PollFetches(t.Context()).IsClientClosed() && t.Context().Err() == nil {
			}
		}()
		groups, members = append(groups, id), append(members, m)
	}
	p := New(cl, Options{}).NewPoller(groups...)
	eventually(t, "twenty Stable groups", func() bool {
		for _, o := range p.Poll(within(t, 9*time.Second)) {
			if o.State != "Stable" || len(o.Members) != 1 || len(o.Members[0].Assignment) != 1 {
				return false
			}
		}
		return true
	})
	before := len(*f.sent.Load())
	var took []time.Duration
	for range 20 {
		start := time.Now()
		p.Poll(within(t, 9*time.Second))
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	requests := len(*f.sent.Load()) - before
	t.Logf("20 polls of 20 groups: median %s, worst %s, %d requests", took[10], took[19], requests)
	if took[10] > 100*time.Millisecond {
		t.Errorf("median poll %s", took[10])
	}
	if requests > 20*3 {
		t.Errorf("%d requests for 20 polls at three coordinators", requests)
	}
	members[7].LeaveGroup()
	start := time.Now()
	eventually(t, "the departure shows", func() bool { return len(p.Poll(within(t, 9*time.Second))[7].Members) == 0 })
	t.Logf("a departure shows %s after LeaveGroup", time.Since(start).Round(time.Millisecond))
}
