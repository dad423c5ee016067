package watch

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/membership"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/internal/pause"
	"github.com/kgdiag/kgdiag/locate"
)

// feed starts the goroutines that read the cluster; the function it gives waits for
// their end, which comes with ctx's.
func (w *Watcher) feed(ctx context.Context, in chan<- input) (wait func()) {
	var wg sync.WaitGroup
	c := w.cfg.Collector
	if w.few() {
		w.quick = c.NewPoller(w.cfg.Selection.Groups...)
	} else {
		w.quick, w.slow = c.NewPoller(), c.NewPoller(w.slowGroups()...)
		wg.Go(func() { poll(ctx, w.slow, SlowEvery, in) })
	}
	wg.Go(func() { poll(ctx, w.quick, QuickEvery, in) })
	if !w.named {
		wg.Go(func() { w.list(ctx, in) })
	}
	wg.Go(func() { reply(ctx, w.wantEnds, in, collect.DefaultPerBroker, w.askEnds) })
	wg.Go(func() { reply(ctx, w.wantGroup, in, collect.DefaultPerBroker, w.askGroups) })
	wg.Go(func() { reply(ctx, w.wantMoments, in, patience, w.askMoments) })
	if w.info.Offsets {
		wg.Go(func() { w.pollOffsets(ctx, in) })
	}
	if w.info.Log {
		next := maps.Clone(w.next)
		wg.Go(func() { w.tail(ctx, next, in) })
		if w.cfg.Since > 0 && len(w.ends) > 0 {
			ends, groups := maps.Clone(w.ends), maps.Clone(w.groups)
			w.unread = "the watch ended before it had read the log of the time before"
			wg.Go(func() { w.readPrefix(ctx, ends, groups, in) })
		}
	}
	return wg.Wait
}

