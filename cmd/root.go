package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kgdiag/kgdiag/internal/input"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/internal/term"
)

// SystemStreams are the streams of the process.
func SystemStreams() *term.Streams { return term.System() }

// app holds what a run works with: collaborators first, then the flags that every
// command shares. Tests fill it by hand.
type app struct {
	streams *term.Streams
	now     func() time.Time
	getenv  func(string) string
	home    string                                                            // the user's home directory; "" unknown
	dial    func(ctx context.Context, network, addr string) (net.Conn, error) // nil: TCP
	// cancelled says which signal ended ctx, once one has; nil before.
	cancelled func() os.Signal

	flags    globalFlags
	unhelped error // of the writing of a help text
	old      bool  // what is shown was read from a case file, on whatever day
}

// globalFlags are the persistent flags.
type globalFlags struct {
	bootstrap     []string
	commandConfig string
	x             []string
	context       string
	brokerMap     string
	timeout       string
	output        string
	color         string
	quiet         bool
	verbose       bool
	debug         bool
	utc           bool
	strict        bool
	rateLimit     sizeValue // of commands that scan the offsets log
}

// constructor makes a command for an app.
type constructor struct {
	order int
	make  func(*app) *cobra.Command
}

var constructors []constructor

// command registers a constructor at package initialisation; order is its place in
// help.
func command(order int, make func(*app) *cobra.Command) bool {
	constructors = append(constructors, constructor{order, make})
	return true
}

// Main runs kgdiag and returns its exit code (DESIGN section "Exit codes").
func Main(args []string, s *term.Streams) int {
	// With SIGPIPE ignored a closed pipe shows as EPIPE, which ends a run silently.
	signal.Ignore(syscall.SIGPIPE)
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	a := &app{streams: s, now: time.Now, getenv: os.Getenv, home: home}
	ctx, stop := a.withSignals(context.Background())
	defer stop()
	s.In = input.Until(ctx, s.In) // a signal ends the waiting for it too
	return a.run(ctx, args)
}

// run executes one command line.
func (a *app) run(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.streams.In)
	root.SetOut(a.streams.Out)
	root.SetErr(a.streams.Err)
	executed, err := root.ExecuteContextC(ctx)
	if err == nil && a.unhelped != nil {
		err = incomplete(fmt.Errorf("output: %w", a.unhelped), "")
	}
	return a.exit(executed, err)
}

// withSignals cancels the context at the first SIGINT, SIGTERM or SIGHUP and remembers
// which; a second one ends the process at once, as Go does by default.
func (a *app) withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case sig := <-ch:
			signal.Stop(ch)
			cancel(&signalError{sig})
		case <-ctx.Done():
		}
	}()
	a.cancelled = func() os.Signal {
		if e, ok := context.Cause(ctx).(*signalError); ok {
			return e.signal
		}
		return nil
	}
	return ctx, func() { signal.Stop(ch); cancel(nil) }
}

// terminated is whether another than the user at the keyboard has ended the run.
func (a *app) terminated() bool {
	if a.cancelled == nil {
		return false
	}
	sig := a.cancelled()
	return sig != nil && sig != os.Interrupt
}

// newRoot makes the command tree.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "kgdiag",
		Short:         "show why a Kafka consumer group rebalances, and which setting to change",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			return a.bare()
		},
		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return a.prepare(c) },
	}
	root.Version = Version()
	root.SetVersionTemplate("kgdiag {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError(c, err) })
	a.addGlobalFlags(root.PersistentFlags())
	sort.SliceStable(constructors, func(i, j int) bool { return constructors[i].order < constructors[j].order })
	cobra.EnableCommandSorting = false
	for _, c := range constructors {
		sub := c.make(a)
		if sub.Args == nil {
			sub.Args = cobra.ArbitraryArgs
		}
		root.AddCommand(sub)
	}
	root.SetHelpCommand(newHelpCmd(root))
	root.SetHelpFunc(a.help)
	return root
}

// connectFlags are the flags that internal/kconn weighs against the environment by
// itself, so that the generic KGDIAG_<FLAG> rule must leave them alone.
var connectFlags = map[string]bool{
	"bootstrap-server": true, "bootstrap-servers": true, "brokers": true,
	"command-config": true, "context": true, "broker-map": true, "X": true,
}

