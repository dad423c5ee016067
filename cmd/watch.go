package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/past"
	"github.com/kgdiag/kgdiag/inspect/watch"
	"github.com/kgdiag/kgdiag/internal/prose"
)

var _ = command(50, newWatchCmd)

// watchCmd is kgdiag watch.
type watchCmd struct {
	*app
	sel         selection
	length      string // --for
	failOn      string
	settle      string
	untilStable string
	members     int
	since       string
	onRisk      string
	metrics     string
	notify      string
	to          string
	logs        []string
	config      configFlags
	causes      []string

	// What the flags mean.
	lookBack  time.Duration // --since, before now
	limit     time.Duration // --for; 0 for none
	calm      time.Duration // --settle
	stable    time.Duration // --until-stable; 0 for none
	trips     inspect.FailOn
	began     time.Time
	tripped   bool
	evictions watch.Evictions
}

func newWatchCmd(a *app) *cobra.Command {
	o := &watchCmd{app: a}
	c := &cobra.Command{
		Use:   "watch [GROUP…]",
		Short: "show rebalances as they happen, one line each",
		Long: `watch follows the groups' __consumer_offsets partitions and describes the groups
beside: named groups (up to 20) every 250ms, more or all of them every 2s and every
250ms from the first sign of a rebalance. It prints each change of members,
generation, settings, state and coordinator, until --for ends or Ctrl-C.`,
		Example: `  kgdiag watch orders
  kgdiag watch orders --for 20m --fail-on rebalance            1 if it rebalanced
  kgdiag watch orders --until-stable 30s --members 6 --for 5m  a deploy gate
  kgdiag watch --metrics 9188 --notify https://hooks.example/kafka
  kgdiag watch -o json | jq 'select(.type=="rebalance")'`,
		RunE: o.run,
	}
	f := c.Flags()
	o.sel.addFlags(c)
	f.StringVar(&o.length, "for", "", "end after this `TIME`: a duration")
	f.StringVar(&o.failOn, "fail-on", "never", "exit 1 if `WHAT` happened: never|rebalance|eviction|CAUSE")
	f.StringVar(&o.settle, "settle", "", "ignore for --fail-on what happens within this `TIME`")
	f.StringVar(&o.untilStable, "until-stable", "", "end with 0 as soon as the groups are Stable for this `TIME`, with 1 when --for ends first")
	f.StringVar(&o.since, "since", "1h", "judge causes by the log since this `TIME`; if given, show its rebalances first")
	f.StringSliceVar(&o.causes, "cause", nil, "show only rebalances of this `CAUSE`, once it is known (repeatable)")
	f.StringArrayVar(&o.logs, "log", nil, "client or broker log `FILE`, read again as it grows: turns inferred causes into stated ones (repeatable)")
	o.config.addTimeouts(f)
	a.addRateLimit(c)
	f.StringVar(&o.to, "to", "", "keep what is seen as a case `FILE`, which why, history and advise take with --from")
	f.StringVar(&o.onRisk, "on-risk", "", "run this `CMD` (sh -c) when a member is about to be evicted; KGDIAG_GROUP, KGDIAG_MEMBER, … say which")
	f.StringVar(&o.metrics, "metrics", "", "serve OpenMetrics at `ADDRESS`, path /metrics: PORT for this machine alone, or HOST:PORT")
	f.StringVar(&o.notify, "notify", "", "POST each cause as JSON to this `URL`, once it is settled: at once if very likely, else after a minute")
	f.IntVar(&o.members, "members", 0, "`NUMBER` of members that --until-stable asks of each group")
	return c
}

func (o *watchCmd) run(c *cobra.Command, args []string) error {
	ctx := c.Context()
	sel, err := o.sel.choose(o.app, args)
	if err != nil {
		return err
	}
	sel.Groups = distinct(sel.Groups)
	if err := o.validate(c, sel.Groups); err != nil {
		return err
	}
	sel.All = len(sel.Groups) == 0
	s, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	cfg := watch.Config{Collector: s.collector, Scanner: s.scanner, Selection: sel, Now: o.now, Forget: o.to == ""}
	if cfg.Configs, err = o.config.timeouts(ctx, o.app); err != nil {
		return err
	}
	cfg.Since, cfg.Past = o.lookBack, c.Flags().Changed("since")
	if len(o.logs) > 0 {
		logs, err := past.FollowLogs(ctx, o.logs, o.logOptions())
		if err != nil {
			return err
		}
		o.warnDropped(logs.Dropped)
		cfg.Said = logs.Said
	}
	if o.stable > 0 {
		cfg.Until = &watch.Until{For: o.stable, Members: o.members}
	}
	return o.follow(ctx, watch.New(cfg))
}