// send hands an input to the loop, unless ctx ends first.
func send(ctx context.Context, in chan<- input, i input) error {
	select {
	case in <- i:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// poll polls at a pace. A round that takes longer than the pace delays the next.
func poll(ctx context.Context, p *collect.Poller, every time.Duration, in chan<- input) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		if seen := p.Poll(ctx); len(seen) > 0 && ctx.Err() == nil {
			if send(ctx, in, input{polled: seen, every: every}) != nil {
				return
			}
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// reply answers the questions that the loop has, one after another, each within a limit;
// ask gives no input where the loop will ask again.
func reply[T any](ctx context.Context, questions <-chan T, in chan<- input, limit time.Duration, ask func(context.Context, T) (input, bool)) {
	for {
		select {
		case <-ctx.Done():
			return
		case q := <-questions:
			limited, cancel := context.WithTimeout(ctx, limit)
			found, ok := ask(limited, q)
			cancel()
			if ok && send(ctx, in, found) != nil {
				return
			}
		}
	}
}

// askEnds asks for the ends of logs.
func (w *Watcher) askEnds(ctx context.Context, want []inspect.TopicPartitions) (input, bool) {
	ends, err := w.cfg.Collector.Ends(ctx, want)
	return input{ends: ends}, err == nil && len(ends) > 0
}

// moments are questions to leaders of a group's partitions, or what they answered.
type moments struct {
	group   string
	queries []inspect.OffsetQuery
	answers []inspect.OffsetAt
	gaps    []inspect.Gap
}

// askMoments asks whether records waited when members went. What is not answered, as where
// DESCRIBE on a topic is denied, the commits must tell.
func (w *Watcher) askMoments(ctx context.Context, m moments) (input, bool) {
	m.answers, m.gaps, _ = w.cfg.Collector.OffsetsAt(ctx, m.queries, nil, nil) // without Metadata the polls tell what is wrong
	return input{moments: &m}, true
}

// askGroups takes snapshots of groups.
func (w *Watcher) askGroups(ctx context.Context, ids []string) (input, bool) {
	c, _ := w.cfg.Collector.Collect(ctx, collect.Selection{Groups: ids}, collect.Want{Limits: true}) // it is asked again if none came
	if c == nil {
		return input{}, false
	}
	return input{newcomer: c.Groups}, len(c.Groups) > 0
}

// list looks for groups that are new and, where there are too many to describe them
// all, more often for those that are not at rest.
func (w *Watcher) list(ctx context.Context, in chan<- input) {
	t := time.NewTicker(SlowEvery)
	defer t.Stop()
	var last time.Time
	many := w.info.Groups > describeAtMost && w.info.Log
	for {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		now := w.cfg.Now()
		all := now.Sub(last) >= listEvery
		if !many && !all {
			continue
		}
		m, err := w.cfg.Collector.Metadata(ctx)
		if err != nil {
			continue
		}
		var states []string
		if !all {
			states = membership.Restless
		}
		listing := w.cfg.Collector.ListAll(ctx, m, states...)
		if ctx.Err() != nil {
			return // what failed may have failed of that
		}
		i, ids := input{unlisted: listing.Failed}, listing.IDs(w.cfg.Selection)
		if all {
			i.listed, last = ids, now
			many = len(ids) > describeAtMost && w.info.Log
		}
		for _, id := range ids {
			if membership.Rebalancing(listing.Groups[id].State) {
				i.restless = append(i.restless, id)
			}
		}
		if send(ctx, in, i) != nil {
			return
		}
	}
}

// tail follows the offsets topic, through changes of leader, restarts of brokers and
// the creation of the topic itself. next says where to begin; nil waits for the
// topic, which is then read from its beginning.
func (w *Watcher) tail(ctx context.Context, next map[int32]int64, in chan<- input) {
	for ctx.Err() == nil {
		if next == nil {
			var elsewhere bool
			if next, elsewhere = w.awaitTopic(ctx); elsewhere {
				_ = send(ctx, in, input{logGone: collect.ErrElsewhere}) // the end of ctx ends us too
				return
			}
		}
		if next != nil {
			req := offsetlog.FollowRequest{From: maps.Clone(next), Filter: w.filter(),
				Trouble: func(t offsetlog.Trouble) { w.trouble(ctx, t, next, in) }}
			var batch []inspect.Record
			req.Handed = func() error {
				if len(batch) == 0 {
					return nil
				}
				i := input{records: batch}
				batch = nil
				return send(ctx, in, i)
			}
			err := w.cfg.Scanner.Follow(ctx, req, func(r inspect.Record) error {
				next[r.Partition] = r.Offset + 1
				batch = append(batch, r)
				return nil
			})
			_ = req.Handed() // what came before an error; the end of ctx ends us too
			if errors.Is(err, kerr.TopicAuthorizationFailed) {
				_ = send(ctx, in, input{logGone: errors.New("READ on " + locate.OffsetsTopic + " denied")}) // the end of ctx ends us too
				return
			}
		}
		_ = pause.For(ctx, tailRetry) // the loop asks ctx itself
	}
}

// trouble keeps the tail's position right where records were lost, and passes on
// what the differ must know.
func (w *Watcher) trouble(ctx context.Context, t offsetlog.Trouble, next map[int32]int64, in chan<- input) {
	if t.Lost == 0 {
		return // Follow tries again, and the polls tell what is wrong with the broker
	}
	next[t.Partition] = t.Next
	_ = send(ctx, in, input{lost: &t}) // if ctx has ended, so does the tail
}

// awaitTopic gives the beginning of every partition to be read, once the topic is
// there; nil if it is not. elsewhere is a service that keeps its groups without one.
func (w *Watcher) awaitTopic(ctx context.Context) (next map[int32]int64, elsewhere bool) {
	m, err := w.cfg.Collector.Metadata(ctx)
	if err != nil {
		return nil, false
	}
	if m.Offsets == nil {
		return nil, w.cfg.Collector.Elsewhere(ctx, m)
	}
	next = map[int32]int64{}
	for _, p := range w.partitions(m) {
		next[p] = 0
	}
	return next, false
}

// filter asks for the records of the watched groups.
func (w *Watcher) filter() offsetlog.Filter {
	if !w.named {
		return offsetlog.Filter{Commits: true}
	}
	groups := map[string]bool{}
	for _, id := range w.cfg.Selection.Groups {
		groups[id] = true
	}
	return offsetlog.Filter{Groups: groups, Commits: true}
}
