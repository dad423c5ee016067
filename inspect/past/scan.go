package past

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/collect"
	"github.com/kgdiag/kgdiag/inspect/judge"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
	"github.com/kgdiag/kgdiag/internal/prose"
	"github.com/kgdiag/kgdiag/locate"
)

// The bounds of looking back.
const (
	// prelude is read before the window, so that the first rebalance in it has
	// something before it, and commits that show a cadence.
	prelude = 30 * time.Minute
	// lookBackFor is how long kgdiag goes on looking for older records of groups
	// whose state before the window is not known yet.
	lookBackFor = 8 * time.Second
	// fewGroups is up to how many of all groups each is looked for further back; of
	// more, only those that rebalanced.
	fewGroups = 20
	// lookBackBudget bounds the bytes that are read before the window, about: a partition
	// may hold gigabytes, and a quiet group's last rebalance may be anywhere in it.
	lookBackBudget = 100 << 20
)

// lookBacks are the steps by which it does.
var lookBacks = []time.Duration{6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 0}

// ErrNoLog is a cluster whose offsets topic cannot be seen; one that has none gives
// collect.ErrNoOffsetsTopic.
var ErrNoLog = errors.New("the placement of " + locate.OffsetsTopic + " is not known")

// scan reads the log for one Read.
type scan struct {
	*Reader
	c       *inspect.Case
	m       *collect.Metadata
	cluster string    // id
	count   int32     // of the offsets partitions; 0 unknown
	first   time.Time // from which on it reads
	broad   bool      // look further back only for groups that rebalanced
	thin    judge.Thinner
	logs    []inspect.PartitionLog
	survey  func() *offsetlog.Survey // of the moments that matter; nil where it failed
	window  func() spanRead          // of the named groups; nil where none are
	budget  int64                    // of the query
	spent   int64                    // bytes read
	atOnce  int64                    // mostAtOnce, but for tests
	cut     map[int32]int64          // offsets that the budget left out, by partition
}

// spanRead is what a span of partitions held.
type spanRead struct {
	groups  []string
	records []inspect.Record
	logs    []inspect.PartitionLog
	err     error
}

// begin starts what does not depend on the description of the groups: where the
// partitions stood at the moments that matter, and, for groups that were named, the
// reading of the window.
func (r *Reader) begin(ctx context.Context, m *collect.Metadata, q Query) *scan {
	s := &scan{Reader: r, m: m, cluster: m.ClusterID, count: m.OffsetsPartitions(), first: q.Window.From.Add(-prelude), budget: q.Budget, atOnce: mostAtOnce, cut: map[int32]int64{}, survey: func() *offsetlog.Survey { return nil }}
	if s.count == 0 {
		return s
	}
	var parts map[int32][]string
	var partitions []int32 // all
	if len(q.Selection.Groups) > 0 && !q.Selection.All {
		var err error
		if parts, err = s.partitions(q.Selection.Groups); err != nil {
			return s // it will be said when the log is read
		}
		partitions = slices.Sorted(maps.Keys(parts))
	}
	times := []time.Time{s.first}
	for _, step := range lookBacks {
		if step > 0 {
			times = append(times, s.first.Add(-step))
		}
	}
	s.survey = inBackground(func() *offsetlog.Survey {
		v, err := s.Scanner.Survey(ctx, partitions, times...)
		if err != nil {
			return nil // the scan asks by itself, and tells
		}
		return v
	})
	if parts != nil && q.Gone {
		groups := slices.Clone(q.Selection.Groups)
		s.window = inBackground(func() spanRead { return s.readOnce(ctx, parts, groups) })
	}
	return s
}

// end waits for what begin has started, since Progress must not be told of it any more.
func (s *scan) end() {
	if s.window != nil {
		s.window()
	}
}

// inBackground starts f and gives a function that waits for its result.
func inBackground[T any](f func() T) func() T {
	done := make(chan T, 1)
	go func() { done <- f() }()
	return sync.OnceValue(func() T { return <-done })
}

// readWindow reads what the window holds, and the prelude.
func (s *scan) readWindow(ctx context.Context, parts map[int32][]string, groups []string) spanRead {
	if s.broad && s.survey().Since(s.first) > s.atOnce {
		return s.readTwice(ctx, parts, groups)
	}
	return s.readOnce(ctx, parts, groups)
}

