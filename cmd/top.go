package cmd

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/top"
)

var _ = command(55, newTopCmd)

// topCmd is kgdiag top.
type topCmd struct {
	*app
	past pastFlags
}

func newTopCmd(a *app) *cobra.Command {
	o := &topCmd{app: a}
	c := &cobra.Command{
		Use:   "top [GROUP…]",
		Short: "watch the groups on a live screen, worst first",
		Long: `A screen of the groups, worst first: state, generation, members, lag, rebalances and
their worst cause. Enter opens a group: its members over time, what happens to it, why,
and what to change; y copies the setting, ? lists the keys. On leaving, the screen is
restored and the page of why is printed.`,
		Example: `  kgdiag top
  kgdiag top orders payments
  kgdiag top --regex 'orders-.*' --since 6h
  kgdiag top orders --log app.log -f orders.properties   with what advise says of the files`,
		RunE: o.run,
	}
	o.past.groups.addFlags(c)
	o.past.addFiles(c.Flags())
	o.past.config.addTimeouts(c.Flags())
	c.Flags().StringVar(&o.past.since, "since", usualSince, "count rebalances since a `TIME`: a duration (also 2d, 1w), an RFC 3339 time, or HH:MM")
	a.addRateLimit(c)
	return c
}

func (o *topCmd) run(c *cobra.Command, args []string) error {
	sel, err := o.past.groups.choose(o.app, args)
	if err != nil {
		return err
	}
	sel.Groups, sel.All = distinct(sel.Groups), len(sel.Groups) == 0
	lookBack, err := o.validate()
	if err != nil {
		return err
	}
	ctx := c.Context()
	files, said, err := o.files(ctx)
	if err != nil {
		return err
	}
	s, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	why := &whyCmd{app: o.app, past: o.past}
	cfg := top.Config{Since: lookBack, Timeout: s.conn.Timeout(), Now: o.now, Zone: o.zone(), In: o.streams.Keyboard, Out: o.streams.Out,
		Colours: o.coloured(), Tmux: o.getenv("TMUX") != "",
		Watch:  watch.Config{Collector: s.collector, Scanner: s.scanner, Selection: sel, Now: o.now, Configs: files.Configs, Said: said},
		Files:  files,
		Reader: s.reader(),
		Head:   func(c inspect.Cluster) render.Line { return o.clusterLine(c, "") },
		Page:   why.whyLines}
	if !sel.All {
		cfg.Watch.Since = lookBack // of all groups, their rebalances are read beside the watch
	}
	r, err := top.Run(ctx, cfg)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return incomplete(errors.New("top: no answer within --timeout "+o.flags.timeout), "")
	case err != nil:
		return err
	}
	if err := o.leave(why, r); err != nil {
		return err
	}
	if o.terminated() {
		return context.Canceled
	}
	return nil
}

// validate reads the flags, and refuses where there is no screen.
func (o *topCmd) validate() (lookBack time.Duration, err error) {
	const instead = "kgdiag watch shows the same as lines"
	switch {
	case o.streams.Keyboard == nil || !o.streams.OutTTY || o.getenv("TERM") == "dumb":
		return 0, usage("top needs a terminal, and there is none", instead)
	case o.flags.output != "table":
		return 0, usage("top is a screen: it has no -o "+o.flags.output, instead+", also with -o json")
	case o.flags.debug && o.streams.ErrTTY:
		return 0, usage("top --debug would write over the screen", "send it to a file: 2> FILE")
	}
	from, err := o.parseMoment("--since", o.past.since, o.now())
	if err != nil {
		return 0, err
	}
	if lookBack = o.now().Sub(from).Round(time.Second); lookBack <= 0 {
		return 0, usagef("--since %s: lies ahead", o.past.since)
	}
	return lookBack, nil
}

// files reads the files that are named, and gives the means to read the logs again.
func (o *topCmd) files(ctx context.Context) (files *inspect.Case, said func() ([]inspect.LogEvent, bool), err error) {
	if o.past.configs, err = o.past.config.timeouts(ctx, o.app); err != nil {
		return nil, nil, err
	}
	p, logs, err := past.Beside(ctx, o.past.query(o.app, collect.Selection{}, collect.Want{}, inspect.Window{}))
	if err != nil {
		return nil, nil, err
	}
	_, _ = o.told(p, nil) // it gives back what it is given
	return p.Case, logs.Said, nil
}

// leave prints what why says of what was on the screen last.
func (o *topCmd) leave(why *whyCmd, r *top.Result) error {
	if r.Opened || len(r.Groups) == 1 {
		return o.show(why.view(r.Case, diagnose.Triage{Groups: diagnose.Groups(r.Case, r.Groups, diagnose.Options{}), Shared: []diagnose.SharedCause{}}))
	}
	return o.show(why.triageView(r.Case, diagnose.TriageOf(r.Case, r.Groups, diagnose.Options{})))
}
