package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kgdiag/kgdiag/internal/pause"
)

// churn are groups of one member that stays and one that comes and goes: a rebalance each
// time.
type churn struct {
	o     options
	stays map[string]*kgo.Client
}

const topic = "soak"

// newChurn makes the topic and has one member in each group.
func newChurn(ctx context.Context, o options) (*churn, error) {
	admin, err := kgo.NewClient(kgo.SeedBrokers(o.bootstrap))
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	if _, err := kadm.NewClient(admin).CreateTopic(ctx, 4, 1, nil, topic); err != nil {
		return nil, fmt.Errorf("topic %s: %w", topic, err)
	}
	c := &churn{o: o, stays: map[string]*kgo.Client{}}
	for i := range o.groups {
		group := fmt.Sprintf("soak-%02d", i)
		cl, err := c.member(group, "stays")
		if err != nil {
			return c, err
		}
		go poll(ctx, cl)
		c.stays[group] = cl
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		ready := 0
		for _, n := range c.generations() {
			if n > 0 {
				ready++
			}
		}
		if ready == o.groups {
			return c, nil
		}
	}
	return c, fmt.Errorf("not all of %d groups have a member after a minute", o.groups)
}

func (c *churn) member(group, id string) (*kgo.Client, error) {
	return kgo.NewClient(kgo.SeedBrokers(c.o.bootstrap), kgo.ClientID(group+"-"+id), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.Balancers(kgo.RangeBalancer()), kgo.SessionTimeout(10*time.Second), kgo.HeartbeatInterval(300*time.Millisecond), kgo.DisableClientMetrics())
}

func poll(ctx context.Context, cl *kgo.Client) {
	for ctx.Err() == nil && !cl.PollFetches(ctx).IsClientClosed() {
	}
}

// generations are those that the members who stay know.
func (c *churn) generations() map[string]int32 {
	out := map[string]int32{}
	for group, cl := range c.stays {
		_, out[group] = cl.GroupMetadata()
	}
	return out
}

// run has a second member come and go in each group, as often as the rate says.
func (c *churn) run(ctx context.Context) {
	half := time.Duration(float64(c.o.groups) / float64(c.o.rate) * float64(time.Minute)) // between two rebalances of one group
	var wg sync.WaitGroup
	i := 0
	for group := range c.stays {
		offset := half * 2 * time.Duration(i) / time.Duration(c.o.groups)
		i++
		wg.Go(func() {
			for wait := offset; pause.For(ctx, wait) == nil; wait = half {
				c.visit(ctx, group, half)
			}
		})
	}
	wg.Wait()
}

// visit is one member that comes, stays for a while, and leaves.
func (c *churn) visit(ctx context.Context, group string, d time.Duration) {
	cl, err := c.member(group, "comes")
	if err != nil {
		return
	}
	polling, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() { poll(polling, cl); close(done) }()
	_ = pause.For(ctx, d) // it leaves in any case
	stop()
	<-done
	cl.Close() // leaves the group
}

func (c *churn) close() {
	for _, cl := range c.stays {
		cl.Close()
	}
}