// readOnce reads it in one go, commits and all.
func (s *scan) readOnce(ctx context.Context, parts map[int32][]string, groups []string) spanRead {
	records, logs, err := s.span(ctx, parts, filterOf(groups), s.budget, offsetlog.AtTime(s.first), offsetlog.Point{})
	return spanRead{groups, records, logs, err}
}

// mostAtOnce is up to how many offsets of all groups are read with their commits in one go.
const mostAtOnce = 1 << 16

// readTwice reads a window that holds very many commits: first which groups changed, which
// passes over the commits, and then the commits of those groups alone. Two readings take
// less time than decoding what nobody looks at, and memory goes by what happened.
func (s *scan) readTwice(ctx context.Context, parts map[int32][]string, groups []string) spanRead {
	members := filterOf(groups)
	members.Commits = false
	from := offsetlog.AtTime(s.first)
	records, logs, err := s.span(ctx, parts, members, s.budget/2, from, offsetlog.Point{})
	if ctx.Err() != nil {
		return spanRead{groups: groups, logs: logs, err: err} // without commits members cannot be judged
	}
	changed := map[string]bool{}
	for i := range records {
		changed[records[i].Group] = true
	}
	where := only(parts, changed)
	if len(where) == 0 {
		return spanRead{groups, records, logs, err}
	}
	clear(s.cut) // of the same offsets
	records, again, err := s.span(ctx, where, offsetlog.Filter{Groups: changed, Commits: true}, s.budget/2, from, offsetlog.Point{})
	return spanRead{groups, records, append(logs, again...), err}
}

// only are the partitions that have one of some groups, with those.
func only(parts map[int32][]string, groups map[string]bool) map[int32][]string {
	out := map[int32][]string{}
	for p, ids := range parts {
		for _, id := range ids {
			if groups[id] {
				out[p] = append(out[p], id)
			}
		}
	}
	return out
}

// filterOf asks for all records of groups.
func filterOf(groups []string) offsetlog.Filter {
	want := make(map[string]bool, len(groups))
	for _, id := range groups {
		want[id] = true
	}
	return offsetlog.Filter{Groups: want, Commits: true}
}

// read scans the window, and then further back for groups whose state before it is
// still unknown. Older records are put before newer ones: a Thinner wants them in
// order, so the look-back comes first.
func (s *scan) read(ctx context.Context, ids []string) error {
	parts, err := s.partitions(ids)
	if err != nil || len(parts) == 0 {
		return err
	}
	var window spanRead
	if s.window != nil {
		window = s.window()
	}
	if !slices.Equal(slices.Sorted(slices.Values(window.groups)), slices.Sorted(slices.Values(ids))) {
		window = s.readWindow(ctx, parts, ids)
	}
	s.logs = window.logs
	s.gaps(parts, window.err)
	if window.err != nil && len(window.records) == 0 {
		return window.err
	}
	s.before(ctx, parts, window.records)
	s.noteCut()
	for _, rec := range window.records {
		s.thin.Add(rec)
	}
	return nil
}

// partitions maps the groups to their offsets partitions.
func (s *scan) partitions(ids []string) (map[int32][]string, error) {
	out := map[int32][]string{}
	for _, id := range ids {
		if s.count <= 0 {
			continue
		}
		p, err := locate.PartitionIn(s.cluster, id, s.count)
		if err != nil {
			return nil, err
		}
		out[p] = append(out[p], id)
	}
	if len(out) == 0 && len(ids) > 0 {
		if errors.Is(s.m.OffsetsErr, collect.ErrNoOffsetsTopic) {
			return nil, s.m.OffsetsErr
		}
		return nil, ErrNoLog
	}
	return out, nil
}

// span reads a span of partitions, thinned.
func (s *scan) span(ctx context.Context, parts map[int32][]string, want offsetlog.Filter, budget int64, from, to offsetlog.Point) ([]inspect.Record, []inspect.PartitionLog, error) {
	req := offsetlog.Request{Partitions: slices.Sorted(maps.Keys(parts)), Filter: want,
		From: from, To: to, Survey: s.survey(), Progress: s.Progress, Budget: budget, Cut: func(p int32, n int64) { s.cut[p] += n }}
	var thin judge.Thinner
	logs, err := s.Scanner.Scan(ctx, req, func(rec inspect.Record) error {
		thin.Add(rec)
		return nil
	})
	for i := range logs {
		s.spent += logs[i].Bytes
	}
	return thin.Records(), logs, err
}

