package cmd

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/past"
)

var _ = command(30, newDescribeCmd)

// describeCmd is kgdiag describe.
type describeCmd struct {
	*app
	groups selection
	from   string
}

func newDescribeCmd(a *app) *cobra.Command {
	d := &describeCmd{app: a}
	c := &cobra.Command{
		Use:     "describe GROUP…",
		Aliases: []string{"inspect"},
		Short:   "show the group now: state, generation or epoch, members, timeouts, assignment, lag",
		Long: `Shows groups of every type as they are now: state, generation (read from the
offsets log, since no API tells it) or epoch, coordinator, and for each member
its client library, timeouts, lag and partitions. What could not be read is
named, with the ACL that would allow it. -v adds member ids, subscriptions,
targets, racks, and each partition's offsets. Groups that are not named are
shown in a line each where they are many (json and tsv: always); -v shows
their members.`,
		Example: `  kgdiag describe orders
  kgdiag describe --all-groups --state PreparingRebalance,CompletingRebalance
  kgdiag describe --all-groups -o json | jq '.groups[] | select(.state != "Stable")'
  kgdiag describe orders -o json | jq '.groups[].members[].client'`,
		RunE: d.run,
	}
	c.Flags().StringVar(&d.from, "from", "", "read a case `FILE` that record wrote, instead of a cluster")
	a.addRateLimit(c)
	d.groups.addFlags(c)
	a.addStrict(c, unread)
	return c
}

func (d *describeCmd) run(cmd *cobra.Command, args []string) error {
	sel, err := d.groups.choose(d.app, args)
	if err != nil {
		return err
	}
	var c *inspect.Case
	var missing error
	if d.from != "" {
		c, missing, err = d.readFile(cmd.Context(), sel)
	} else {
		c, missing, err = d.readCluster(cmd.Context(), sel)
	}
	if err != nil {
		return err
	}
	if d.tells(len(c.Groups), missing) {
		if err := d.show(d.view(c, len(sel.Groups) > 0)); err != nil {
			return err
		}
	}
	if missing != nil {
		return groupsError(missing)
	}
	if err := unlisted(c.Gaps); err != nil {
		return err
	}
	return d.strictly(c.Gaps)
}

// readCluster asks the cluster; the first error is about groups that were named.
func (d *describeCmd) readCluster(ctx context.Context, sel collect.Selection) (c *inspect.Case, missing, err error) {
	if len(sel.Groups) == 0 && !sel.All {
		return nil, nil, usage("describe: no group is named", "name groups, or add --all-groups, --regex, --state or --type")
	}
	s, err := d.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	limited, cancel := s.within(ctx)
	defer cancel()
	c, err = s.collector.Collect(limited, sel, collect.Want{Lag: true, Log: true, Limits: true, Topics: true})
	switch {
	case c == nil:
		return nil, nil, err
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	}
	return c, err, nil
}

// readFile takes the groups of a case file as they were when it was written; all of
// them if none is named.
func (d *describeCmd) readFile(ctx context.Context, sel collect.Selection) (c *inspect.Case, missing, err error) {
	d.old = true
	c, err = past.ReadFile(ctx, d.from)
	if err != nil {
		return nil, nil, err
	}
	var described []string
	for i := range c.Groups {
		described = append(described, c.Groups[i].ID)
	}
	missing = past.Absent(slices.Clone(described), sel.Groups, d.from)
	c.Narrow(slices.DeleteFunc(described, func(id string) bool { return len(sel.Groups) > 0 && !slices.Contains(sel.Groups, id) }))
	c.Groups = slices.DeleteFunc(c.Groups, func(g inspect.Group) bool { return !sel.Keeps(&g) })
	return c, missing, nil
}
