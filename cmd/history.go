package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/locate"
)

var _ = command(40, newHistoryCmd)

// historyCmd is kgdiag history.
type historyCmd struct {
	*app
	past   pastFlags
	causes causeFlags
}

func newHistoryCmd(a *app) *cobra.Command {
	h := &historyCmd{app: a}
	c := &cobra.Command{
		Use:   "history GROUP…",
		Short: "list past rebalances, each with its cause, from the offsets log",
		Long: `Reads the groups' partitions of __consumer_offsets and rebuilds their rebalances:
who came, who went and why, how sure that is, what it cost. Nothing has to have been
switched on before. The log is compacted: the first line says since when it is whole.
-v adds the evidence and what speaks against the rivals. --what-if replays the window
with other settings.`,
		Example: `  kgdiag history orders --since 2d
  kgdiag history orders --cause poll_interval_exceeded -o json
  kgdiag history orders --what-if max.poll.interval.ms=600000
  kgdiag history --all-groups --since 3h`,
		RunE: h.run,
	}
	h.past.add(a, c)
	h.causes.add(c)
	a.addStrict(c, unread)
	return c
}

func (h *historyCmd) run(c *cobra.Command, args []string) error {
	chosen, err := h.causes.read()
	if err != nil {
		return err
	}
	sel, err := h.past.groups.choose(h.app, args)
	if err != nil {
		return err
	}
	if len(sel.Groups) == 0 && !sel.All && h.past.from == "" {
		return usage("history: no group is named", "name groups, or add --all-groups, --regex, --state or --type")
	}
	if err := h.past.complete(c.Context(), "history", h.app); err != nil {
		return err
	}
	p, err := h.past.read(c, h.app, sel, collect.Want{Log: true, Limits: true})
	if err != nil {
		return err
	}
	if p.Log != nil && len(p.Case.Records) == 0 {
		return nothingRead(p)
	}
	groups := h.groups(p, chosen)
	if h.tells(len(groups), p.Missing) {
		err = h.show(h.view(p.Case, groups, chosen.causes))
	}
	if err != nil {
		return err
	}
	if p.Missing != nil {
		return groupsError(p.Missing)
	}
	return h.gate(chosen.failOn, p.Case.Gaps, slices.ContainsFunc(groups, func(g inspect.History) bool { return trips(chosen.failOn, g.Rebalances) }))
}

// nothingRead explains a log of which nothing could be read.
func nothingRead(p *past.Past) error {
	// Without the offsets topic there is no such group; no ACL would bring it.
	hidden, none := errors.Is(p.Log, past.ErrNoLog), errors.Is(p.Log, collect.ErrNoOffsetsTopic)
	if missing := (*collect.NotFoundError)(nil); (hidden || none) && errors.As(p.Missing, &missing) {
		return groupsError(p.Missing)
	}
	name, word := "history", "GROUP"
	if len(p.IDs) > 0 {
		word = prose.ShellWord(p.IDs[0])
	}
	if len(p.IDs) == 1 {
		name = fmt.Sprintf("history of %q", p.IDs[0])
	}
	err := fmt.Errorf("%s: %s", name, past.Trouble(p.Log))
	without := "without it: kgdiag watch " + word + " (from now on), kgdiag why " + word + " --for 5m, kgdiag why " + word + " --log FILE"
	switch {
	case errors.Is(p.Log, context.Canceled):
		return p.Log
	case none:
		return incomplete(err, without)
	case past.Denied(p.Log), hidden:
		return incomplete(err, "kafka-acls --add --allow-principal User:NAME --operation Read --topic "+locate.OffsetsTopic+"\n"+without)
	}
	return incomplete(err, "")
}
