package cmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientlog"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/locate"
)

// pastFlags are the flags of the commands that look back: why, history, record.
type pastFlags struct {
	groups selection
	since  string
	until  string
	logs   []string
	gcLogs []string
	pods   []string
	from   string
	budget sizeValue
	config configFlags
	length string // --for

	// What they mean.
	lookFor time.Duration
	configs []inspect.ClientConfig
}

// add adds the flags that say where and when to look.
func (p *pastFlags) add(a *app, c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&p.since, "since", usualSince, "how far back, a `TIME`: a duration (also 2d, 1w), an RFC 3339 time, or HH:MM")
	f.StringVar(&p.until, "until", "", "up to which `TIME`, written as for --since; now if empty")
	p.addFiles(f)
	f.StringVar(&p.from, "from", "", "read a case `FILE` that record wrote, instead of a cluster")
	f.Var(&p.budget, "budget", "read no more of the offsets log than about this `SIZE`, from its end: 200MB")
	a.addRateLimit(c)
	p.config.addTimeouts(f)
	p.groups.addFlags(c)
}

// addFiles adds the flags that name logs, and what a platform says.
func (p *pastFlags) addFiles(f *pflag.FlagSet) {
	f.StringArrayVar(&p.logs, "log", nil, "client or broker log `FILE`: turns inferred causes into stated ones (repeatable)")
	f.StringArrayVar(&p.gcLogs, "gc-log", nil, "JVM garbage collection log `FILE`: shows pauses (repeatable)")
	f.StringArrayVar(&p.pods, "pods", nil, "`FILE` with kubectl get pods -o json, or events, or docker inspect: shows crashes and restarts (repeatable)")
}

// addFor adds --for to a command that can look at the groups before it reads their past.
func (p *pastFlags) addFor(c *cobra.Command) {
	c.Flags().StringVar(&p.length, "for", "0", "also look at the groups live for this `TIME`, a duration, and keep what is seen")
}

// complete reads --for, and the configurations.
func (p *pastFlags) complete(ctx context.Context, command string, a *app) (err error) {
	if p.configs, err = p.config.timeouts(ctx, a); err != nil {
		return err
	}
	switch {
	case p.length == "" || p.length == "0" || p.length == "0s":
		return nil
	case p.from != "":
		return usage(command+": --for looks at a cluster, and --from names a file", "leave one of them out")
	case p.until != "":
		return usage(fmt.Sprintf("%s: --for looks from now on, and --until %s ends before", command, p.until), "leave one of them out")
	}
	p.lookFor, err = parseSpan("--for", p.length)
	return err
}

// sizeValue is a flag of bytes; 0 for none.
type sizeValue int64

// Set, String and Type are pflag's.
func (v *sizeValue) Set(s string) error {
	n, err := prose.ParseSize(s)
	*v = sizeValue(n)
	return err
}

func (v *sizeValue) String() string {
	if *v == 0 {
		return ""
	}
	return strings.ReplaceAll(prose.Size(int64(*v)), " ", "")
}

// Type is the word for a value in help.
func (v *sizeValue) Type() string { return "SIZE" }

// pace is the value as bytes a second, for a line; "" for none.
func (v *sizeValue) pace() string {
	if *v == 0 {
		return ""
	}
	return ", at most " + prose.Size(int64(*v)) + "/s"
}

// addRateLimit adds --rate-limit to a command that scans the offsets log.
func (a *app) addRateLimit(c *cobra.Command) {
	c.Flags().Var(&a.flags.rateLimit, "rate-limit", "scan the offsets log with so many bytes a second at most: a `SIZE` as 20MB")
}

// window is the span that --since and --until name, as seen from a moment.
func (p *pastFlags) window(a *app, now time.Time) (inspect.Window, error) {
	from, err := a.parseMoment("--since", p.since, now)
	if err != nil {
		return inspect.Window{}, err
	}
	to := now
	if p.until != "" {
		if to, err = a.parseMoment("--until", p.until, now); err != nil {
			return inspect.Window{}, err
		}
	}
	if !from.Before(to) {
		return inspect.Window{}, usagef("--since %s is not before --until %s", p.since, p.until)
	}
	return inspect.Window{From: inspect.At(from), To: inspect.At(to)}, nil
}

// query is what to read of a window.
func (p *pastFlags) query(a *app, sel collect.Selection, want collect.Want, w inspect.Window) past.Query {
	return past.Query{Selection: sel, Want: want, Window: w, UntilNow: p.until == "", Gone: true, Logs: p.logs, GCLogs: p.gcLogs, LogOptions: a.logOptions(), Processes: p.pods, Configs: p.configs, Budget: int64(p.budget)}
}

// read reads from the case file that --from names, or from the cluster.
func (p *pastFlags) read(c *cobra.Command, a *app, sel collect.Selection, want collect.Want) (*past.Past, error) {
	w, err := p.window(a, a.now())
	if err != nil {
		return nil, err
	}
	if p.from != "" {
		return p.readFile(c, a, sel)
	}
	s, err := a.open(c.Context())
	if err != nil {
		return nil, err
	}
	defer s.close()
	if p.lookFor > 0 {
		return p.look(c.Context(), a, s, p.query(a, sel, want, w))
	}
	return a.readPast(c.Context(), s, p.query(a, sel, want, w))
}

