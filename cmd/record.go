package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/show"
)

var _ = command(70, newRecordCmd)

// recordCmd is kgdiag record.
type recordCmd struct {
	*app
	past   pastFlags
	to     string
	redact bool
	force  bool
}

func newRecordCmd(a *app) *cobra.Command {
	r := &recordCmd{app: a}
	c := &cobra.Command{
		Use:   "record GROUP… --to FILE",
		Short: "save all that was read as a case file, before compaction removes it",
		Long: `Reads what why would read and saves it as one compressed file, which why, describe,
history and advise take with --from. The offsets log is compacted: evidence that is
there now may be gone tomorrow. The file holds group, client and host names, topics,
offsets and times; no message, and no value of a setting that holds a secret.
--redact replaces the names. What looks like a secret in log lines is left out too.

--for also looks at the groups for that long, as watch does (named groups every 250 ms),
and keeps what it sees: when a member was gone, when a rebalance began, who was there
meanwhile. The log shows none of these. Ctrl-C ends the looking, and the file is written.`,
		Example: `  kgdiag record orders --to orders.kgcase
  kgdiag record orders --for 10m --to orders.kgcase
  kgdiag record orders --since 1d --redact --to for-the-ticket.kgcase
  kgdiag why --from orders.kgcase`,
		RunE: r.run,
	}
	c.Flags().StringVar(&r.to, "to", "", "the `FILE` to write")
	r.past.addFor(c)
	c.Flags().BoolVar(&r.redact, "redact", false, "replace hosts, clients and group names, each always by the same word")
	c.Flags().BoolVar(&r.force, "force", false, "overwrite the file if it exists")
	r.past.add(a, c)
	a.addStrict(c, unread)
	return c
}

func (r *recordCmd) run(cmd *cobra.Command, args []string) error {
	sel, err := r.past.groups.choose(r.app, args)
	if err != nil {
		return err
	}
	if err := r.validate(cmd.Context(), sel); err != nil {
		return err
	}
	p, err := r.past.read(cmd, r.app, sel, collect.Everything())
	if err != nil {
		return err
	}
	lacks := errors.Join(p.Stopped, p.Missing)
	if lacks != nil && len(p.Case.Groups) == 0 && len(p.Case.Records) == 0 {
		return groupsError(lacks) // nothing was found: a file without it would pass for evidence
	}
	c := p.Case
	if r.redact {
		if c, err = inspect.Redact(c); err != nil {
			return err
		}
	}
	size, err := past.WriteFile(r.to, c)
	if err != nil {
		return err
	}
	if err := r.show(r.view(c, size)); err != nil {
		return err
	}
	switch {
	case p.Stopped != nil:
		return incomplete(lacks, "")
	case p.Missing != nil:
		return groupsError(p.Missing)
	}
	return r.strictly(c.Gaps)
}

// validate reads the flags.
func (r *recordCmd) validate(ctx context.Context, sel collect.Selection) error {
	switch {
	case r.to == "":
		return usage("record: --to is missing: the file to write", "kgdiag record orders --to orders.kgcase")
	case len(sel.Groups) == 0 && !sel.All && r.past.from == "":
		return usage("record: no group is named", "name groups, or add --all-groups, --regex, --state or --type")
	}
	if err := r.past.complete(ctx, "record", r.app); err != nil {
		return err
	}
	switch info, err := os.Stat(r.to); {
	case err != nil:
	case !info.Mode().IsRegular():
		return usage(fmt.Sprintf("--to %s: is there and is no regular file", r.to), "name a file")
	case !r.force:
		return usage(fmt.Sprintf("%s: exists already", r.to), "name another file, or add --force")
	}
	return nil
}

// recordDoc is the document kgdiag.record/v1.
type recordDoc struct {
	envelope
	File         string `json:"file"`
	Bytes        int    `json:"bytes"`
	Redacted     bool   `json:"redacted"`
	Groups       int    `json:"groups"`
	Records      int    `json:"records"`
	Rebalances   int    `json:"rebalances"`
	Observations int    `json:"observations"`
	LogEvents    int    `json:"log_events"`
	Configs      int    `json:"configs"`
}

// view says what the file holds.
func (r *recordCmd) view(c *inspect.Case, size int) render.View {
	doc := recordDoc{envelope: r.envelopeOf("kgdiag.record/v1", c), File: r.to, Bytes: size, Redacted: r.redact, Groups: len(c.Groups),
		Records: len(c.Records), Observations: len(c.Observations), LogEvents: len(c.LogEvents), Configs: len(c.Configs)}
	for _, t := range c.Timelines {
		doc.Rebalances += len(t.Rebalances)
	}
	names := "names of groups, clients, hosts and topics"
	if r.redact {
		names = "topic names (those of groups, clients and hosts are replaced)"
	}
	looks := ""
	if doc.Observations > 0 {
		looks = ", " + prose.Plural(doc.Observations, "live observation")
	}
	lines := []render.Line{
		render.L("%s  %s, %s, %s%s, %s; %s KiB", r.to, prose.Plural(doc.Groups, "group"), prose.Plural(doc.Records, "record"),
			prose.Plural(doc.Rebalances, "rebalance"), looks, prose.Plural(doc.LogEvents, "log event"), prose.Count(int64(size+1023)/1024)),
		render.L("holds  %s, settings, offsets and times; no messages, no values of secret settings", names),
		render.L("next   kgdiag why --from %s", prose.ShellWord(r.to)),
	}
	v := render.View{Head: r.clusterLine(c.Cluster, r.clockOf(c.GeneratedAt.Time).Head(c.GeneratedAt.Time)), Blocks: []render.Block{{Lines: lines}}, Data: doc}
	if gaps := show.Gaps(c.Gaps); len(gaps) > 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: gaps, NoTSV: true})
	}
	return v
}
