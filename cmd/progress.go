package cmd

import (
	"fmt"
	"time"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// progressBar shows on a terminal how far a scan is, from its second second on.
type progressBar struct {
	a     *app
	what  string
	since time.Time
	shown time.Time
}

func (a *app) progress(what string) *progressBar {
	return &progressBar{a: a, what: what, since: a.now()}
}

// show updates the bar; bytes is what was read, 0 for a bar of something else.
func (p *progressBar) show(done, total, bytes int64) {
	now := p.a.now()
	took := now.Sub(p.since)
	if !p.a.streams.ErrTTY || p.a.flags.quiet || total <= 0 || took < time.Second || now.Sub(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = now
	fmt.Fprintf(p.a.streams.Err, "\r%s  %s\x1b[K", p.what, prose.Progress(done, total, bytes, took))
}

// done takes the bar away.
func (p *progressBar) done() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.a.streams.Err, "\r\x1b[K")
	}
}
