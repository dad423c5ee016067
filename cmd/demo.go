package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/internal/demo"
	"github.com/kgdiag/kgdiag/internal/term"
)

var _ = command(800, newDemoCmd)

// demoCmd is kgdiag demo.
type demoCmd struct {
	*app
	root  *cobra.Command
	serve bool
}

func newDemoCmd(a *app) *cobra.Command {
	o := &demoCmd{app: a}
	c := &cobra.Command{
		Use:   "demo",
		Short: "try kgdiag on a simulated cluster with misbehaving consumers",
		Long: `Starts a simulated cluster inside this process, lets consumers misbehave on it, and
runs locate, describe, watch, why and advise there, with a line about each. It needs
no Kafka, touches no real cluster, and takes less than 40 seconds.`,
		Args: noArgs,
		RunE: o.run,
	}
	c.Flags().BoolVar(&o.serve, "serve", false, "only start the cluster, print its address, and keep it up until Ctrl-C")
	return c
}

// validate refuses what the demo would silently ignore.
func (o *demoCmd) validate() error {
	f := o.flags
	if f.output != "table" {
		return usagef("demo: -o %s: the demo is text; its commands take -o when you run them yourself", f.output)
	}
	if len(f.bootstrap) > 0 || f.commandConfig != "" || f.context != "" {
		return usage("demo: it runs on a simulated cluster of its own and connects to no other", "leave out -b, --command-config and --context")
	}
	return nil
}

func (o *demoCmd) run(c *cobra.Command, _ []string) error {
	if err := o.validate(); err != nil {
		return err
	}
	o.root = c.Root()
	a, ctx := o.app, c.Context()
	opts := demo.Options{
		Out:      a.streams.Out,
		Run:      o.command,
		Has:      o.has,
		Program:  program(),
		Emphasis: func(s string) string { return a.painter().Paint(term.Bold, s) },
	}
	if o.serve {
		return outputError(demo.Serve(ctx, opts))
	}
	err := demo.Tour(ctx, opts)
	if ctx.Err() != nil && err != nil {
		return context.Canceled // the signal is the reason, whatever it broke
	}
	return outputError(err)
}

// outputError says that stdout failed, where that is why the demo ended.
func outputError(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return incomplete(fmt.Errorf("output: %w", err), "")
	}
	return err
}

// command runs one command line of the demo as a kgdiag of its own: on the same
// streams, without the settings by which the environment could lead it to a real
// cluster.
func (o *demoCmd) command(ctx context.Context, args []string) int {
	a := o.app
	sub := &app{streams: a.streams, now: a.now, getenv: isolated(a.getenv), cancelled: a.cancelled}
	args = append(args, "--color", a.flags.color)
	if a.flags.utc {
		args = append(args, "--utc")
	}
	return sub.run(ctx, args)
}

// isolated hides the variables that configure kgdiag.
func isolated(getenv func(string) string) func(string) string {
	return func(name string) string {
		if strings.HasPrefix(name, "KGDIAG_") || strings.HasPrefix(name, "KAFKA_") {
			return ""
		}
		return getenv(name)
	}
}

// has says whether this build has a command.
func (o *demoCmd) has(name string) bool {
	for _, c := range o.root.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return true
		}
	}
	return false
}

// program is how the user has called kgdiag: go run builds into a temporary folder.
func program() string {
	exe, err := os.Executable()
	if err == nil && strings.Contains(filepath.ToSlash(exe), "/go-build") {
		return "go run ."
	}
	return "kgdiag"
}
