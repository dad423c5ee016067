package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
)

const (
	commitWidth  = 10  // partitions in one request
	commitGroups = 500 // without members, beside those that rebalance
	commitTopic  = "soak-commits"
)

// commits is a load of offset commits beside the rebalances, as healthy groups make them.
type commits struct {
	by   []*kgo.Client // a broker answers one request of a connection at a time
	rate int           // a second, of all groups together
	done atomic.Int64  // that the broker answered without an error
}

func newCommits(ctx context.Context, o options) (*commits, error) {
	c := &commits{rate: o.commits}
	for range 32 {
		cl, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(o.bootstrap, ",")...), kgo.DisableClientMetrics(),
			kgo.MaxVersions(kversion.V4_0_0()) /* topics by name */)
		if err != nil {
			return c, err
		}
		c.by = append(c.by, cl)
	}
	if _, err := kadm.NewClient(c.by[0]).CreateTopic(ctx, commitWidth, 1, nil, commitTopic); err != nil {
		return c, fmt.Errorf("topic %s: %w", commitTopic, err)
	}
	return c, nil
}

// run commits until ctx ends, each group in its turn.
func (c *commits) run(ctx context.Context) {
	work := make(chan int64, commitGroups)
	var wg sync.WaitGroup
	for _, cl := range c.by {
		wg.Go(func() {
			for i := range work {
				if commit(ctx, cl, fmt.Sprintf("commits-%03d", i%commitGroups), i) == nil {
					c.done.Add(commitWidth)
				}
			}
		})
	}
	tick := time.NewTicker(time.Second * 10 * commitWidth / time.Duration(c.rate)) // ten requests at once: a timer is no finer than that
	defer tick.Stop()
	for i := int64(0); ; {
		select {
		case <-tick.C:
			for range 10 {
				select {
				case work <- i:
					i++
				default: // the broker is behind: the rate that was reached is printed
				}
			}
		case <-ctx.Done():
			close(work)
			wg.Wait()
			return
		}
	}
}

// commit is that of a consumer outside the group, as tools make it.
func commit(ctx context.Context, cl *kgo.Client, group string, offset int64) error {
	offsets := kadm.Offsets{}
	for p := range int32(commitWidth) {
		offsets.AddOffset(commitTopic, p, offset, -1)
	}
	got, err := kadm.NewClient(cl).CommitOffsets(ctx, group, offsets)
	if err != nil {
		return err
	}
	return got.Error()
}

func (c *commits) close() {
	for _, cl := range c.by {
		cl.Close()
	}
}
