package top

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

// Config says what to show, with what, and where.
type Config struct {
	Watch  watch.Config // with its Collector and Selection
	Reader past.Reader
	// Files is what files say beside the cluster (past.Beside); nil for none. What
	// Watch.Said tells of them as they grow takes the place of its events.
	Files   *inspect.Case
	Since   time.Duration // how far back rebalances are counted
	Timeout time.Duration // for describing the groups, and for the start
	Now     func() time.Time
	Zone    *time.Location

	In      io.Reader // the keyboard; a terminal
	Out     io.Writer // the screen; a terminal
	Colours bool
	Tmux    bool // it runs in tmux, which may keep the clipboard to itself

	// Head names the cluster, as every text of kgdiag does.
	Head func(inspect.Cluster) render.Line
	// Page is the page of why about one group of a case.
	Page func(*inspect.Case, *diagnose.Diagnosis) []render.Line
}

// Result is what the screen showed last, for the page that is printed after it.
type Result struct {
	Case   *inspect.Case // of the opened group, or of all; timelines built
	Groups []string      // the opened group, or all
	Opened bool
}

// Run watches the groups and shows them until the user leaves or ctx ends, and then
// restores the terminal. The error is that of the start, where no broker answered, or of
// a terminal that failed; the end of ctx is none. Every goroutine has ended when Run
// returns, but for a tick of the library's clock that runs out.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	var l *live
	if said := cfg.Watch.Said; said != nil {
		cfg.Watch.Said = func() ([]inspect.LogEvent, bool) {
			events, news := said()
			if news {
				l.heard(events)
			}
			return events, news
		}
	}
	w := watch.New(cfg.Watch)
	starting, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	info, err := w.Start(starting)
	if err != nil {
		return nil, err
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	var p *tea.Program
	l = newLive(&cfg, w, func(m tea.Msg) { p.Send(m) })
	m := newModel(&cfg, info)
	m.show = l.show
	profile := colorprofile.ASCII
	if cfg.Colours {
		profile = colorprofile.ANSI
	}
	p = tea.NewProgram(m, tea.WithInput(cfg.In), tea.WithOutput(cfg.Out), tea.WithoutSignalHandler(), tea.WithColorProfile(profile), tea.WithFPS(30))
	var reader sync.WaitGroup
	reader.Go(func() {
		defer l.guard()
		if err := l.run(reading); err != nil {
			l.send(endedMsg{err})
		}
	})
	// Leaving like the key does is what lets go of the keyboard; a context of the
	// program's own would leave a goroutine reading it.
	defer context.AfterFunc(ctx, p.Quit)()
	last, err := p.Run()
	stop()
	reader.Wait()
	if end, ok := last.(Model); ok && end.err != nil {
		return nil, end.err
	}
	if err != nil {
		return nil, fmt.Errorf("top: %w", err)
	}
	opened := ""
	if end, ok := last.(Model); ok {
		opened = end.opened
	}
	return l.end(opened), nil
}

// end is what the last page is made of.
func (l *live) end(opened string) *Result {
	seen := l.w.Case()
	if opened != "" && l.book.deep[opened] != nil {
		return &Result{l.book.join(seen, l.book.deep[opened], []string{opened}), []string{opened}, true}
	}
	ids := seen.GroupIDs()
	if opened != "" {
		ids = []string{opened}
	}
	return &Result{l.book.join(seen, l.book.past, ids), ids, opened != ""}
}

// painter paints what the screen shows.
func (c *Config) painter() *term.Painter { return term.NewPainter(c.Colours) }
