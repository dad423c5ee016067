package top

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/pause"
)

const (
	// lagEvery is how often the groups on the screen are asked how far they are behind.
	lagEvery = 5 * time.Second
	// growEvery is how often the opened group is looked at without news: its lanes grow.
	growEvery = 2 * time.Second
	// lookEvery is the pace of looks at groups that something happened to.
	lookEvery = 500 * time.Millisecond
	// lookShare bounds the time that diagnoses take: after one of d the next waits for
	// lookShare*d, and at most lookPause.
	lookShare = 2
	lookPause = 2 * time.Second
	// againAfter is how long after news of the opened group its past is read again, with
	// whether records had waited and the members' timeouts.
	againAfter = 5 * time.Second
	// retryAfter is the pause after a reading of the past that failed.
	retryAfter = 10 * time.Second
)

// live reads for the screen. Its goroutines end with the context of run.
type live struct {
	cfg  *Config
	w    *watch.Watcher
	send func(tea.Msg)

	mu      sync.Mutex
	stirred map[string]bool
	visible []string
	opened  string
	said    *[]inspect.LogEvent // what logs say since look took it last; nil nothing new
	stale   time.Time           // since when the opened group's past is to be read again; zero not
	wake    chan struct{}       // something stirred
	asked   chan struct{}       // the screen shows other groups

	book *book // of look alone
}

// read is the past of all groups, or of one that was opened.
type read struct {
	group string // "" all
	past  *past.Past
	err   error
}

func newLive(cfg *Config, w *watch.Watcher, send func(tea.Msg)) *live {
	l := &live{cfg: cfg, w: w, send: send, stirred: map[string]bool{}, wake: make(chan struct{}, 1), asked: make(chan struct{}, 1), book: newBook(cfg.Since)}
	if cfg.Files != nil {
		l.book.files = *cfg.Files
	}
	return l
}

// show is told by the screen which groups it shows, and which one is opened.
func (l *live) show(visible []string, opened string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Equal(l.visible, visible) && l.opened == opened {
		return
	}
	if l.opened != opened {
		l.stale = time.Time{}
		l.stirred[opened] = opened != ""
	}
	l.visible, l.opened = visible, opened
	poke(l.asked)
	poke(l.wake)
}

// poke leaves a sign, unless one is there.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run reads until ctx ends. The error is the watch's own.
func (l *live) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	reads, lags := make(chan read, 1), make(chan *inspect.Case, 1)
	background := func(f func()) {
		wg.Go(func() {
			defer l.guard()
			f()
		})
	}
	background(func() { l.readAll(ctx, reads) })
	background(func() { l.readOpened(ctx, reads) })
	background(func() { l.readLags(ctx, lags) })
	background(func() { l.look(ctx, reads, lags) })
	_, err = l.w.Run(ctx, func(e watch.Event) error {
		l.stir(&e)
		l.send(eventMsg(e))
		return nil
	})
	return err
}

// guard turns a fault of a goroutine into the end of the screen, so that the terminal is
// restored before anything is said of it.
func (l *live) guard() {
	if r := recover(); r != nil {
		l.send(endedMsg{fmt.Errorf("top: internal error, please report it: %v\n%s", r, debug.Stack())})
	}
}

// stir notes the groups of an event.
func (l *live) stir(e *watch.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range append([]string{e.Group}, e.Groups...) {
		if id != "" {
			l.stirred[id] = true
		}
	}
	again := e.Type == watch.RebalanceDone || e.Type == watch.MemberReplaced || e.Type == watch.CauseFound
	if e.Group == l.opened && again && l.stale.IsZero() {
		l.stale = l.cfg.Now()
	}
	poke(l.wake)
}

// heard keeps what logs say now.
func (l *live) heard(events []inspect.LogEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = &events
	poke(l.wake)
}

// take gives the groups that something happened to since the last time, and whether logs
// have said something, which may be of any.
func (l *live) take() (ids []string, opened string, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if all = l.said != nil; all {
		l.book.files.LogEvents, l.said = *l.said, nil
	}
	for id, is := range l.stirred {
		if is {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	l.stirred = map[string]bool{}
	return ids, l.opened, all
}

// look diagnoses groups as something becomes known of them.
func (l *live) look(ctx context.Context, reads <-chan read, lags <-chan *inspect.Case) {
	grow := time.NewTicker(growEvery)
	defer grow.Stop()
	all := true // the first time, and when the past has been read
	for {
		began := l.cfg.Now()
		ids, opened, heard := l.take()
		if all = all || heard; all || len(ids) > 0 {
			if err := l.diagnose(ctx, ids, opened, all); err != nil {
				return
			}
		}
		all = false
		if pause.For(ctx, min(max(lookEvery, lookShare*l.cfg.Now().Sub(began)), lookPause)) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case r := <-reads:
			all = l.taken(r)
		case c := <-lags:
			l.book.takeLags(c)
			l.touch(c.GroupIDs()...)
		case <-grow.C:
			l.touch(opened)
		case <-l.wake:
		}
	}
}

// touch marks groups to be looked at.
func (l *live) touch(ids ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if id != "" {
			l.stirred[id] = true
		}
	}
}

