package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/internal/input"
	"github.com/kgdiag/kgdiag/internal/project"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/internal/render"
)

// adviseCmd is kgdiag advise.
type adviseCmd struct {
	*app
	groups selection
	configFlags
	logs   []string
	gcLogs []string
	from   string

	batchTime, recordTime, backOff, gcPause string

	since       string
	minSeverity string
	disable     []string
	failOn      string
	project     string
	diff        bool

	// What the flags mean.
	again  string          // the run as it was called, for commands to copy
	agreed project.Project // what the project file says
	floor  advise.Severity // of findings that are shown
	tripAt advise.Severity // --fail-on of a severity; "" for none
	trips  inspect.FailOn  // --fail-on of what has happened; "" for none
}

var _ = command(60, newAdviseCmd)

func newAdviseCmd(a *app) *cobra.Command {
	o := &adviseCmd{app: a}
	c := &cobra.Command{
		Use:   "advise [GROUP…]",
		Short: "check configuration files, live groups, brokers and logs against the rules",
		Long: `Findings on configuration files, live groups, brokers and logs, worst first, each
with what to change and what that costs. A cluster is asked only if a group is
named, or a cluster stands on the command line. -o sarif writes a SARIF 2.1.0 log.

A file .kgdiag.yaml in the working directory (--project) holds what a team agreed on:

  rules:
    disable: [KGD106]
    severity: {KGD403: error}
  groups:
    orders: {batch-time: 8m}`,
		Example: `  kgdiag advise -f consumer.properties --client java@3.7.0 --batch-time 8m
  kgdiag advise -b kafka-1:9092 orders -f orders.properties
  kgdiag advise --log app.log --gc-log gc.log`,
		Annotations: map[string]string{extraOutputs: strings.Join(render.ReportNames(), ",")},
		RunE:        o.run,
	}
	f := c.Flags()
	f.SortFlags = false
	o.configFlags.add(f)
	f.StringArrayVar(&o.logs, "log", nil, "client or broker log `FILE` (repeatable)")
	f.StringArrayVar(&o.gcLogs, "gc-log", nil, "JVM garbage collection log `FILE` (repeatable)")
	f.StringVar(&o.batchTime, "batch-time", "", "longest time between two polls, `8m`")
	f.StringVar(&o.recordTime, "record-time", "", "time that one record takes, `200ms`")
	f.StringVar(&o.backOff, "back-off", "", "longest wait between two tries of a failed batch, `30s`; it is spent between two polls")
	f.StringVar(&o.gcPause, "gc-pause", "", "longest pause of the whole process, `12s`")
	f.StringVar(&o.from, "from", "", "read a case `FILE` instead of a cluster")
	f.StringVar(&o.since, "since", "1h", "history to look at, back to a `TIME`: a duration, an RFC 3339 time, or HH:MM")
	f.StringVar(&o.minSeverity, "min-severity", "warning", "lowest `SEVERITY` to show: info|warning|error")
	f.StringSliceVar(&o.disable, "disable", nil, "rule `ID` that is not run (repeatable)")
	f.StringVar(&o.failOn, "fail-on", "error", "exit 1 from this severity on (a symptom counts as its cause), or if `WHAT` happened: never|info|warning|error|rebalance|eviction|CAUSE")
	f.BoolVar(&o.diff, "diff", false, "print a patch of the -f files that follows the advice, instead of the findings")
	f.StringVar(&o.project, "project", project.File, "project `FILE` with rules and declared times; \"\" for none")
	a.addRateLimit(c)
	o.groups.addFlags(c)
	a.addStrict(c, "if a rule about what was named could not be checked")
	return c
}

