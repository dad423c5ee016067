package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/inspect/timeline"
	"github.com/kgdiag/kgdiag/locate"
)

// pastOptions are the flags of the commands that look back: why, history, record.
type pastOptions struct {
	groups selection
	since  string
	until  string
	causes []string
	logs   []string
	whatIf []string
	from   string

	sinceGiven bool // --since was given, here or by the environment
	begin, end time.Time
	ongoing    bool // --until was not given: the window ends now
	broad      bool // many groups: look further back only for those that rebalanced
	replay     *inspect.Overrides
}

// addFlags adds the flags that say where and when to look.
func (o *pastOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&o.since, "since", "1h", "how far back: a duration (also 2d, 1w), an RFC 3339 time, or HH:MM")
	f.StringVar(&o.until, "until", "", "up to when, likewise; now if empty")
	f.StringArrayVar(&o.logs, "log", nil, "client or broker log `FILE`: turns inferred causes into stated ones (repeatable)")
	f.StringVar(&o.from, "from", "", "read a case `FILE` that record wrote, instead of a cluster")
	o.groups.addFlags(c)
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		o.sinceGiven = c.Flags().Changed("since")
		return nil
	}
}

// addCauseFlags adds what chooses among rebalances.
func (o *pastOptions) addCauseFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVar(&o.causes, "cause", nil, "only rebalances of this `CAUSE` (repeatable)")
	f.StringArrayVar(&o.whatIf, "what-if", nil, "replay the window with `key=value`: max.poll.interval.ms, session.timeout.ms, group.instance.id (repeatable)")
}

// complete reads the flags into values.
func (o *pastOptions) complete(a *app) error {
	var err error
	if o.begin, err = a.parseMoment("--since", o.since); err != nil {
		return err
	}
	o.end, o.ongoing = a.now(), true
	if o.until != "" {
		if o.end, err = a.parseMoment("--until", o.until); err != nil {
			return err
		}
		o.ongoing = false
	}
	if !o.begin.Before(o.end) {
		return usagef("--since %s is not before --until %s", o.since, o.until)
	}
	for _, c := range o.causes {
		if !slices.Contains(inspect.Causes(), inspect.Cause(c)) {
			return usage(fmt.Sprintf("--cause %q: no such cause", c), "kgdiag explain lists them")
		}
	}
	o.replay, err = parseWhatIf(o.whatIf)
	return err
}

// causeOptions are the flags of the commands that tell causes: why and history.
type causeOptions struct {
	past   pastOptions
	failOn string
	trips  func(inspect.Rebalance) bool
}

// addFlags adds them to a command.
func (o *causeOptions) addFlags(c *cobra.Command) {
	o.past.addFlags(c)
	o.past.addCauseFlags(c)
	c.Flags().StringVar(&o.failOn, "fail-on", "never", "exit 1 if it is found: never|rebalance|eviction|CAUSE")
}

// rebalanceTrip reads --fail-on of commands that look back: nothing of low
// confidence trips it.
func rebalanceTrip(failOn string) (func(inspect.Rebalance) bool, error) {
	switch {
	case failOn == "never":
		return func(inspect.Rebalance) bool { return false }, nil
	case failOn == "rebalance":
		return func(inspect.Rebalance) bool { return true }, nil
	case failOn == "eviction":
		sure := func(_ inspect.Cause, c inspect.Confidence) bool { return c != inspect.Low }
		return func(r inspect.Rebalance) bool { return evictionsOf(&r, sure) > 0 }, nil
	case slices.Contains(inspect.Causes(), inspect.Cause(failOn)):
		return func(r inspect.Rebalance) bool {
			named := func(c inspect.Cause, conf inspect.Confidence) bool { return string(c) == failOn && conf != inspect.Low }
			return named(r.Cause, r.Confidence) || evictionsOf(&r, named) > 0
		}, nil
	}
	return nil, usage(fmt.Sprintf("--fail-on %q: not known", failOn), "want never, rebalance, eviction or a cause: kgdiag explain lists them")
}

