package cmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

var _ = command(30, newDescribeCmd)

// describeOptions are the flags of describe.
type describeOptions struct {
	groups selection
	from   string
}

func newDescribeCmd(a *app) *cobra.Command {
	o := &describeOptions{}
	c := &cobra.Command{
		Use:     "describe [GROUP…]",
		Aliases: []string{"inspect"},
		Short:   "the group now: state, generation or epoch, members, timeouts, assignment, lag",
		Long: `Shows groups of every type as they are now: state, generation (read from the
offsets log, since no API tells it) or epoch, coordinator, and for each member
its client library, timeouts, lag and partitions. What could not be read is
named, with the ACL that would allow it. -v adds member ids, subscriptions,
targets, racks, and each partition's offsets.`,
		Example: `  kgdiag describe orders
  kgdiag describe --all-groups --state PreparingRebalance,CompletingRebalance
  kgdiag describe --regex 'pay-.*' -o json | jq '.groups[].members[].client'`,
		RunE: func(c *cobra.Command, args []string) error { return a.runDescribe(c.Context(), o, args) },
	}
	c.Flags().StringVar(&o.from, "from", "", "read a case `FILE` that record wrote, instead of a cluster")
	o.groups.addFlags(c)
	return c
}

func (a *app) runDescribe(ctx context.Context, o *describeOptions, args []string) error {
	sel, err := o.groups.choose(a, args)
	if err != nil {
		return err
	}
	if o.from != "" {
		return a.describeFrom(o.from, sel)
	}
	if len(sel.Groups) == 0 && !sel.All {
		return usage("describe: no group is named", "name groups, or add --all-groups, --regex, --state or --type")
	}
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	limited, cancel := context.WithTimeout(ctx, s.conn.Timeout())
	defer cancel()
	c, err := s.collector.Collect(limited, sel, collect.Want{Lag: true, Log: true, Limits: true, Topics: true})
	if c == nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(c.Groups) > 0 || err == nil || a.flags.output == "json" {
		if shown := a.show(a.describeView(c)); shown != nil {
			return shown
		}
	}
	if err != nil {
		return groupsError(err)
	}
	return a.strictly(c.Gaps)
}

// describeFrom shows the groups of a case file as they were when it was written; all
// of them if none is named.
func (a *app) describeFrom(name string, sel collect.Selection) error {
	c, err := readCaseFile(name)
	if err != nil {
		return err
	}
	var have []string
	for i := range c.Groups {
		have = append(have, c.Groups[i].ID)
	}
	narrow(c, slices.DeleteFunc(slices.Clone(have), func(id string) bool {
		return len(sel.Groups) > 0 && !slices.Contains(sel.Groups, id)
	}))
	c.Groups = slices.DeleteFunc(c.Groups, func(g inspect.Group) bool { return !sel.Keeps(&g) })
	missing := absentFrom(have, sel.Groups)
	if len(c.Groups) > 0 || len(missing) == 0 || a.flags.output == "json" {
		if err := a.show(a.describeView(c)); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return notFound(fmt.Errorf("group %s: not in %s", quotedList(missing), name), "it holds "+prose.Few(have, 8))
	}
	return a.strictly(c.Gaps)
}
