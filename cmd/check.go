package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/inspect/access"
	"github.com/kgdiag/kgdiag/internal/kconn"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/locate"
)

var _ = command(80, newCheckCmd)

// checkCmd is kgdiag check.
type checkCmd struct {
	*app
	contexts bool
	known    []*cobra.Command // what this build has: only of that is something said
}

func newCheckCmd(a *app) *cobra.Command {
	o := &checkCmd{app: a}
	c := &cobra.Command{
		Use:   "check",
		Short: "check the connection, what may be read, and which commands will work",
		Long: `check resolves, connects to every broker, authenticates, and asks for each thing that
kgdiag reads. It says which commands work fully, partly or not with these permissions,
and prints the kafka-acls commands for the rest. It changes nothing and reads one byte.`,
		Example: `  kgdiag check --command-config client.properties
  kgdiag check --context prod -o json
  kgdiag check --contexts                      which clusters are configured, here and for other tools`,
		Args: noArgs,
		RunE: o.run,
	}
	c.Flags().BoolVar(&o.contexts, "contexts", false, "list the named clusters, without connecting")
	a.addStrict(c, "unless every broker was reached and every command works in full")
	return c
}

// checked is what check has found, up to the point where it could go no further.
type checked struct {
	conn    kconn.Config
	seeds   []kconn.Broker
	brokers []kconn.Broker
	access  *access.Report
	failed  error // what ended the check; nil where all could be asked
}

func (o *checkCmd) run(cmd *cobra.Command, _ []string) error {
	o.known = cmd.Root().Commands()
	if o.contexts {
		return o.listContexts()
	}
	conn, err := o.resolve()
	if err != nil {
		return err
	}
	limit := conn.Timeout()
	ctx, cancel := context.WithTimeout(cmd.Context(), limit)
	defer cancel()
	c := check(ctx, conn)
	if errors.Is(c.failed, context.Canceled) {
		return c.failed
	}
	if err := o.show(o.view(c)); err != nil {
		return err
	}
	return o.outcome(c)
}

// check goes as far as it gets.
func check(ctx context.Context, conn kconn.Config) *checked {
	c := &checked{conn: conn}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { c.seeds = conn.Reach(ctx, nil) })
	cl, err := conn.Dial(ctx, locate.OffsetsTopic)
	if err != nil {
		c.failed = err
		return c
	}
	defer cl.Close()
	wg.Go(func() { c.brokers = conn.Reach(ctx, cl) })
	c.access, c.failed = access.Survey(ctx, cl, conn.Met())
	wg.Wait()
	return c
}

// commands judges the commands that this build has.
func (o *checkCmd) commands(r *access.Report) []access.Command {
	return slices.DeleteFunc(r.Commands(), func(c access.Command) bool {
		return !slices.ContainsFunc(o.known, func(k *cobra.Command) bool { return k.Name() == c.Name })
	})
}

// outcome is 0 where kgdiag can work here, and 3 where it could not connect, or no
// broker or command is left; --strict takes everything that is missing for a failure.
func (o *checkCmd) outcome(c *checked) error {
	if c.failed != nil {
		return &problem{code: exitIncomplete, err: c.failed, quiet: true} // the result has said it, with the hint
	}
	unreached, partly, works := 0, 0, 0
	for _, b := range c.brokers {
		if b.Err != nil {
			unreached++
		}
	}
	for _, cmd := range o.commands(c.access) {
		switch cmd.Works {
		case access.Not:
			partly++
		case access.Partly:
			partly++
			works++
		default:
			works++
		}
	}
	switch {
	case works == 0:
		return incomplete(errors.New("connected, but no command works with these permissions"), "the kafka-acls commands above give them")
	case o.flags.strict && unreached > 0:
		return incomplete(fmt.Errorf("--strict: %d of %s not reached", unreached, prose.Plural(len(c.brokers), "broker")), "")
	case o.flags.strict && partly > 0:
		return incomplete(fmt.Errorf("--strict: %s not fully working", prose.Plural(partly, "command")), "")
	}
	return nil
}
