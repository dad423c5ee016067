package cmd

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/eventtext"
	"github.com/kgdiag/kgdiag/internal/metrics"
	"github.com/kgdiag/kgdiag/internal/notify"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
)

// notifyWait is how long the end of a watch waits for what is still to be delivered.
const notifyWait = 10 * time.Second

// watchOutlets are what a watch feeds beside its own output: --metrics and --notify.
type watchOutlets struct {
	o       *watchCmd
	metrics *metrics.Metrics // nil without
	causes  *notify.Causes   // nil without
	stop    context.CancelFunc
	serving sync.WaitGroup
}

// notice is the document kgdiag.notify/v1 that --notify posts.
type notice struct {
	envelope
	Text     string        `json:"text"`               // in a line, for a chat
	Corrects inspect.Cause `json:"corrects,omitempty"` // the cause that was sent before
	Verdict  watch.Event   `json:"verdict"`            // as watch -o json writes it
}

// validateOutlets checks --metrics and --notify.
func (o *watchCmd) validateOutlets() error {
	if o.metrics != "" {
		address, err := metrics.Address(o.metrics)
		if err != nil {
			return usagef("--metrics %v", err)
		}
		o.metrics = address
	}
	if o.notify != "" {
		if err := notify.Check(o.notify); err != nil {
			return usagef("--notify: %v", err)
		}
	}
	return nil
}

// listen opens the address of --metrics, before anything is read, so that one that is
// taken is told at once; nil without.
func (o *watchCmd) listen() (net.Listener, error) {
	if o.metrics == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", o.metrics)
	if err != nil {
		return nil, incomplete(fmt.Errorf("--metrics: %w", err), "")
	}
	return l, nil
}

// outlets begins to serve and to post.
func (o *watchCmd) outlets(ctx context.Context, l net.Listener, info *watch.Info) (*watchOutlets, error) {
	w := &watchOutlets{o: o}
	ctx, w.stop = context.WithCancel(ctx)
	if l != nil {
		w.metrics = metrics.New(info, Version(), o.now)
		w.serving.Go(func() {
			if err := w.metrics.Serve(ctx, l); err != nil {
				o.warn("%v", err)
			}
		})
		if !o.flags.quiet {
			fmt.Fprintf(o.streams.Err, "kgdiag: metrics at http://%s/metrics\n", l.Addr())
		}
	}
	if o.notify != "" {
		s, err := notify.New(o.notify, func(text string) { o.warn("--notify %s; the watch goes on", text) })
		if err != nil {
			return nil, err
		}
		cluster := caseOf(info)
		w.causes = notify.NewCauses(s, o.now, func(x watch.Settled) []byte { return o.notice(cluster, x) })
	}
	return w, nil
}

// notice is the document of a cause; nil for one that nobody waits for.
func (o *watchCmd) notice(c *inspect.Case, x watch.Settled) []byte {
	if x.SaysAgain() || len(o.causes) > 0 && !slices.Contains(o.causes, string(x.Cause)) {
		return nil
	}
	head := o.envelopeOf("kgdiag.notify/v1", c)
	head.Gaps = []inspect.Gap{} // of the start, and not of this cause
	_, _, text := eventtext.Teller{Clock: o.live}.Event(&x.Event)
	b, err := render.JSON(notice{head, render.Clean(x.Group + ": " + text), x.Corrects, x.Event}, "")
	if err != nil {
		o.warn("--notify: %v", err)
	}
	return b
}

// event takes an event of the watch.
func (w *watchOutlets) event(e *watch.Event) {
	if w.metrics != nil {
		w.metrics.Event(e)
	}
	if w.causes != nil {
		w.causes.Event(e)
	}
}

// close ends both, and says what was not delivered.
func (w *watchOutlets) close() {
	w.stop()
	w.serving.Wait()
	if w.causes == nil {
		return
	}
	if c := w.causes.Close(notifyWait); c.Failed > 0 {
		w.o.warn("--notify: %d of %s not delivered", c.Failed, prose.Plural(c.Sent+c.Failed, "cause"))
	}
}
