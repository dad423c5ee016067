package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/look"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// errStopped ends the looking of --for early, without taking back what was seen.
var errStopped = errors.New("terminated before --for ended: what was seen until then counts")

// look looks at the groups for as long as --for says, and then reads their past. Ctrl-C
// ends the looking early, and what was seen counts; SIGTERM does too, with errStopped
// beside it.
func (p *pastFlags) look(ctx context.Context, a *app, s *session, q past.Query) (*past.Past, error) {
	bar := a.progress("looking at the groups")
	l := look.Look{For: p.lookFor, Starting: s.conn.Timeout(), Started: func(info *watch.Info) { p.looking(a, info) },
		Passed: func(d time.Duration) { bar.show(int64(d), int64(p.lookFor), 0) },
		Watch:  watch.Config{Collector: s.collector, Scanner: s.scanner, Selection: q.Selection, Configs: q.Configs, Now: a.now}}
	r := s.reader()
	found, err := l.ThenRead(ctx, &r, func(ctx context.Context, until inspect.Time) (*past.Past, error) {
		bar.done()
		q.Window.To, s.began = until, until.Time // --for counts for itself
		return a.readPast(ctx, s, q)
	})
	if err != nil {
		bar.done()
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, incomplete(fmt.Errorf("--for: the groups were not described within --timeout %s", a.flags.timeout), "kgdiag check says which brokers answer")
		}
		return nil, groupsError(err)
	}
	if ctx.Err() != nil && a.terminated() {
		found.Stopped = errStopped
	}
	return found, nil
}

// looking says for how long the groups are looked at, and which are not there.
func (p *pastFlags) looking(a *app, info *watch.Info) {
	if !a.flags.quiet {
		fmt.Fprintf(a.streams.Err, "kgdiag: looking for %s; Ctrl-C ends it early and keeps what was seen\n", prose.Exact(p.lookFor))
	}
	for _, id := range info.Waiting {
		hint := ""
		if near := info.Nearest[id]; len(near) > 0 {
			hint = " (nearest: " + near[0] + ")"
		}
		a.warn("group %q does not exist yet%s: looking for it for %s", id, hint, prose.Exact(p.lookFor))
	}
}