// parseWhatIf reads --what-if key=value; nil where none was given.
func parseWhatIf(list []string) (*inspect.Overrides, error) {
	if len(list) == 0 {
		return nil, nil
	}
	o := &inspect.Overrides{}
	for _, kv := range list {
		key, val, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, usage(fmt.Sprintf("--what-if %q: want key=value", kv), "--what-if max.poll.interval.ms=600000")
		}
		switch key {
		case "group.instance.id":
			o.Static = val != ""
		case "max.poll.interval.ms", "session.timeout.ms":
			d, err := settingMillis(val)
			if err != nil {
				return nil, usage(fmt.Sprintf("--what-if %s: %v", kv, err), "--what-if "+key+"=600000")
			}
			if key == "max.poll.interval.ms" {
				o.PollInterval = inspect.Ms(d)
			} else {
				o.Session = inspect.Ms(d)
			}
		default:
			return nil, usage(fmt.Sprintf("--what-if %s: cannot be replayed", kv), "want max.poll.interval.ms, session.timeout.ms or group.instance.id")
		}
	}
	return o, nil
}

// settingMillis reads the value of a setting: milliseconds as Kafka takes them, or a
// Go duration.
func settingMillis(s string) (time.Duration, error) {
	var ms int64
	if _, err := fmt.Sscanf(s, "%d", &ms); err == nil && fmt.Sprint(ms) == s {
		if ms < 1 || ms > 1<<31-1 {
			return 0, errors.New("want 1 to 2147483647 milliseconds")
		}
		return time.Duration(ms) * time.Millisecond, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Millisecond || d > (1<<31-1)*time.Millisecond {
		return 0, errors.New("want milliseconds, or a duration such as 10m")
	}
	return d, nil
}

// The bounds of looking back.
const (
	// prelude is read before the window, so that the first rebalance in it has
	// something before it, and commits that show a cadence.
	prelude = 30 * time.Minute
	// lookBackFor is how long kgdiag goes on looking for older records of groups
	// whose state before the window is not known yet.
	lookBackFor = 8 * time.Second
)

// lookBacks are the steps by which it does.
var lookBacks = []time.Duration{6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 0}

// past reads what the log holds of the groups in the case, since before the window,
// and rebuilds their timelines. What cannot be read becomes Gaps; the error is for
// callers that can do nothing without.
func (a *app) past(ctx context.Context, s *session, c *inspect.Case, ids []string, o *pastOptions) error {
	c.Window.From, c.Window.To = inspect.At(o.begin), inspect.At(o.end)
	r := &pastReader{app: a, s: s, c: c, o: o}
	err := r.read(ctx, ids)
	c.Records = r.thin.Records()
	c.Logs = mergeLogs(r.logs)
	a.build(c)
	return err
}

// rebuild builds the timelines of a case that was read from a file. One that holds
// neither records nor what polls saw keeps those that it came with.
func (a *app) rebuild(c *inspect.Case) {
	if len(c.Records) > 0 || len(c.Timelines) == 0 && len(c.Observations) > 0 {
		a.build(c)
	}
}

// build rebuilds the timelines of a case.
func (a *app) build(c *inspect.Case) {
	c.Timelines = timeline.Build(c, timeline.Options{})
	for _, t := range c.Timelines {
		if t.CompleteSince.After(c.Window.CompleteSince.Time) {
			c.Window.CompleteSince = t.CompleteSince
		}
	}
}

// pastReader reads the log for one command.
type pastReader struct {
	*app
	s    *session
	c    *inspect.Case
	o    *pastOptions
	thin timeline.Thinner
	logs []inspect.PartitionLog
}

// read scans the window, and then further back for groups whose state before it is
// still unknown. Older records are put before newer ones: a Thinner wants them in
// order, so the look-back comes first.
func (r *pastReader) read(ctx context.Context, ids []string) error {
	parts, err := r.partitions(ids)
	if err != nil || len(parts) == 0 {
		return err
	}
	first := r.o.begin.Add(-prelude)
	want := map[string]bool{}
	for _, id := range ids {
		want[id] = true
	}
	var window []inspect.Record
	early := &timeline.Thinner{}
	logs, err := r.scan(ctx, parts, want, offsetlog.AtTime(first), offsetlog.Point{}, early)
	r.logs = logs
	window = early.Records()
	r.gaps(parts, err)
	if err != nil && len(window) == 0 {
		return err
	}
	r.before(ctx, parts, want, window, first)
	for _, rec := range window {
		r.thin.Add(rec)
	}
	return nil
}

// partitions maps the groups to their offsets partitions.
func (r *pastReader) partitions(ids []string) (map[int32][]string, error) {
	n := r.c.Cluster.OffsetsPartitions
	out := map[int32][]string{}
	known := map[string]int32{}
	for _, g := range r.c.Groups {
		known[g.ID] = g.Partition
	}
	for _, id := range ids {
		p, ok := known[id]
		if !ok || p < 0 {
			if n <= 0 {
				continue
			}
			var err error
			if p, err = locate.Partition(id, n); err != nil {
				return nil, err
			}
		}
		out[p] = append(out[p], id)
	}
	if len(out) == 0 && len(ids) > 0 {
		return nil, errNoLog
	}
	return out, nil
}

// errNoLog is a cluster whose offsets topic cannot be seen.
var errNoLog = errors.New("the placement of " + offsetlog.Topic + " is not known")

// scan reads a span of partitions into a Thinner.
func (r *pastReader) scan(ctx context.Context, parts map[int32][]string, want map[string]bool, from, to offsetlog.Point, into *timeline.Thinner) ([]inspect.PartitionLog, error) {
	req := offsetlog.Request{Partitions: sortedPartitions(parts), Filter: offsetlog.Filter{Groups: want, Commits: true}, From: from, To: to}
	bar := r.progress("reading " + offsetlog.Topic)
	req.Progress = func(p offsetlog.Progress) { bar.show(p.Offsets, p.Total) }
	defer bar.done()
	return r.s.scanner.Scan(ctx, req, func(rec inspect.Record) error {
		into.Add(rec)
		return nil
	})
}

func sortedPartitions(parts map[int32][]string) []int32 {
	out := make([]int32, 0, len(parts))
	for p := range parts {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

// before looks further back, in growing steps, for groups of which the window shows
// no rebalance, or one whose predecessor is not known.
func (r *pastReader) before(ctx context.Context, parts map[int32][]string, want map[string]bool, window []inspect.Record, first time.Time) {
	limited, cancel := context.WithTimeout(ctx, lookBackFor)
	defer cancel()
	var older [][]inspect.Record
	to := first
	for _, step := range lookBacks {
		open := r.open(append(slices.Concat(older...), window...), parts)
		if len(open) == 0 {
			break
		}
		from := offsetlog.Point{}
		begin := time.Time{}
		if step > 0 {
			begin = first.Add(-step)
			from = offsetlog.AtTime(begin)
		}
		th := &timeline.Thinner{}
		logs, err := r.scan(limited, open, want, from, offsetlog.AtTime(to), th)
		if err != nil {
			break // the time is over, or the log is: what was found before stands
		}
		r.logs = append(r.logs, logs...)
		older = append([][]inspect.Record{th.Records()}, older...)
		to = begin
	}
	for _, list := range older {
		for _, rec := range list {
			r.thin.Add(rec)
		}
	}
}

// open are the partitions with groups whose state before the window is not known.
func (r *pastReader) open(records []inspect.Record, parts map[int32][]string) map[int32][]string {
	settled := map[string]bool{}
	c := &inspect.Case{Records: records, Groups: r.c.Groups, Window: r.c.Window}
	for _, t := range timeline.Build(c, timeline.Options{}) {
		known := 0
		if r.o.broad && len(t.Rebalances) == 0 {
			known++
		}
		for _, rb := range t.Rebalances {
			if rb.PreviousGeneration != nil || rb.Members.Before > 0 || len(rb.Members.Joined) > 0 {
				known++
			}
		}
		// The first rebalance of all is only a beginning; one with a predecessor tells.
		settled[t.Group] = known > 0
	}
	out := map[int32][]string{}
	for p, ids := range parts {
		for _, id := range ids {
			if done, seen := settled[id]; !done && (seen || !r.o.broad) {
				out[p] = append(out[p], id)
			}
		}
	}
	return out
}

// gaps says what the scan could not read.
func (r *pastReader) gaps(parts map[int32][]string, err error) {
	if err == nil {
		return
	}
	why := logTrouble(err)
	for _, p := range sortedPartitions(parts) {
		for _, id := range parts[p] {
			g := inspect.Gap{Group: id, Fact: inspect.FactHistory, What: "history", Why: why}
			if errors.Is(err, kerr.TopicAuthorizationFailed) {
				g.Needs = "READ on Topic " + offsetlog.Topic
			}
			r.c.Gaps = append(r.c.Gaps, g)
		}
	}
}

// logTrouble puts an error of the scan into a reader's words.
func logTrouble(err error) string {
	switch {
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return "READ on " + offsetlog.Topic + " denied"
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return offsetlog.Topic + " does not exist"
	case errors.Is(err, context.DeadlineExceeded):
		return "the time that --timeout allows was over"
	}
	return err.Error()
}

// historyError explains a log that could not be read at all.
func historyError(ids []string, err error) error {
	name := "history"
	if len(ids) == 1 {
		name = fmt.Sprintf("history of %q", ids[0])
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, errNoLog):
		word := "GROUP"
		if len(ids) > 0 {
			word = shellWord(ids[0])
		}
		return incomplete(fmt.Errorf("%s: %s", name, logTrouble(err)),
			"kafka-acls --add --allow-principal User:NAME --operation Read --topic "+offsetlog.Topic+
				"\nwithout it: kgdiag watch "+word+" (from now on), kgdiag why "+word+" --log FILE")
	}
	return incomplete(fmt.Errorf("%s: %s", name, logTrouble(err)), "")
}

// mergeLogs joins what several scans say of one partition: the union of the spans,
// and the latest moment since which nothing is missing.
func mergeLogs(in []inspect.PartitionLog) []inspect.PartitionLog {
	var out []inspect.PartitionLog
	at := map[int32]int{}
	for _, l := range in {
		i, ok := at[l.Partition]
		if !ok {
			at[l.Partition] = len(out)
			out = append(out, l)
			continue
		}
		m := &out[i]
		older, newer := l, *m
		if older.From > newer.From {
			older, newer = newer, older
		}
		joined := newer
		joined.From = older.From
		if newer.CompleteFrom <= newer.From { // whole, so the older one decides
			joined.CompleteFrom, joined.CompleteSince = older.CompleteFrom, older.CompleteSince
		}
		joined.Records += older.Records
		joined.Bytes += older.Bytes
		joined.Unknown += older.Unknown
		joined.Malformed += older.Malformed
		*m = joined
	}
	slices.SortFunc(out, func(a, b inspect.PartitionLog) int { return int(a.Partition - b.Partition) })
	return out
}

// collectPast describes the groups and reads their past. The case is nil only if
// nothing could be asked; beside a case the error says what it lacks.
func (a *app) collectPast(ctx context.Context, s *session, o *pastOptions, sel collect.Selection, want collect.Want) (*inspect.Case, []string, error, error) {
	limited, cancel := context.WithTimeout(ctx, s.conn.Timeout())
	defer cancel()
	c, err := s.collector.Collect(limited, sel, want)
	if c == nil {
		return nil, nil, err, nil
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx), nil
	}
	ids := slices.Clone(sel.Groups)
	for _, g := range c.Groups {
		if !slices.Contains(sel.Groups, g.ID) {
			ids = append(ids, g.ID)
		}
	}
	o.broad = sel.All && len(ids) > 20
	logs := adviseOptions{app: a, logs: o.logs}
	found, logErr := logs.readLogs(ctx)
	if logErr != nil {
		return nil, nil, logErr, nil
	}
	c.LogEvents, c.Configs = found.events, append(c.Configs, found.configs...)
	pastErr := a.past(ctx, s, c, ids, o)
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx), nil
	}
	// A group that is gone is not found by its coordinator, and yet has a past.
	return c, ids, a.goneButRemembered(c, err), pastErr
}