func (o *adviseCmd) run(cmd *cobra.Command, args []string) error {
	o.again = argWords(cmd, args) + o.connectWords()
	groups := append(slices.Clone(o.groups.group), args...)
	if err := o.complete(cmd.Context(), groups); err != nil {
		return err
	}
	c, asked, err := o.collect(cmd.Context(), groups)
	if c == nil || err != nil && len(c.Groups) == 0 && len(c.Configs) == 0 && len(c.LogEvents) == 0 {
		return err // nothing was there to advise on, and no word of "ok" may stand for it
	}
	report := advise.Evaluate(c, advise.Options{Disable: o.disable, Severities: o.agreed.Severities})
	show := o.showAdvice
	if o.diff {
		show = o.showPatch
	}
	if failed := show(c, report, asked); failed != nil {
		return failed
	}
	return o.outcome(c, report, err)
}

// showPatch writes what the fixes change in the given files as a patch; an edit whose
// place in the text is not certain is told beside it.
func (o *adviseCmd) showPatch(_ *inspect.Case, r advise.Report, _ []string) error {
	shown := slices.DeleteFunc(r.Findings, func(f advise.Finding) bool { return f.Severity.Rank() < o.floor.Rank() })
	for i, name := range o.files {
		if name == "-" || slices.Contains(o.files[:i], name) {
			continue
		}
		diff, left := advise.Patch(name, o.texts[name], shown)
		if err := o.write([]byte(diff)); err != nil {
			return err
		}
		for _, e := range left {
			o.warn("%s: not in the patch, change it by hand: %s", name, e)
		}
	}
	return nil
}

// complete reads the flags into values; everything that it refuses is a usage error.
func (o *adviseCmd) complete(ctx context.Context, groups []string) error {
	if err := checkIDs(groups); err != nil {
		return err
	}
	var err error
	if o.floor, err = severityFlag("--min-severity", o.minSeverity); err != nil {
		return err
	}
	if err := o.completeFailOn(); err != nil {
		return err
	}
	if o.diff && len(o.files) == 0 {
		return usage("--diff: no file to patch", "name the configuration with -f FILE")
	}
	if o.tripAt != "" && o.floor.Rank() > o.tripAt.Rank() {
		o.warn("--fail-on %s can trip on findings that --min-severity %s hides", o.failOn, o.minSeverity)
	}
	if o.agreed, err = readProject(ctx, o.project); err != nil {
		return err
	}
	o.disable = append(o.disable, o.agreed.Disable...)
	for _, id := range o.disable {
		if _, ok := advise.Lookup(id); !ok {
			return usage(fmt.Sprintf("--disable %s: no such rule", id), "kgdiag rules lists them")
		}
	}
	return o.completeClient()
}

// readProject reads the project file; one that is not there counts as empty unless
// the user named it.
func readProject(ctx context.Context, name string) (project.Project, error) {
	if name == "" {
		return project.Project{}, nil
	}
	data, err := input.Read(ctx, name, project.MaxSize)
	switch {
	case input.IsMissing(err) && name == project.File:
		return project.Project{}, nil
	case err != nil:
		return project.Project{}, inspect.NewFileError(name, err)
	}
	return project.Parse(name, data)
}

// completeFailOn reads --fail-on: a severity, or what history and watch take.
func (o *adviseCmd) completeFailOn() error {
	s := advise.Severity(o.failOn)
	switch {
	case o.failOn == "never":
		return nil
	case s.Rank() > 0:
		o.tripAt = s
		return nil
	}
	var known bool
	if o.trips, known = inspect.ParseFailOn(o.failOn); !known {
		return usage(fmt.Sprintf("--fail-on %q: not known", o.failOn), "want never, info, warning, error, rebalance, eviction or a cause: kgdiag explain lists them")
	}
	return nil
}

func severityFlag(flag, value string) (advise.Severity, error) {
	if s := advise.Severity(value); s.Rank() > 0 {
		return s, nil
	}
	return "", usagef("%s %q: not known, want info, warning or error", flag, value)
}

