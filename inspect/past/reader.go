package past

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientlog"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/judge"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/locate"
)

// Query says which groups' past to read, and how much of it.
type Query struct {
	Selection collect.Selection
	Want      collect.Want // of the groups as they are now
	// Window is the span of time that is asked for. Records from before it are read
	// too, so that its first rebalance has something to be compared with.
	Window inspect.Window
	// UntilNow says that the window ends now. It is then the brokers' now: where their
	// clocks are off, the window is moved with them, so that it holds what is newest.
	UntilNow bool
	// Gone reads also the past of named groups that do not exist any more.
	Gone bool
	// Describe bounds the description of the groups; 0 is no bound but the context's.
	// ScanToo counts the reading of the log into it.
	Describe time.Duration
	ScanToo  bool
	// Budget bounds the bytes of the log that are read, about; 0 is no bound for the
	// window, and lookBackBudget for what is older. What is left out is a Gap.
	Budget int64
	// Logs are the names of client and broker log files, GCLogs of those of JVMs, read as
	// LogOptions say.
	Logs, GCLogs []string
	LogOptions   clientlog.Options
	// Configs are clients' configurations, which tell timeouts that no record told.
	Configs []inspect.ClientConfig
	// Processes are the names of files in which the platform says what became of the
	// consumers' processes (package platform).
	Processes []string
}

// Past is what was read. What it lacks is said by Missing, Log and the Gaps of the
// Case; none of the three makes the rest untrue.
type Past struct {
	Case *inspect.Case
	IDs  []string // the groups that were chosen: the named ones first
	// Missing is about groups that were named: *collect.NotFoundError and
	// *collect.IncompleteError, joined where both hold, or *AbsentError; nil for none.
	Missing error
	// Log is why the offsets log could not be read, or not whole; nil where it was.
	Log error
	// Stopped is why a look at the groups ended before its time; nil where it did not.
	Stopped error
	// Dropped counts the events of log files that were left out, for want of room.
	Dropped int
	// Unread says of log files what of them was not understood, in a clause each.
	Unread []string
}

// Reader reads the past of groups from one cluster.
type Reader struct {
	Collector *collect.Collector
	Scanner   *offsetlog.Scanner
	// Progress is told how far the scan under way is; nil for nobody.
	Progress func(offsetlog.Progress)
}

// Read describes the groups and reads their past. The error is for a cluster that
// could not be asked at all, a log file that cannot be read, and a context that ended.
func (r *Reader) Read(ctx context.Context, q Query) (*Past, error) {
	limited := ctx
	if q.Describe > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, q.Describe)
		defer cancel()
	}
	scanning := ctx
	if q.ScanToo {
		scanning = limited
	}
	m, err := r.Collector.Metadata(limited)
	if err != nil {
		return nil, err
	}
	scanning, cancel := context.WithCancel(scanning)
	s := r.begin(scanning, m, q)
	defer s.end()
	defer cancel()
	c, err := r.Collector.CollectFrom(limited, m, q.Selection, q.Want)
	if c == nil {
		return nil, err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, context.Cause(ctx)
	}
	p := &Past{Case: c, IDs: chosen(c, q), Missing: err}
	// Files are read to their end, whatever the cluster has left of the time.
	reading, read := untimed(ctx)
	defer read()
	if err := p.readFiles(reading, q); err != nil {
		return nil, err
	}
	c.Window.From, c.Window.To = q.Window.From, q.Window.To
	s.c, s.broad = c, q.Selection.All && len(p.IDs) > fewGroups
	p.Log = s.read(scanning, p.IDs)
	c.Records, c.Logs = s.thin.Records(), mergeLogs(s.logs)
	collect.FillFromRecords(c)
	r.heedClocks(scanning, c, q)
	if !s.broad {
		r.ask(scanning, c, m)
	}
	Build(c)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil, context.Cause(ctx)
	}
	// A group that is gone is not found by its coordinator, and yet has a past.
	p.Missing = goneButRemembered(c, p.Missing)
	if never := (*collect.NotFoundError)(nil); errors.As(p.Missing, &never) {
		p.IDs = slices.DeleteFunc(p.IDs, func(id string) bool { return slices.Contains(never.Groups, id) })
	}
	return p, nil
}

// heedClocks says which clocks are off, and moves a window that ends now to the brokers'
// now. Where they differ among one another it is stretched to hold what all of them wrote.
func (r *Reader) heedClocks(ctx context.Context, c *inspect.Case, q Query) {
	if q.UntilNow && quietThoughAlive(c) {
		r.Scanner.Glance(ctx, partitionsOf(c.Logs), glance)
	}
	c.Gaps = inspect.WithClocks(c.Gaps, r.Scanner.ClockGaps())
	if !q.UntilNow || len(c.Logs) == 0 {
		return
	}
	least := r.Scanner.SkewOf(c.Logs[0].Partition)
	most := least
	for _, l := range c.Logs[1:] {
		d := r.Scanner.SkewOf(l.Partition)
		least, most = min(least, d), max(most, d)
	}
	c.Window.From, c.Window.To = inspect.At(c.Window.From.Add(least)), inspect.At(c.Window.To.Add(most))
}

// glance is how long to wait for a record that shows whether a clock is behind.
const glance = time.Second

// quietThoughAlive reports whether groups have members, and yet no record of theirs is of
// the last half minute: they may be idle, or their brokers' clock is behind.
func quietThoughAlive(c *inspect.Case) bool {
	if !slices.ContainsFunc(c.Groups, func(g inspect.Group) bool { return len(g.Members) > 0 }) {
		return false
	}
	limit := c.GeneratedAt.Add(-30 * time.Second)
	return len(c.Logs) > 0 && len(c.Logs) <= fewGroups && !slices.ContainsFunc(c.Records, func(r inspect.Record) bool { return r.Time.After(limit) })
}