// goneButRemembered drops from a not-found error the groups whose past was read.
func (a *app) goneButRemembered(c *inspect.Case, err error) error {
	var missing *collect.NotFoundError
	if !errors.As(err, &missing) {
		return err
	}
	var left []string
	for _, id := range missing.Groups {
		if t := timelineFor(c, id); t == nil || len(t.Rebalances) == 0 {
			left = append(left, id)
		}
	}
	if len(left) == len(missing.Groups) {
		return err
	}
	var open *collect.IncompleteError
	if len(left) == 0 {
		if errors.As(err, &open) {
			return open
		}
		return nil
	}
	m := *missing
	m.Groups = left
	if errors.As(err, &open) {
		return errors.Join(open, &m)
	}
	return &m
}

// timelineFor is a group's timeline in a case; nil where there is none.
func timelineFor(c *inspect.Case, id string) *inspect.Timeline {
	for i := range c.Timelines {
		if c.Timelines[i].Group == id {
			return &c.Timelines[i]
		}
	}
	return nil
}

// inWindow are the rebalances of a timeline that the flags choose.
func (o *pastOptions) inWindow(t *inspect.Timeline) []inspect.Rebalance {
	out := []inspect.Rebalance{}
	if t == nil {
		return out
	}
	for _, r := range t.Rebalances {
		if r.Time.Before(o.begin) || r.Time.After(o.end) {
			continue
		}
		if len(o.causes) > 0 && !slices.Contains(o.causes, string(r.Cause)) {
			continue
		}
		out = append(out, r)
	}
	return out
}