// readFile reads from a case file. Spans count back from when it was written, and
// without --since its own window is shown.
func (p *pastFlags) readFile(c *cobra.Command, a *app, sel collect.Selection) (*past.Past, error) {
	a.old = true
	held, err := past.ReadFile(c.Context(), p.from)
	if err != nil {
		return nil, err
	}
	w, err := p.window(a, past.WrittenAt(held))
	if err != nil {
		return nil, err
	}
	if !c.Flags().Changed("since") && !held.Window.From.IsZero() {
		w.From = held.Window.From
	}
	if p.until == "" && !held.Window.To.IsZero() {
		w.To = held.Window.To
	}
	return a.told(past.FromCase(c.Context(), held, p.from, p.query(a, sel, collect.Want{}, w)))
}

// readPast reads from the cluster of a session, and shows how far it is.
func (a *app) readPast(ctx context.Context, s *session, q past.Query) (*past.Past, error) {
	bar := a.progress("reading " + locate.OffsetsTopic + a.flags.rateLimit.pace())
	defer bar.done()
	limited, cancel := s.within(ctx)
	defer cancel()
	r := s.reader()
	r.Progress = func(p offsetlog.Progress) { bar.show(p.Offsets, p.Total, p.Bytes) }
	p, err := a.told(r.Read(limited, q))
	if err != nil {
		return nil, groupsError(err)
	}
	return p, nil
}

// told warns of what was left out of the log files.
func (a *app) told(p *past.Past, err error) (*past.Past, error) {
	if p != nil {
		a.warnDropped(p.Dropped)
		for _, u := range p.Unread {
			a.warn("%s", u)
		}
	}
	return p, err
}

// warnDropped says how many events of log files were left out.
func (a *app) warnDropped(events int) {
	if events > 0 {
		a.warn("the logs hold more than %s events: %s of them were left out", prose.Count(past.MostEvents), prose.Count(int64(events)))
	}
}

// logOptions say what the times in log files leave open.
func (a *app) logOptions() clientlog.Options {
	return clientlog.Options{Zone: a.zone(), Day: a.now()}
}

// causeFlags are the flags of the commands that tell causes: why and history.
type causeFlags struct {
	causes []string
	whatIf []string
	failOn string
}

// add adds them to a command.
func (o *causeFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&o.causes, "cause", nil, "only rebalances of this `CAUSE` (repeatable)")
	f.StringArrayVar(&o.whatIf, "what-if", nil, "replay the window with `key=value`: max.poll.interval.ms, session.timeout.ms, group.instance.id (repeatable)")
	f.StringVar(&o.failOn, "fail-on", "never", "exit 1 if `WHAT` is found: never|rebalance|eviction|CAUSE")
}

// choice is what they mean.
type choice struct {
	causes []inspect.Cause
	replay *inspect.Overrides // nil without --what-if
	failOn inspect.FailOn
}

// read reads the flags.
func (o *causeFlags) read() (choice, error) {
	var out choice
	var err error
	if out.failOn, err = parseFailOn(o.failOn); err != nil {
		return out, err
	}
	if out.causes, err = parseCauses(o.causes); err != nil {
		return out, err
	}
	out.replay, err = parseWhatIf(o.whatIf)
	return out, err
}

// usualSince is how far back commands look.
const usualSince = "1h"

// pastWords are the flags that say where and when to look, for commands to copy.
func (p *pastFlags) pastWords() string {
	return p.adviseWords() + flagWords("--until", p.until) + flagWords("--pods", p.pods...)
}

// adviseWords are those of them that advise has too.
func (p *pastFlags) adviseWords() string {
	since := p.since
	if since == usualSince {
		since = ""
	}
	return flagWords("--from", p.from) + flagWords("--since", since) + flagWords("--log", p.logs...) + flagWords("--gc-log", p.gcLogs...) + p.config.words()
}

// sourceWords are the flags that name files to read.
func (p *pastFlags) sourceWords() string {
	return flagWords("--from", p.from) + flagWords("--log", p.logs...) + flagWords("--gc-log", p.gcLogs...) + flagWords("--pods", p.pods...) + p.config.words()
}

// argWords are the arguments of a command line and its flags, but for those of all commands.
func argWords(c *cobra.Command, args []string) string {
	words := flagWords("", args...)
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			return
		}
		name, values := "--"+f.Name, []string{f.Value.String()}
		if f.Shorthand != "" {
			name = "-" + f.Shorthand
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if f.NoOptDefVal != "" {
			words += " " + name
			return
		}
		words += flagWords(name, values...)
	})
	return words
}

// flagWords is a flag with each of its values that is not empty.
func flagWords(flag string, values ...string) string {
	words := ""
	for _, v := range values {
		if v != "" {
			words += strings.TrimRight(" "+flag, " ") + " " + prose.ShellWord(v)
		}
	}
	return words
}
