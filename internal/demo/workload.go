package demo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/kgdiag/kgdiag/internal/fakecluster"
	"github.com/kgdiag/kgdiag/internal/pause"
)

// The groups of the demo.
const (
	healthy = "billing"
	stalls  = "orders"
	flaps   = "payments"
)

// The timings of the misbehaviour. Those of payments are what people set in earnest.
// Those of orders stand for minutes: nobody waits five minutes in a demo.
const (
	pollInterval = 5 * time.Second // max.poll.interval.ms of orders
	slowBatch    = 8 * time.Second // what a batch of consumer-orders-3 takes
	slowEvery    = 4 * time.Second // of good work in between

	tightSession = 6 * time.Second // session.timeout.ms of payments, the broker's minimum
	freeze       = 8 * time.Second // how long consumer-payments-2 stands still
	pauseEvery   = 4 * time.Second
)

// warmUp is how long all consumers work well first: without commits before a
// departure nobody could tell how long a member had been silent.
const warmUp = 3 * time.Second

// settle is how long the groups may take to become stable.
const settle = 20 * time.Second

// topics are the topics of the demo with their partitions.
var topics = map[string]int32{healthy: 6, stalls: 12, flaps: 6}

// workload is the simulated cluster with its consumers.
type workload struct {
	c    *fakecluster.Cluster
	stop context.CancelFunc
	warm chan struct{} // closed when the misbehaviour begins
	wg   sync.WaitGroup
}

// start brings the cluster up, with the groups stable; the misbehaviour begins
// after the warm-up.
// The misbehaviour ends with ctx or close, the cluster with close.
func start(ctx context.Context, warmUp time.Duration) (*workload, error) {
	opts := []fakecluster.Option{fakecluster.ClusterID("demo")}
	for t, n := range topics {
		opts = append(opts, fakecluster.Topic(t, n))
	}
	c, err := fakecluster.New(opts...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &workload{c: c, stop: cancel, warm: make(chan struct{})}
	if err := w.run(ctx, warmUp); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *workload) run(ctx context.Context, warmUp time.Duration) error {
	for t, n := range topics {
		if err := w.c.Feed(t, n, 250*time.Millisecond); err != nil {
			return err
		}
	}
	var slow, frozen *fakecluster.Member
	for _, cfg := range members() {
		m, err := w.c.Join(cfg)
		if err != nil {
			return err
		}
		switch cfg.ClientID {
		case "consumer-orders-3":
			slow = m
		case "consumer-payments-2":
			frozen = m
		}
	}
	ctxSettle, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	for group, n := range map[string]int{healthy: 2, stalls: 3, flaps: 2} {
		if err := w.c.WaitStable(ctxSettle, group, n); err != nil {
			return err
		}
	}
	w.wg.Go(func() {
		_ = pause.For(ctx, warmUp) // what follows asks ctx itself
		close(w.warm)
	})
	w.wg.Go(func() {
		<-w.warm
		repeat(ctx, slowBatch+slowEvery, func() { slow.Stall(slowBatch) })
	})
	w.wg.Go(func() {
		<-w.warm
		repeat(ctx, freeze+pauseEvery, func() {
			frozen.Freeze()
			_ = pause.For(ctx, freeze) // thawed in any case
			frozen.Thaw()
		})
	})
	return nil
}

// members are the consumers: client ids, hosts and timeouts as Java clients have
// them. Heartbeats are more frequent than Java's three seconds, so that rebalances
// end sooner; no broker and no log knows that setting.
func members() []fakecluster.MemberConfig {
	var out []fakecluster.MemberConfig
	add := func(n int, host int, cfg fakecluster.MemberConfig) {
		for i := range n {
			one := cfg
			one.Topics = []string{cfg.Group}
			one.ClientID = fmt.Sprintf("consumer-%s-%d", cfg.Group, i+1)
			one.Host = fmt.Sprintf("10.42.7.%d", host+i)
			one.Heartbeat = 500 * time.Millisecond
			out = append(out, one)
		}
	}
	add(2, 10, fakecluster.MemberConfig{Group: healthy})
	add(3, 20, fakecluster.MemberConfig{Group: stalls, Rebalance: pollInterval, MaxPoll: pollInterval})
	add(2, 30, fakecluster.MemberConfig{Group: flaps, Session: tightSession})
	return out
}

// close ends the misbehaviour, then the cluster.
func (w *workload) close() {
	w.stop()
	w.c.Close()
	w.wg.Wait()
}

// repeat calls fn now and then every d, until ctx ends.
func repeat(ctx context.Context, d time.Duration, fn func()) {
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		fn()
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}
