package cmd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// errStopped ends the looking of record --for early, without taking back what was
// seen: the case is written all the same.
var errStopped = errors.New("terminated before --for ended: the case holds what was seen until then")

// read reads the past from a case file or from the cluster, after looking at it live
// for as long as --for says. The second result says that the looking was cut short.
func (r *recordCmd) read(cmd *cobra.Command, sel collect.Selection) (*past.Past, error, error) {
	if r.lookFor == 0 {
		p, err := r.past.read(cmd, r.app, sel, collect.Everything())
		return p, nil, err
	}
	w, err := r.past.window(r.app, r.now())
	if err != nil {
		return nil, nil, err
	}
	ctx := cmd.Context()
	s, err := r.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	seen, stopped := r.look(ctx, s, sel)
	if seen == nil {
		return nil, nil, groupsError(stopped)
	}
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx) // the signal has ended the looking; a second one ends the process
	}
	w.To = inspect.At(r.now())
	s.began = w.To.Time // --for counts for itself
	p, err := r.readPast(ctx, s, r.past.query(r.app, sel, collect.Everything(), w))
	if err != nil { // the cluster is gone by now: what was seen of it is evidence all the more
		return &past.Past{Case: seen, Missing: err}, stopped, nil
	}
	past.AddObservations(p.Case, seen.Observations)
	return p, stopped, nil
}

// look describes the groups again and again for as long as --for says, at the pace of
// watch, and gives a case with what it saw and the groups as they were at the start.
// Nothing is read from the log meanwhile: the one scan that follows takes in all of
// that time, so that no record can be missed or doubled between the two. Ctrl-C ends
// it early, and what was seen counts; SIGTERM does too, with errStopped beside it.
func (r *recordCmd) look(ctx context.Context, s *session, sel collect.Selection) (*inspect.Case, error) {
	w := watch.New(watch.Config{Collector: s.collector, Selection: sel, Now: r.now})
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
		r.warn("group %q does not exist yet%s: looking for it for %s", id, hint, prose.Exact(r.lookFor))
	}
	looking, stop := context.WithTimeout(ctx, r.lookFor)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() { r.showLooking(looking) })
	_, err = w.Run(looking, func(watch.Event) error { return nil })
	stop()
	wg.Wait()
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil && r.terminated() {
		err = errStopped
	}
	return w.Case(), err
}

// showLooking shows on a terminal how much of --for is over.
func (r *recordCmd) showLooking(ctx context.Context) {
	bar := r.progress("looking at the groups")
	defer bar.done()
	tick := time.NewTicker(watch.QuickEvery)
	defer tick.Stop()
	for began := r.now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			bar.show(int64(r.now().Sub(began)), int64(r.lookFor), 0)
		}
	}
}

// lookTime reads --for of record.
func (r *recordCmd) lookTime() (time.Duration, error) {
	if r.length == "" || r.length == "0" || r.length == "0s" {
		return 0, nil
	}
	switch {
	case r.past.from != "":
		return 0, usage("record: --for looks at a cluster, and --from names a file", "leave one of them out")
	case r.past.until != "":
		return 0, usage(fmt.Sprintf("record: --for looks from now on, and --until %s ends before", r.past.until), "leave one of them out")
	}
	return parseSpan("--for", r.length)
}
