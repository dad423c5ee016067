package look

import (
	"context"
	"sync"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/inspect/watch"
)

// Look is one look at groups.
type Look struct {
	Watch watch.Config
	For   time.Duration
	// Starting bounds the first description of the groups.
	Starting time.Duration
	// Started hears what is looked at; Passed how much of For is over, now and then. Each
	// may be nil.
	Started func(*watch.Info)
	Passed  func(time.Duration)
}

// See describes the groups again and again for as long as For says, at the pace of watch,
// and gives a case with what it saw and the groups as they were at the start. The end of
// ctx ends it early, and what was seen counts. The error is one that left nothing to look
// at.
//
// Nothing is read from the log meanwhile, where it may be read: the one scan that follows
// takes in all of that time, so that no record can be missed or doubled between the two.
func (l Look) See(ctx context.Context) (*inspect.Case, error) {
	l.Watch.LogLater = true
	w := watch.New(l.Watch)
	starting, cancel := context.WithTimeout(ctx, l.Starting)
	defer cancel()
	info, err := w.Start(starting)
	if err != nil {
		return nil, err
	}
	if l.Started != nil {
		l.Started(info)
	}
	looking, stop := context.WithTimeout(ctx, l.For)
	defer stop()
	var wg sync.WaitGroup
	if l.Passed != nil {
		wg.Go(func() { l.tell(looking) })
	}
	_, err = w.Run(looking, func(watch.Event) error { return nil })
	stop()
	wg.Wait()
	if err != nil {
		return nil, err
	}
	return w.Case(), nil
}

// tell says how much time has passed.
func (l Look) tell(ctx context.Context) {
	tick := time.NewTicker(watch.QuickEvery)
	defer tick.Stop()
	for began := l.Watch.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.Passed(l.Watch.Now().Sub(began))
		}
	}
}

// ThenRead looks, and then reads the past up to the end of the looking. A signal that has
// ended ctx has ended the looking alone: what was seen is worth the reading. The case is
// nil, with an error, where there was nothing to look at; where the cluster is gone by the
// end of it, what was seen of it is all the more.
func (l Look) ThenRead(ctx context.Context, r *past.Reader, read func(context.Context, inspect.Time) (*past.Past, error)) (*past.Past, error) {
	seen, err := l.See(ctx)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // a second signal ends the process
	p, err := read(ctx, inspect.At(l.Watch.Now()))
	if err != nil {
		past.Rebuild(seen)
		return &past.Past{Case: seen, IDs: seen.GroupIDs(), Missing: err}, nil
	}
	r.Join(ctx, p, seen)
	return p, nil
}