// before looks further back, in growing steps, for groups of which the window shows
// no rebalance, or one whose predecessor is not known.
func (s *scan) before(ctx context.Context, parts map[int32][]string, window []inspect.Record) {
	limited, cancel := context.WithTimeout(ctx, lookBackFor)
	defer cancel()
	var older [][]inspect.Record
	to, beforeWindow := s.first, s.spent
	for _, step := range lookBacks {
		open := s.open(append(slices.Concat(older...), window...), parts)
		if len(open) == 0 {
			break
		}
		from := offsetlog.Point{}
		begin := time.Time{}
		if step > 0 {
			begin = s.first.Add(-step)
			from = offsetlog.AtTime(begin)
		}
		left := s.left(beforeWindow)
		if left <= 0 || len(s.cut) > 0 {
			break // what is older than a cut does not join up
		}
		want := parts
		if s.broad {
			want = open
		}
		records, logs, err := s.span(limited, open, filterOf(slices.Concat(slices.Collect(maps.Values(want))...)), left, from, offsetlog.AtTime(to))
		if err != nil {
			break // the time is over, or the log is: what was found before stands
		}
		s.logs = append(s.logs, logs...)
		older = append([][]inspect.Record{records}, older...)
		to = begin
	}
	for _, list := range older {
		for _, rec := range list {
			s.thin.Add(rec)
		}
	}
}

// left is how many bytes may still be read of what is older than the window, which
// took window.
func (s *scan) left(window int64) int64 {
	if s.budget > 0 {
		return s.budget - s.spent
	}
	return lookBackBudget - (s.spent - window)
}

// noteCut says what the budget left out. Without one the look back just ends, as it does
// when its time is over.
func (s *scan) noteCut() {
	offsets := int64(0)
	for _, n := range s.cut {
		offsets += n
	}
	if s.budget == 0 || offsets == 0 {
		return
	}
	s.c.Gaps = append(s.c.Gaps, inspect.Gap{Fact: inspect.FactHistory, What: "older records of " + locate.OffsetsTopic,
		Why:   fmt.Sprintf("%s offsets in %s were left out, to read about %s", prose.Count(offsets), prose.Plural(len(s.cut), "partition"), prose.Size(s.budget)),
		Needs: "a larger --budget"})
}

// open are the partitions with groups whose state before the window is not known.
func (s *scan) open(records []inspect.Record, parts map[int32][]string) map[int32][]string {
	settled := map[string]bool{}
	c := &inspect.Case{Records: records, Groups: s.c.Groups, Window: s.c.Window}
	if s.broad { // a group without records is settled
		c.Groups = nil
	}
	for _, t := range judge.Build(c, judge.Options{}) {
		// The first rebalance of all is only a beginning; one with a predecessor tells.
		settled[t.Group] = s.broad && len(t.Rebalances) == 0 || slices.ContainsFunc(t.Rebalances, func(rb inspect.Rebalance) bool {
			return rb.PreviousGeneration != nil || rb.Members.Before > 0 || len(rb.Members.Joined) > 0
		})
	}
	out := map[int32][]string{}
	for p, ids := range parts {
		for _, id := range ids {
			if done, seen := settled[id]; !done && (seen || !s.broad) {
				out[p] = append(out[p], id)
			}
		}
	}
	return out
}

// gaps says what the scan could not read.
func (s *scan) gaps(parts map[int32][]string, err error) {
	if err == nil {
		return
	}
	why := Trouble(err)
	if s.broad { // one for all: a reader of thousands learns nothing from thousands
		parts = map[int32][]string{-1: {""}}
	}
	for _, p := range slices.Sorted(maps.Keys(parts)) {
		for _, id := range parts[p] {
			g := inspect.Gap{Group: id, Fact: inspect.FactHistory, What: "history", Why: why}
			if Denied(err) {
				g.Needs = "READ on Topic " + locate.OffsetsTopic
			}
			s.c.Gaps = append(s.c.Gaps, g)
		}
	}
}

// Denied reports whether an error says that the offsets topic may not be read.
func Denied(err error) bool { return errors.Is(err, kerr.TopicAuthorizationFailed) }

// Trouble puts an error of the scan into a reader's words.
func Trouble(err error) string {
	switch {
	case Denied(err):
		return "READ on " + locate.OffsetsTopic + " denied"
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return locate.OffsetsTopic + " does not exist"
	case errors.Is(err, context.DeadlineExceeded):
		return "the time that --timeout allows was over"
	}
	return err.Error()
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
