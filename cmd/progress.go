package cmd

import (
	"fmt"
	"time"
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

// show updates the bar.
func (p *progressBar) show(done, total int64) {
	now := p.a.now()
	if !p.a.streams.ErrTTY || p.a.flags.quiet || total <= 0 || now.Sub(p.since) < time.Second || now.Sub(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = now
	fmt.Fprintf(p.a.streams.Err, "\r%s  %d%%\x1b[K", p.what, 100*done/total)
}

// done takes the bar away.
func (p *progressBar) done() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.a.streams.Err, "\r\x1b[K")
	}
}