// validate reads the flags.
func (o *watchCmd) validate(c *cobra.Command, ids []string) error {
	for _, d := range []struct {
		flag, text string
		to         *time.Duration
	}{{"--for", o.length, &o.limit}, {"--settle", o.settle, &o.calm}, {"--until-stable", o.untilStable, &o.stable}} {
		if d.text == "" {
			continue
		}
		v, err := parseSpan(d.flag, d.text)
		if err != nil {
			return err
		}
		*d.to = v
	}
	switch {
	case o.sel.any() && len(ids) > 0:
		return usage("groups, and also --all-groups, --regex, --state or --type: want one or the other", "")
	case o.stable > 0 && o.limit == 0:
		return usage("--until-stable needs --for: how long to wait at most", "kgdiag watch GROUP --until-stable 30s --members 6 --for 5m")
	case o.stable > 0 && len(ids) == 0:
		return usage("--until-stable needs groups by name", "")
	case o.stable > o.limit && o.stable > 0:
		return usagef("--until-stable %s: longer than --for %s, so it could not hold", o.untilStable, o.length)
	case c.Flags().Changed("members") && o.stable == 0:
		return usage("--members goes with --until-stable", "")
	case o.to != "" && exists(o.to):
		return usage(fmt.Sprintf("%s: exists already", o.to), "name another file for --to")
	case o.members < 0:
		return usagef("--members %d: want at least 1", o.members)
	}
	if _, err := parseCauses(o.causes); err != nil {
		return err
	}
	if err := o.validateOutlets(); err != nil {
		return err
	}
	from, err := o.parseMoment("--since", o.since, o.now())
	if err != nil {
		return err
	}
	if o.lookBack = o.now().Sub(from); o.lookBack <= 0 {
		return usagef("--since %s: lies ahead", o.since)
	}
	o.trips, err = parseFailOn(o.failOn)
	return err
}

// exists reports whether a file is there.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// follow watches and shows.
func (o *watchCmd) follow(ctx context.Context, w *watch.Watcher) error {
	limit, err := o.timeout()
	if err != nil {
		return err
	}
	listener, err := o.listen()
	if err != nil {
		return err
	}
	starting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	info, err := w.Start(starting)
	if err != nil {
		return o.startFailed(err)
	}
	o.began = o.now()
	out := o.writer(info)
	if err := out.start(info); err != nil {
		return err
	}
	for _, g := range info.Unlisted {
		o.warn("%s: %s", g.What, g.Why)
	}
	if o.onRisk != "" && !info.Log && !info.Offsets {
		o.warn("--on-risk: only commits tell that a member is silent, and __consumer_offsets is not read: the command will not run; name up to 20 groups, and their offsets are polled")
	}
	if o.limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, o.limit, errForEnded)
		defer stop()
	}
	risk := &riskRunner{a: o.app, command: o.onRisk}
	outlets, err := o.outlets(ctx, listener, info)
	if err != nil {
		return err
	}
	saved := o.began
	result, err := w.Run(ctx, func(e watch.Event) error {
		o.weigh(&e)
		risk.run(ctx, &e)
		outlets.event(&e)
		if now := o.now(); o.to != "" && now.Sub(saved) >= saveEvery {
			saved = now
			if err := o.save(w); err != nil {
				return err
			}
		}
		if !o.wanted(&e) {
			return nil
		}
		return out.event(&e)
	})
	risk.wait()
	outlets.close()
	if saveErr := o.save(w); err == nil {
		err = saveErr
	}
	if err != nil {
		return err
	}
	reason := o.reason(ctx, result)
	if err := out.end(result, reason, o.now().Sub(o.began)); err != nil {
		return err
	}
	return o.outcome(result, reason)
}