func (a *app) addGlobalFlags(f *pflag.FlagSet) {
	g := &a.flags
	f.SortFlags = false
	f.StringSliceVarP(&g.bootstrap, "bootstrap-server", "b", nil, "brokers to connect to first, `HOST:PORT` (comma separated)")
	f.StringSliceVar(&g.bootstrap, "bootstrap-servers", nil, "")
	f.StringSliceVar(&g.bootstrap, "brokers", nil, "")
	f.StringVar(&g.commandConfig, "command-config", "", "properties `FILE` that says how to connect (Java or librdkafka keys)")
	f.StringArrayVarP(&g.x, "X", "X", nil, "connection setting `KEY=VALUE` (repeatable)")
	f.StringVar(&g.context, "context", "", "named cluster of the configuration file")
	f.StringVar(&g.brokerMap, "broker-map", "", "dial the brokers at `ID=HOST:PORT` (comma separated) instead of their advertised addresses")
	f.StringVar(&g.timeout, "timeout", "30s", "limit for all requests; a duration, or milliseconds")
	f.StringVarP(&g.output, "output", "o", "table", "output format: "+strings.Join(render.Names(), "|"))
	f.StringVar(&g.output, "format", "table", "")
	f.StringVar(&g.color, "color", "auto", "colour: auto|always|never")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no progress and no warnings on stderr")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "more evidence")
	f.BoolVar(&g.debug, "debug", false, "log the requests on stderr")
	f.BoolVar(&g.utc, "utc", false, "show times in UTC")
	for _, hidden := range []string{"bootstrap-servers", "brokers", "format"} {
		_ = f.MarkHidden(hidden) // the flag was added above
	}
}

// prepare applies the environment to flags that the command line leaves open, and
// checks the flags that every command shares.
func (a *app) prepare(c *cobra.Command) error {
	if err := a.applyEnvironment(c.Flags()); err != nil {
		return err
	}
	switch term.ColorMode(a.flags.color) {
	case term.ColorAuto, term.ColorAlways, term.ColorNever:
	default:
		return usagef("--color %q: not known, want auto, always or never", a.flags.color)
	}
	if !slices.Contains(outputsOf(c), a.flags.output) {
		return usagef("--output %q: not known, want %s", a.flags.output, strings.Join(outputsOf(c), ", "))
	}
	_, err := a.timeout()
	return err
}

// extraOutputs is the annotation by which a command offers formats beyond the
// common ones, comma separated.
const extraOutputs = "kgdiag.outputs"

func outputsOf(c *cobra.Command) []string {
	names := render.Names()
	if extra := c.Annotations[extraOutputs]; extra != "" {
		names = append(names, strings.Split(extra, ",")...)
	}
	return names
}

// applyEnvironment sets each flag not given from KGDIAG_<FLAG>.
func (a *app) applyEnvironment(flags *pflag.FlagSet) error {
	var first error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || connectFlags[f.Name] || first != nil || f.Name == "help" || f.Name == "version" {
			return
		}
		name := "KGDIAG_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if v := a.getenv(name); v != "" {
			if err := flags.Set(f.Name, v); err != nil {
				var bad *pflag.InvalidValueError
				if errors.As(err, &bad) {
					err = fmt.Errorf("%q: want %s", v, wanted(bad))
				}
				first = usagef("environment variable %s: %v", name, err)
			}
		}
	})
	return first
}

// unknownCommand explains a first word that is no command: most often a group.
func unknownCommand(root *cobra.Command, word string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, append(c.Aliases, c.Name())...)
	}
	group := "for the group of that name: kgdiag why " + prose.ShellWord(word)
	if near := prose.Nearest(word, names, max(1, len(word)/3)); near != "" {
		group = "did you mean " + near + "? " + strings.ToUpper(group[:1]) + group[1:]
	}
	return usage(fmt.Sprintf("unknown command %q", word), group)
}

// bare is kgdiag without arguments: how to begin, and which cluster is configured.
func (a *app) bare() error {
	_, err := io.WriteString(a.streams.Out, `kgdiag shows why a Kafka consumer group rebalances, and which setting to change.

  kgdiag why [GROUP]       what is wrong, why, and what to change
  kgdiag watch GROUP       rebalances as they happen; kgdiag top: on one live screen
  kgdiag history GROUP     past rebalances, each with its cause
  kgdiag describe GROUP    members, timeouts, assignment and lag now
  kgdiag advise -f FILE    settings to change, of a file or a group
  kgdiag explain NAME      what a cause or a rule means
  kgdiag locate GROUP      the broker that coordinates it
  kgdiag record GROUP      keep the evidence in a file, to look at later
  kgdiag check             can I connect, and what may I read?
  kgdiag demo              try it on a simulated cluster; kgdiag help lists all

`+a.configured()+"\n")
	return err
}
