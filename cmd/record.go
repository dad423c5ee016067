package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
)

var _ = command(70, newRecordCmd)

// recordOptions are the flags of record.
type recordOptions struct {
	past   pastOptions
	to     string
	length string
	redact bool
	force  bool

	lookFor time.Duration // of --for
}

func newRecordCmd(a *app) *cobra.Command {
	o := &recordOptions{}
	c := &cobra.Command{
		Use:   "record GROUP… --to FILE",
		Short: "save all that was read as a case file, before compaction eats it",
		Long: `Reads what why would read and saves it as one compressed file, which why, describe,
history and advise take with --from. The offsets log is compacted: evidence that is
there now may be gone tomorrow. The file holds group, client and host names, topics,
offsets and times; no message, and no secret. --redact replaces the names.

--for also looks at the groups for that long, as watch does (named groups every 250 ms),
and keeps what it sees: when a member was gone, when a rebalance began, who was there
meanwhile. The log tells none of these. Ctrl-C ends the looking, and the file is written.`,
		Example: `  kgdiag record orders --to orders.kgcase
  kgdiag record orders --for 10m --to orders.kgcase
  kgdiag record orders --since 1d --redact --to for-the-ticket.kgcase
  kgdiag why --from orders.kgcase`,
		RunE: func(c *cobra.Command, args []string) error { return a.runRecord(c.Context(), o, args) },
	}
	c.Flags().StringVar(&o.to, "to", "", "the `FILE` to write")
	c.Flags().StringVar(&o.length, "for", "0", "also look at the groups live for this time, and keep what is seen")
	c.Flags().BoolVar(&o.redact, "redact", false, "replace hosts, clients and group names, each always by the same word")
	c.Flags().BoolVar(&o.force, "force", false, "overwrite the file if it exists")
	o.past.addFlags(c)
	return c
}

func (a *app) runRecord(ctx context.Context, o *recordOptions, args []string) error {
	sel, err := o.past.groups.choose(a, args)
	if err != nil {
		return err
	}
	switch {
	case o.to == "":
		return usage("record: --to is missing: the file to write", "kgdiag record orders --to orders.kgcase")
	case len(sel.Groups) == 0 && !sel.All && o.past.from == "":
		return usage("record: no group is named", "name groups, or add --all-groups, --regex, --state or --type")
	}
	if o.lookFor, err = o.lookTime(); err != nil {
		return err
	}
	if _, err := os.Stat(o.to); err == nil && !o.force {
		return usage(fmt.Sprintf("%s: exists already", o.to), "name another file, or add --force")
	}
	var c *inspect.Case
	if o.past.from != "" {
		c, _, err = a.caseFrom(ctx, &o.past, sel)
	} else {
		c, err = a.recordLive(ctx, o, sel)
	}
	if c == nil {
		return err
	}
	if err != nil && len(c.Groups) == 0 && len(c.Records) == 0 {
		return groupsError(err) // nothing was found: a file without it would pass for evidence
	}
	if o.redact {
		redacted, redactErr := inspect.Redact(c)
		if redactErr != nil {
			return redactErr
		}
		c = redacted
	}
	size, writeErr := writeCase(o.to, c)
	if writeErr != nil {
		return writeErr
	}
	if shown := a.show(a.recordView(c, o, size)); shown != nil {
		return shown
	}
	switch {
	case errors.Is(err, errStopped):
		return incomplete(err, "")
	case err != nil:
		return groupsError(err)
	}
	return a.strictly(c.Gaps)
}

// recordLive reads everything from the cluster.
func (a *app) recordLive(ctx context.Context, o *recordOptions, sel collect.Selection) (*inspect.Case, error) {
	if err := o.past.complete(a); err != nil {
		return nil, err
	}
	s, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	var seen *inspect.Case
	var stopped error
	if o.lookFor > 0 {
		if seen, stopped = a.look(ctx, s, o.lookFor, sel); seen == nil {
			return nil, groupsError(stopped)
		}
		if ctx.Err() != nil {
			ctx = context.WithoutCancel(ctx) // the signal has ended the looking; a second one ends the process
		}
		o.past.end = a.now()
	}
	c, _, err, _ := a.collectPast(ctx, s, &o.past, sel, collect.Everything())
	switch {
	case c == nil && seen == nil:
		return nil, groupsError(err)
	case c == nil: // the cluster is gone by now: what was seen of it is evidence all the more
		return seen, errors.Join(stopped, err)
	case seen != nil:
		a.withObservations(c, seen.Observations)
	}
	return c, errors.Join(stopped, err)
}

// writeCase writes the file whole or not at all.
func writeCase(name string, c *inspect.Case) (int, error) {
	var b bytes.Buffer
	if err := inspect.WriteCase(&b, c); err != nil {
		return 0, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".kgcase-*")
	if err != nil {
		return 0, &problem{code: exitUsage, err: fileError(name, err)}
	}
	_, err = f.Write(b.Bytes())
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return 0, errors.Join(incomplete(fileError(name, err), ""), os.Remove(f.Name()))
	}
	return b.Len(), nil
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