// taken keeps what was read of the past; all groups are to be looked at anew where it
// was that of all.
func (l *live) taken(r read) (all bool) {
	switch {
	case r.err != nil:
		l.send(troubleMsg(r.err.Error()))
	case r.group == "":
		l.book.takePast(r.past.Case)
		l.send(troubleMsg(""))
		return true
	default:
		l.book.deep[r.group] = r.past.Case
		l.book.takeLags(r.past.Case)
		l.touch(r.group)
	}
	return false
}

// diagnose looks at groups and sends what it finds.
func (l *live) diagnose(ctx context.Context, ids []string, opened string, all bool) error {
	if all {
		ids = nil
	}
	seen, err := l.w.Look(ctx, ids...)
	if err != nil {
		return err
	}
	if all {
		ids = seen.GroupIDs()
		if l.book.past != nil {
			ids = slices.Compact(slices.Sorted(slices.Values(append(ids, l.book.past.GroupIDs()...))))
		}
	}
	l.send(sightsMsg(l.book.sights(seen, ids, opened)))
	return nil
}

// readAll reads the past of all groups, once; it tries again where it could not.
func (l *live) readAll(ctx context.Context, out chan<- read) {
	q := past.Query{Selection: l.cfg.Watch.Selection, Want: collect.Want{Limits: true}, Describe: l.cfg.Timeout, Gone: len(l.cfg.Watch.Selection.Groups) > 0}
	for {
		r := l.readPast(ctx, "", q)
		select {
		case out <- r:
		case <-ctx.Done():
			return
		}
		if r.err == nil || pause.For(ctx, retryAfter) != nil {
			return
		}
	}
}

// readOpened reads the past of the opened group with everything there is to know, and
// again some time after something happened to it.
func (l *live) readOpened(ctx context.Context, out chan<- read) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	had := ""
	for {
		if group, due := l.due(had); due {
			q := past.Query{Selection: collect.Selection{Groups: []string{group}}, Want: collect.Everything(), Describe: l.cfg.Timeout, Gone: true}
			r := l.readPast(ctx, group, q)
			select {
			case out <- r:
			case <-ctx.Done():
				return
			}
			if had = group; r.err != nil {
				had = ""
				if pause.For(ctx, retryAfter) != nil {
					return
				}
			}
		}
		select {
		case <-tick.C:
		case <-l.asked:
		case <-ctx.Done():
			return
		}
	}
}

// due reports whether the opened group's past is to be read: it has not been, or not
// since something happened.
func (l *live) due(had string) (group string, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	again := !l.stale.IsZero() && l.cfg.Now().Sub(l.stale) >= againAfter
	if l.opened == "" || l.opened == had && !again {
		return "", false
	}
	l.stale = time.Time{}
	return l.opened, true
}

// readPast reads the window that ends now.
func (l *live) readPast(ctx context.Context, group string, q past.Query) read {
	now := l.cfg.Now()
	q.Window = inspect.Window{From: inspect.At(now.Add(-l.cfg.Since)), To: inspect.At(now)}
	p, err := l.cfg.Reader.Read(ctx, q)
	if err != nil {
		return read{group, nil, fmt.Errorf("the past was not read: %w", err)}
	}
	p.NoteLog()
	return read{group, p, nil}
}

// readLags asks the groups on the screen, and no others, how far they are behind.
func (l *live) readLags(ctx context.Context, out chan<- *inspect.Case) {
	for {
		l.mu.Lock()
		ids := slices.Clone(l.visible)
		l.mu.Unlock()
		if len(ids) > 0 {
			limited, cancel := context.WithTimeout(ctx, lagEvery)
			c, _ := l.cfg.Watch.Collector.Collect(limited, collect.Selection{Groups: ids}, collect.Want{Lag: true}) // the watch tells who does not answer
			cancel()
			if c != nil {
				select {
				case out <- c:
				case <-ctx.Done():
					return
				}
			}
		}
		if len(ids) > 0 && pause.For(ctx, lagEvery) != nil {
			return
		}
		if len(ids) == 0 && pause.For(ctx, lookEvery) != nil {
			return
		}
	}
}