func partitionsOf(logs []inspect.PartitionLog) []int32 {
	out := make([]int32, len(logs))
	for i := range logs {
		out[i] = logs[i].Partition
	}
	return out
}

// untimed is a context that a signal ends, and no deadline; done lets go of it.
func untimed(ctx context.Context) (out context.Context, done func()) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) {
			cancel(context.Cause(ctx))
		}
	})
	return out, func() { stop(); cancel(nil) }
}

// ask asks the leaders of departed members' partitions whether records waited there. What
// they do not answer is a Gap: the judge then goes by the commits alone.
func (r *Reader) ask(ctx context.Context, c *inspect.Case, m *collect.Metadata) {
	answers, gaps, err := r.Collector.OffsetsAt(ctx, judge.Questions(c, judge.Options{}), m, c.Groups)
	if err != nil {
		gaps = []inspect.Gap{{Fact: inspect.FactOffsetsAt, What: "whether records waited", Why: err.Error()}}
	}
	c.OffsetsAt = append(c.OffsetsAt, answers...)
	c.Gaps = append(c.Gaps, gaps...)
}

// chosen are the groups whose past is read: those that were named, and those found.
func chosen(c *inspect.Case, q Query) []string {
	var ids []string
	if q.Gone {
		ids = slices.Clone(q.Selection.Groups)
	}
	have := make(map[string]bool, len(ids)+len(c.Groups))
	for _, id := range ids {
		have[id] = true
	}
	for i := range c.Groups {
		if id := c.Groups[i].ID; !have[id] {
			ids, have[id] = append(ids, id), true
		}
	}
	return ids
}

// readFiles adds what log files and the platform's files say.
func (p *Past) readFiles(ctx context.Context, q Query) error {
	found, err := ReadLogs(ctx, slices.Concat(q.Logs, q.GCLogs), q.LogOptions)
	if err != nil {
		return err
	}
	return p.take(ctx, q, found)
}

// take adds what log files said, and what the platform's files say.
func (p *Past) take(ctx context.Context, q Query, found Logs) error {
	lives, empty, err := ReadProcesses(ctx, q.Processes)
	if err != nil {
		return err
	}
	for kind, names := range map[inspect.FileKind][]string{inspect.FileLog: q.Logs, inspect.FileGCLog: q.GCLogs, inspect.FilePods: q.Processes} {
		if len(names) > 0 && !slices.Contains(p.Case.Files, kind) {
			p.Case.Files = append(p.Case.Files, kind)
		}
	}
	slices.Sort(p.Case.Files)
	p.Case.Processes = append(p.Case.Processes, lives...)
	p.Dropped, p.Unread = found.Dropped, slices.Concat(found.Nothing, found.Cut, empty)
	p.Case.LogEvents = append(p.Case.LogEvents, found.Events...)
	p.Case.LogFiles = found.Files
	p.Case.Configs = append(append(p.Case.Configs, q.Configs...), found.Configs...)
	return nil
}

// NoteLog says by a Gap that the log was not read, where no other Gap does: for a
// reader to whom the rest is worth showing without it.
func (p *Past) NoteLog() {
	told := func(g inspect.Gap) bool { return g.Fact == inspect.FactHistory }
	if p.Log == nil || slices.ContainsFunc(p.Case.Gaps, told) {
		return
	}
	g := inspect.Gap{Fact: inspect.FactHistory, What: "history", Why: Trouble(p.Log)}
	if Denied(p.Log) || errors.Is(p.Log, ErrNoLog) {
		g.Needs = "READ on Topic " + locate.OffsetsTopic
	}
	p.Case.Gaps = append(p.Case.Gaps, g)
}

// Build rebuilds the timelines of a case from its records and observations.
func Build(c *inspect.Case) {
	c.Timelines = judge.Build(c, judge.Options{})
	for _, t := range c.Timelines {
		if t.CompleteSince.After(c.Window.CompleteSince.Time) {
			c.Window.CompleteSince = t.CompleteSince
		}
	}
}

// Join puts what was seen live into a case and judges anew. Where the log was not read,
// the leaders are asked about the departures that polls saw.
func (r *Reader) Join(ctx context.Context, p *Past, seen *inspect.Case) {
	if len(seen.Observations) == 0 {
		return
	}
	c := p.Case
	known := c.GroupIDs()
	for _, o := range seen.Observations {
		// A group that never was is not part of the case.
		if o.State != "Dead" || slices.Contains(known, o.Group) {
			c.Observations = append(c.Observations, o)
		}
	}
	c.OffsetPolls = append(c.OffsetPolls, seen.OffsetPolls...)
	for _, g := range seen.Gaps {
		if g.Fact == inspect.FactCommits {
			c.Gaps = append(c.Gaps, g)
		}
	}
	if len(c.Records) == 0 && p.Log != nil {
		c.Records, c.Logs = seen.Records, nil // of the log there is nothing: polls alone tell
		limited, cancel := context.WithTimeout(ctx, askAtMost)
		defer cancel()
		r.ask(limited, c, nil)
	}
	Build(c)
}

// askAtMost bounds the questions after a look: nobody waits for longer than a scan takes.
const askAtMost = 10 * time.Second

// goneButRemembered drops from a not-found error the groups whose past was read.
func goneButRemembered(c *inspect.Case, err error) error {
	var missing *collect.NotFoundError
	if !errors.As(err, &missing) {
		return err
	}
	var left []string
	for _, id := range missing.Groups {
		if t := c.Timeline(id); t == nil || len(t.Rebalances) == 0 {
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
