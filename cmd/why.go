package cmd

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/advise/diagnose"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/internal/page"
)

var _ = command(10, newWhyCmd)

// whyCmd is kgdiag why.
type whyCmd struct {
	*app
	past   pastFlags
	causes causeFlags
}

func newWhyCmd(a *app) *cobra.Command {
	w := &whyCmd{app: a}
	c := &cobra.Command{
		Use:     "why [GROUP…]",
		Aliases: []string{"diagnose"},
		Short:   "show what is wrong, why, what it cost, and what to change",
		Long: `For a group its state now, the cause of its rebalances with the
evidence and what speaks against the other causes, what they cost, and the setting
to change with its trade-off. Without a group: all groups, worst first, and whether they
share a cause, so that a broker's or a machine's problem is not taken for theirs.

--for looks at the groups live for that long before it answers, as watch does. Where
__consumer_offsets may not be read, that is all there is to judge by: commits then
come from polls of the committed offsets, timeouts from -f, --set or the client's defaults.`,
		Example: `  kgdiag why
  kgdiag why orders
  kgdiag why orders --since 1d --log app.log
  kgdiag why orders --for 5m -f orders.properties   where the offsets topic may not be read
  kgdiag why orders --what-if max.poll.interval.ms=600000
  kgdiag why --from orders.kgcase
  kgdiag why orders -o html > incident.html   a page to attach to a ticket`,
		Annotations: map[string]string{extraOutputs: "html"},
		RunE:        w.run,
	}
	w.past.add(a, c)
	w.past.addFor(c)
	w.causes.add(c)
	a.addStrict(c, unread)
	return c
}

func (w *whyCmd) run(c *cobra.Command, args []string) error {
	chosen, err := w.causes.read()
	if err != nil {
		return err
	}
	if w.flags.output == "html" && w.streams.OutTTY {
		return usage("-o html writes a whole page, and the output is a terminal", "kgdiag why GROUP -o html > incident.html")
	}
	sel, err := w.past.groups.choose(w.app, args)
	if err != nil {
		return err
	}
	triage := len(sel.Groups) == 0
	if err := w.past.complete(c.Context(), "why", w.app); err != nil {
		return err
	}
	if w.past.lookFor > 0 && triage {
		return usage("why: --for looks at named groups, and none is named", "kgdiag why GROUP --for "+w.past.length)
	}
	want := collect.Everything()
	if triage {
		sel.All, want = true, collect.Want{Limits: true}
	}
	p, err := w.past.read(c, w.app, sel, want)
	if err != nil {
		return err
	}
	p.NoteLog() // the live view is shown all the same
	o := diagnose.Options{Causes: chosen.causes, WhatIf: chosen.replay}
	t := diagnose.Triage{Shared: []diagnose.SharedCause{}}
	if triage = triage && (w.past.from == "" || len(p.IDs) > 1); triage {
		t = diagnose.TriageOf(p.Case, p.IDs, o)
	} else {
		t.Groups = diagnose.Groups(p.Case, p.IDs, o)
	}
	switch {
	case !w.tells(len(t.Groups), p.Missing):
	case w.flags.output == "html":
		err = w.document(page.HTML, p.Case, t)
	case w.flags.output == "markdown" && !triage:
		err = w.document(page.Markdown, p.Case, t)
	case triage:
		err = w.show(w.triageView(p.Case, t))
	default:
		err = w.show(w.view(p.Case, t))
	}
	if err != nil {
		return err
	}
	switch {
	case p.Stopped != nil:
		return incomplete(errors.Join(p.Stopped, p.Missing), "")
	case p.Missing != nil:
		return groupsError(p.Missing)
	}
	return w.gate(chosen.failOn, p.Case.Gaps, slices.ContainsFunc(t.Groups, func(d diagnose.Diagnosis) bool { return trips(chosen.failOn, d.Rebalances) }))
}

// document writes a report, whole or not at all.
func (w *whyCmd) document(write func(io.Writer, *inspect.Case, diagnose.Triage, page.Options) error, c *inspect.Case, t diagnose.Triage) error {
	var b bytes.Buffer
	if err := write(&b, c, t, page.Options{Program: "kgdiag " + Version(), Given: w.given(c), Sources: w.past.sourceWords(),
		Zone: w.zone(), Now: w.now()}); err != nil {
		return err
	}
	return w.write(b.Bytes())
}
