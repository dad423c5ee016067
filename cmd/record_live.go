package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/watch"
)

// errStopped ends the looking of record --for early, without taking back what was
// seen: the case is written all the same.
var errStopped = errors.New("terminated before --for ended: the case holds what was seen until then")

// look describes the groups again and again for as long as --for says, at the pace of
// watch, and gives a case with what it saw and the groups as they were at the start.
// Nothing is read from the log meanwhile: the one scan that follows takes in all of
// that time, so that no record can be missed or doubled between the two. Ctrl-C ends
// it early, and what was seen counts; SIGTERM does too, with errStopped beside it.
func (a *app) look(ctx context.Context, s *session, length time.Duration, sel collect.Selection) (*inspect.Case, error) {
	w := watch.New(watch.Config{Collector: s.collector, Selection: sel, Now: a.now})
	starting, cancel := context.WithTimeout(ctx, s.conn.Timeout())
	defer cancel()
	info, err := w.Start(starting)
	if err != nil {
		return nil, err
	}
	for _, id := range info.Waiting {
		hint := ""
		if near := info.Nearest[id]; len(near) > 0 {
			hint = " (nearest: " + near[0] + ")"
		}
		a.warn("group %q does not exist yet%s: looking for it for %s", id, hint, length)
	}
	looking, stop := context.WithTimeout(ctx, length)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { a.showLooking(looking, length) })
	_, err = w.Run(looking, func(watch.Event) error { return nil })
	stop()
	wg.Wait()
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil && a.cancelled != nil && a.cancelled() == syscall.SIGTERM {
		err = errStopped
	}
	return w.Case(), err
}

// showLooking shows on a terminal how much of --for is over.
func (a *app) showLooking(ctx context.Context, length time.Duration) {
	bar := a.progress("looking at the groups")
	defer bar.done()
	tick := time.NewTicker(watch.QuickEvery)
	defer tick.Stop()
	for began := a.now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			bar.show(int64(a.now().Sub(began)), int64(length))
		}
	}
}

// withObservations puts what was seen live into a case and judges anew.
func (a *app) withObservations(c *inspect.Case, seen []inspect.Observation) {
	if len(seen) == 0 {
		return
	}
	known := groupsIn(c)
	for _, o := range seen {
		// A group that never was is not part of the case.
		if o.State != "Dead" || slices.Contains(known, o.Group) {
			c.Observations = append(c.Observations, o)
		}
	}
	a.build(c)
}

// lookTime reads --for of record.
func (o *recordOptions) lookTime() (time.Duration, error) {
	if o.length == "" || o.length == "0" || o.length == "0s" {
		return 0, nil
	}
	switch {
	case o.past.from != "":
		return 0, usage("record: --for looks at a cluster, and --from names a file", "leave one of them out")
	case o.past.until != "":
		return 0, usage(fmt.Sprintf("record: --for looks from now on, and --until %s ends before", o.past.until), "leave one of them out")
	}
	return parseSpan("--for", o.length)
}
