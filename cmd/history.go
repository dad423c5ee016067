package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
)

var _ = command(40, newHistoryCmd)

func newHistoryCmd(a *app) *cobra.Command {
	o := &causeOptions{}
	c := &cobra.Command{
		Use:   "history [GROUP…]",
		Short: "past rebalances, each with its cause, from the offsets log",
		Long: `Reads the groups' partitions of __consumer_offsets and rebuilds their rebalances:
who came, who went and why, how sure that is, what it cost. Nothing has to have been
switched on before. The log is compacted: the first line says since when it is whole.
-v adds the evidence and what speaks against the rivals. --what-if replays the window
with other settings.`,
		Example: `  kgdiag history orders --since 2d
  kgdiag history orders --cause poll_interval_exceeded -o json
  kgdiag history orders --what-if max.poll.interval.ms=600000
  kgdiag history --all-groups --since 3h`,
		RunE: func(c *cobra.Command, args []string) error { return a.runHistory(c.Context(), o, args) },
	}
	o.addFlags(c)
	return c
}

func (a *app) runHistory(ctx context.Context, o *causeOptions, args []string) error {
	var err error
	if o.trips, err = rebalanceTrip(o.failOn); err != nil {
		return err
	}
	sel, err := o.past.groups.choose(a, args)
	if err != nil {
		return err
	}
	if len(sel.Groups) == 0 && !sel.All && o.past.from == "" {
		return usage("history: no group is named", "name groups, or add --all-groups, --regex, --state or --type")
	}
	if err := o.past.complete(a); err != nil {
		return err
	}
	c, ids, err := a.historyCase(ctx, o, sel)
	if c == nil {
		return err
	}
	if shown := a.show(a.historyView(c, ids, &o.past)); shown != nil {
		return shown
	}
	if err != nil {
		return groupsError(err)
	}
	for _, id := range ids {
		for _, r := range o.past.inWindow(timelineFor(c, id)) {
			if o.trips(r) {
				return tripped()
			}
		}
	}
	return a.strictly(c.Gaps)
}

// historyCase gets the case from a file or from the cluster. With an error beside
// it, the case holds what could be read.
func (a *app) historyCase(ctx context.Context, o *causeOptions, sel collect.Selection) (*inspect.Case, []string, error) {
	if o.past.from != "" {
		return a.caseFrom(ctx, &o.past, sel)
	}
	s, err := a.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	c, ids, err, pastErr := a.collectPast(ctx, s, &o.past, sel, collect.Want{Log: true, Limits: true})
	if c == nil {
		return nil, nil, groupsError(err)
	}
	if pastErr != nil && len(c.Records) == 0 {
		// Without the offsets topic there is no such group; no ACL would bring it.
		if missing := (*collect.NotFoundError)(nil); errors.Is(pastErr, errNoLog) && errors.As(err, &missing) {
			return nil, nil, groupsError(err)
		}
		return nil, nil, historyError(ids, pastErr)
	}
	return c, ids, err
}