// collect fills a case from everything that the user named, and says what that was.
// With an error beside a case, the case holds what could be read.
func (o *adviseCmd) collect(ctx context.Context, groups []string) (*inspect.Case, []string, error) {
	c := &inspect.Case{Schema: inspect.CaseSchema, Kgdiag: Version(), GeneratedAt: inspect.At(o.now())}
	var err error
	alone := o.declares() && len(groups) == 0 && !o.groups.any() && o.from == ""
	if c.Configs, err = o.readConfigs(ctx, o.app, alone); err != nil {
		return nil, nil, err
	}
	if c.Declared, err = o.declared(); err != nil {
		return nil, nil, err
	}
	asked := append([]string{}, groups...)
	logs, err := past.ReadLogs(ctx, slices.Concat(o.logs, o.gcLogs), o.logOptions())
	if err != nil {
		return nil, nil, err
	}
	o.warnDropped(logs.Dropped)
	for _, cut := range logs.Cut {
		o.warn("%s", cut)
	}
	if len(c.Configs) > 0 || len(logs.Events) > 0 || len(groups) > 0 {
		for _, n := range logs.Nothing {
			o.warn("%s", n)
		}
	}
	live, liveErr := o.live(ctx, groups, c.Configs)
	if live == nil && liveErr != nil {
		return nil, nil, liveErr
	}
	if live != nil {
		live.Configs, live.Declared = append(live.Configs, c.Configs...), c.Declared
		c = live
		held := c.GroupIDs()
		asked = slices.DeleteFunc(asked, func(g string) bool { return !slices.Contains(held, g) })
	}
	if live == nil {
		c.Brokers = o.brokers
	}
	c.Configs = clientconf.Beside(c.Configs, logs.Configs)
	c.LogEvents, c.LogFiles = append(c.LogEvents, logs.Events...), logs.Files
	if live == nil && len(c.Configs) == 0 && len(c.LogEvents) == 0 && len(c.Brokers) == 0 {
		if len(o.foreign) > 0 {
			return nil, nil, &problem{code: exitUsage, err: o.foreign[0], hint: "looked for " + clientconf.LookedFor}
		}
		if len(logs.Nothing) > 0 {
			return nil, nil, usage(strings.Join(logs.Nothing, "; "), "a log of a consumer, of a Connect worker, of the broker that coordinates the group, or of a JVM's garbage collector has something to advise on")
		}
		return nil, nil, usage("nothing to advise on", "name a group, a configuration (-f FILE), a log (--log FILE) or all groups (--all-groups)")
	}
	for _, f := range o.foreign {
		o.warn("%v; nothing is said of it", f)
	}
	for i := range c.Configs {
		if file := c.Configs[i].Where.File; !slices.Contains(asked, file) {
			asked = append(asked, file)
		}
	}
	return c, asked, liveErr
}

func (o *adviseCmd) declares() bool {
	return o.batchTime != "" || o.recordTime != "" || o.backOff != "" || o.gcPause != ""
}

// declared reads the declared times.
func (o *adviseCmd) declared() (inspect.Declared, error) {
	var d inspect.Declared
	for _, f := range []struct {
		flag, value string
		to          **inspect.Millis
	}{{"--batch-time", o.batchTime, &d.BatchTime}, {"--record-time", o.recordTime, &d.RecordTime}, {"--back-off", o.backOff, &d.BackOff}, {"--gc-pause", o.gcPause, &d.GCPause}} {
		if f.value == "" {
			continue
		}
		span, err := parseSpan(f.flag, f.value)
		if err != nil {
			return d, err
		}
		*f.to = inspect.Ms(span)
	}
	if len(o.agreed.BatchTimes) > 0 {
		d.BatchTimes = o.agreed.BatchTimes
	}
	return d, nil
}

// outcome turns the report into the exit: not found, tripped, or unchecked under
// --strict, in this order.
func (o *adviseCmd) outcome(c *inspect.Case, r advise.Report, err error) error {
	if err != nil {
		return err
	}
	if advise.Trip(r.Findings, o.floor, o.tripAt) {
		return tripped()
	}
	for _, t := range c.Timelines {
		if trips(o.trips, t.Rebalances) {
			return tripped()
		}
	}
	if n := len(advise.Pressing(r.Unchecked, c)); o.flags.strict && n > 0 {
		return incomplete(fmt.Errorf("%s could not be checked (--strict)", prose.Plural(n, "rule")), "-v lists them with what each needs")
	}
	return nil
}