// wanted is --cause: what is told of these causes, and what the watch has to say of
// itself.
func (o *watchCmd) wanted(e *watch.Event) bool {
	if len(o.causes) == 0 {
		return true
	}
	switch e.Type {
	case watch.CauseFound, watch.CauseSoFar:
		return slices.Contains(o.causes, string(e.Cause))
	case watch.RebalanceDone:
		return e.Past && slices.Contains(o.causes, string(e.Cause))
	case watch.SourceLost, watch.SourceBack, watch.ClockOff, watch.GroupWaiting, watch.GroupAppeared, watch.GroupDeleted:
		return true
	}
	return false
}

// saveEvery is how often the case file is brought up to date, at most.
const saveEvery = time.Minute

// save writes what the watch has kept, if --to asks for it; the file is replaced
// whole.
func (o *watchCmd) save(w *watch.Watcher) error {
	if o.to == "" {
		return nil
	}
	_, err := past.WriteFile(o.to, w.Case())
	return err
}

// errForEnded is the cause by which --for ends a watch.
var errForEnded = errors.New("--for ended")

// startFailed explains a watch that could not begin.
func (o *watchCmd) startFailed(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return incomplete(fmt.Errorf("watch: no answer within --timeout %s", o.flags.timeout), "")
	}
	return err
}

// weigh keeps what --fail-on and the last line need.
func (o *watchCmd) weigh(e *watch.Event) {
	o.evictions.Add(e)
	if e.Trips(o.trips) && !e.At().Before(o.began.Add(o.calm)) {
		o.tripped = true
	}
}

// endReason is why a watch ended.
type endReason string

const (
	endFor         endReason = "for"
	endStable      endReason = "stable"
	endInterrupted endReason = "interrupted"
	endTerminated  endReason = "terminated"
)

// reason finds out why the watch ended.
func (o *watchCmd) reason(ctx context.Context, r *watch.Result) endReason {
	switch {
	case r.Stable:
		return endStable
	case errors.Is(context.Cause(ctx), errForEnded):
		return endFor
	case o.terminated():
		return endTerminated
	}
	return endInterrupted
}

// outcome is the exit code of a watch that ended for this reason.
func (o *watchCmd) outcome(r *watch.Result, reason endReason) error {
	switch {
	case reason == endTerminated && o.limit > 0:
		return incomplete(errors.New("terminated before --for ended: what came was shown, what did not come is no all-clear"), "")
	case o.tripped:
		return tripped()
	case o.stable > 0 && reason == endInterrupted:
		return incomplete(errors.New("interrupted before the groups were stable"), "")
	case o.stable > 0 && reason == endFor && len(r.NeverCame) == 0:
		o.warn("not stable within %s: %s", o.length, notYetText(r))
		return tripped()
	case len(r.Blind) > 0:
		return incomplete(fmt.Errorf("group %s: nothing of it could be read, so nothing was watched", prose.Quoted(r.Blind)),
			"kgdiag check says what may be read, and the ACLs for the rest")
	case len(r.Unlisted) > 0:
		return incomplete(fmt.Errorf("%s: not listed, so nothing of them was watched", strings.Join(r.Unlisted, ", ")), "kgdiag check says which brokers answer")
	case len(r.NeverCame) > 0:
		return notFound(fmt.Errorf("group %s: never came", prose.Quoted(r.NeverCame)), "")
	}
	return nil
}

// notYetText says what the groups lack.
func notYetText(r *watch.Result) string {
	var parts []string
	for id, what := range r.NotYet {
		parts = append(parts, id+" is "+what)
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

// writer is how events are shown: lines, or NDJSON.
func (o *watchCmd) writer(info *watch.Info) watchWriter {
	if o.flags.output == "json" {
		return &watchJSON{o: o}
	}
	return newWatchLines(o, info)
}

// watchWriter shows a watch.
type watchWriter interface {
	start(*watch.Info) error
	event(*watch.Event) error
	end(*watch.Result, endReason, time.Duration) error
}

// caseOf is the Case of the start for envelopes: never nil.
func caseOf(info *watch.Info) *inspect.Case {
	if info.Case != nil {
		return info.Case
	}
	return &inspect.Case{}
}