// lastBefore is the newest rebalance before the window; nil where none is known.
func (o *pastOptions) lastBefore(t *inspect.Timeline) *inspect.Rebalance {
	if t == nil {
		return nil
	}
	for i := len(t.Rebalances) - 1; i >= 0; i-- {
		if t.Rebalances[i].Time.Before(o.begin) {
			return &t.Rebalances[i]
		}
	}
	return nil
}

// readPast adds to a case what the offsets log holds of its groups since a moment,
// and their rebalances since then. What cannot be read becomes Gaps.
func (a *app) readPast(ctx context.Context, s *session, c *inspect.Case, since time.Time) {
	o := &pastOptions{begin: since, end: a.now(), ongoing: true}
	var ids []string
	for _, g := range c.Groups {
		ids = append(ids, g.ID)
	}
	if err := a.past(ctx, s, c, ids, o); err != nil && len(c.Gaps) == 0 {
		c.Gaps = append(c.Gaps, inspect.Gap{Fact: inspect.FactHistory, What: "history in " + offsetlog.Topic, Why: logTrouble(err)})
	}
	o.trim(c)
}

// trim leaves in the timelines of a case the rebalances of the window alone, for
// judgements that must not rest on what nobody asked about.
func (o *pastOptions) trim(c *inspect.Case) {
	for i := range c.Timelines {
		c.Timelines[i].Rebalances = o.inWindow(&c.Timelines[i])
	}
}