// recordView says what the file holds.
func (a *app) recordView(c *inspect.Case, o *recordOptions, size int) render.View {
	doc := recordDoc{envelope: a.envelopeOf("kgdiag.record/v1", c), File: o.to, Bytes: size, Redacted: o.redact, Groups: len(c.Groups),
		Records: len(c.Records), Observations: len(c.Observations), LogEvents: len(c.LogEvents), Configs: len(c.Configs)}
	for _, t := range c.Timelines {
		doc.Rebalances += len(t.Rebalances)
	}
	names := "names of groups, clients, hosts and topics"
	if o.redact {
		names = "topic names (those of groups, clients and hosts are replaced)"
	}
	looks := ""
	if doc.Observations > 0 {
		looks = ", " + plural(doc.Observations, "live observation")
	}
	lines := []render.Line{
		render.L("%s  %s, %s, %s%s, %s; %s KiB", o.to, plural(doc.Groups, "group"), plural(doc.Records, "record"),
			plural(doc.Rebalances, "rebalance"), looks, plural(doc.LogEvents, "log event"), count(int64(size+1023)/1024)),
		render.L("holds  %s, settings, offsets and times; no messages, no secrets", names),
		render.L("next   kgdiag why --from %s", shellWord(o.to)),
	}
	v := render.View{Head: a.clusterLine(c.Cluster, ""), Blocks: []render.Block{{Lines: lines}}, Data: doc}
	if gaps := gapsByReason(c.Gaps); len(gaps) > 0 {
		v.Blocks = append(v.Blocks, render.Block{Lines: gaps, NoTSV: true})
	}
	return v
}

// caseFrom reads a case file instead of a cluster, and rebuilds the timelines of the
// groups that were asked for. Spans count back from when the file was written, and
// without --since the file's own window is shown.
func (a *app) caseFrom(ctx context.Context, o *pastOptions, sel collect.Selection) (*inspect.Case, []string, error) {
	c, err := readCaseFile(o.from)
	if err != nil {
		return nil, nil, err
	}
	then := *a
	at := c.GeneratedAt.Time
	if at.IsZero() {
		at = c.Window.To.Time
	}
	then.now = func() time.Time { return at }
	if err := o.complete(&then); err != nil {
		return nil, nil, err
	}
	if !o.sinceGiven && !c.Window.From.IsZero() {
		o.begin = c.Window.From.Time
	}
	if o.until == "" && !c.Window.To.IsZero() {
		o.end = c.Window.To.Time
	}
	c.Window.From, c.Window.To = inspect.At(o.begin), inspect.At(o.end)
	logs := adviseOptions{app: a, logs: o.logs}
	found, err := logs.readLogs(ctx)
	if err != nil {
		return nil, nil, err
	}
	c.LogEvents, c.Configs = append(c.LogEvents, found.events...), append(c.Configs, found.configs...)
	ids := groupsIn(c)
	missing := absentFrom(ids, sel.Groups)
	switch {
	case len(sel.Groups) > 0:
		ids = slices.DeleteFunc(slices.Clone(sel.Groups), func(id string) bool { return slices.Contains(missing, id) })
	case sel.Match != nil:
		ids = slices.DeleteFunc(ids, func(id string) bool { return !sel.Match.MatchString(id) })
	}
	held := groupsIn(c)
	narrow(c, ids)
	a.rebuild(c)
	if len(missing) > 0 {
		return c, ids, notFound(fmt.Errorf("group %s: not in %s", quotedList(missing), o.from), "it holds "+prose.Few(held, 8))
	}
	return c, ids, nil
}

// readCaseFile reads a case file; its errors name it.
func readCaseFile(name string) (*inspect.Case, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, &problem{code: exitUsage, err: fileError(name, err)}
	}
	defer f.Close()
	c, err := inspect.ReadCase(f)
	if err != nil {
		return nil, usagef("%s: %v", name, err)
	}
	return c, nil
}

// groupsIn are the groups that a case knows anything of, in order.
func groupsIn(c *inspect.Case) []string {
	seen := map[string]bool{}
	for _, g := range c.Groups {
		seen[g.ID] = true
	}
	for i := range c.Records {
		seen[c.Records[i].Group] = true
	}
	for _, o := range c.Observations {
		seen[o.Group] = true
	}
	for _, t := range c.Timelines {
		seen[t.Group] = true
	}
	out := make([]string, 0, len(seen))
	for id := range seen {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

func absentFrom(have, want []string) []string {
	var out []string
	for _, id := range want {
		if !slices.Contains(have, id) {
			out = append(out, id)
		}
	}
	return out
}

// narrow drops from a case what concerns other groups.
func narrow(c *inspect.Case, ids []string) {
	keep := map[string]bool{}
	for _, id := range ids {
		keep[id] = true
	}
	c.Groups = slices.DeleteFunc(c.Groups, func(g inspect.Group) bool { return !keep[g.ID] })
	c.Records = slices.DeleteFunc(c.Records, func(r inspect.Record) bool { return !keep[r.Group] })
	c.Observations = slices.DeleteFunc(c.Observations, func(o inspect.Observation) bool { return !keep[o.Group] })
	c.Timelines = slices.DeleteFunc(c.Timelines, func(t inspect.Timeline) bool { return !keep[t.Group] })
	c.Gaps = slices.DeleteFunc(c.Gaps, func(g inspect.Gap) bool { return g.Group != "" && !keep[g.Group] })
}
