package offsetlog

import (
	"context"
	"errors"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
)

// LatestRequest is a search backwards from the tail.
type LatestRequest struct {
	// Groups to look for, by the partition that holds them (package locate).
	Groups map[int32][]string
	// Done decides whether enough has been found for a group, given the newest record
	// of each key found so far, in the order of the log. Nil takes [HasState]. It is
	// asked once a window.
	Done func(group string, found []inspect.Record) bool
	// Limit is how many offsets to go back at most, in each partition; 0 means to the
	// log's start.
	Limit int64
	// Parallel is as in Request.
	Parallel int
	// Survey is as in Request.
	Survey *Survey
	// Progress, if set, is called as by Scan, once for each window from its start.
	Progress func(Progress)
}

// Latest is the answer of a search.
type Latest struct {
	// Records are, for each group, the newest record of each key in what was read, in
	// the order of the log: tombstones too, since they say that a member went. Commits
	// are never among them.
	Records map[string][]inspect.Record
	// Missing are the groups, in order, for which Done did not hold when the search had
	// reached the log's start or the limit, or had failed. What was found of them is in
	// Records all the same.
	Missing []string
	// Logs say what was read of each partition, in order; From is how far back.
	Logs []inspect.PartitionLog
}

// HasState holds when the newest state of a group is among the records: its
// GroupMetadata record if it is a classic group, else the record of its epoch
// (types 3, 11, 17), and with it, for the members that are seen in a current
// assignment, who they are (types 5, 10, 19). A tombstone of either says that the
// group is gone, and is enough too.
//
// Members of a KIP-848 group that have not changed since before the window are not
// seen by it: a caller that knows the members from a describe request should ask
// for them in a function of its own.
func HasState(_ string, found []inspect.Record) bool {
	anchor := false
	described := make(map[string]bool)
	for _, r := range found {
		switch r.Type {
		case inspect.RecGroupMetadata, inspect.RecConsumerGroupMetadata, inspect.RecShareGroupMetadata, inspect.RecStreamsGroupMetadata:
			anchor = true
		case inspect.RecConsumerMember, inspect.RecShareMember, inspect.RecStreamsMember:
			described[r.Member] = true
		}
	}
	for _, r := range found {
		if r.Current != nil && !described[r.Member] {
			return false
		}
	}
	return anchor
}

// firstWindow is how many offsets the search takes first; each further window is
// windowGrowth times as large, so that the whole log costs little more than once.
const (
	firstWindow  = 1 << 14
	windowGrowth = 4
)

// LatestMetadata finds the newest state of groups: it reads each partition from the
// tail backwards, in growing windows, until Done holds for all of its groups. What
// it keeps is one record for each key of these groups. The error is as of Scan.
func (s *Scanner) LatestMetadata(ctx context.Context, req LatestRequest) (*Latest, error) {
	search := &search{req: &req, open: make(map[string]bool), newest: make(map[string]map[recordKey]inspect.Record), logs: make(map[int32]*inspect.PartitionLog)}
	if search.req.Done == nil {
		search.req.Done = HasState
	}
	var ids []int32
	for p, groups := range req.Groups {
		ids = append(ids, p)
		for _, g := range groups {
			search.open[g] = true
		}
	}
	slices.Sort(ids)
	if req.Survey == nil {
		var err error
		if req.Survey, err = s.Survey(ctx, ids); err != nil {
			return nil, err
		}
	}
	edges, err := req.Survey.all(ids)
	failed := []error{err}
	for window := int64(firstWindow); ; window *= windowGrowth {
		from, to := search.window(edges, window)
		if len(from) == 0 {
			break
		}
		if err := search.read(ctx, s, from, to); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			failed = append(failed, err)
			var pe *PartitionError
			if !errors.As(err, &pe) {
				break // not of a partition: a further try would meet the same
			}
		}
		search.close()
	}
	return search.result(ids), errors.Join(failed...)
}

// recordKey is the key of a record within its group.
type recordKey struct {
	t             inspect.RecordType
	member, regex string
}

// search is the state of LatestMetadata.
type search struct {
	req    *LatestRequest
	open   map[string]bool // groups still looked for
	newest map[string]map[recordKey]inspect.Record
	logs   map[int32]*inspect.PartitionLog
}

// window is the next range of each partition that has open groups and is not read to
// its start, its limit or a failure.
func (q *search) window(edges map[int32]Edges, size int64) (from, to map[int32]int64) {
	from, to = make(map[int32]int64), make(map[int32]int64)
	for p, e := range edges {
		if !slices.ContainsFunc(q.req.Groups[p], func(g string) bool { return q.open[g] }) {
			continue
		}
		low, end := e.Start, e.End
		if q.req.Limit > 0 {
			low = max(low, e.End-q.req.Limit)
		}
		if l := q.logs[p]; l != nil {
			if end = l.From; l.Error != "" {
				continue
			}
		}
		if end > low {
			from[p], to[p] = max(low, end-size), end
		}
	}
	return from, to
}

// read scans one window of each partition and keeps what is newest.
func (q *search) read(ctx context.Context, s *Scanner, from, to map[int32]int64) error {
	req := Request{FromOffsets: from, ToOffsets: to, Survey: q.req.Survey, Parallel: q.req.Parallel, Progress: q.req.Progress}
	req.Groups = make(map[string]bool)
	for p := range from {
		req.Partitions = append(req.Partitions, p)
		for _, g := range q.req.Groups[p] {
			if q.open[g] {
				req.Groups[g] = true
			}
		}
	}
	slices.Sort(req.Partitions)
	window := make(map[string]map[recordKey]inspect.Record)
	logs, err := s.Scan(ctx, req, func(r inspect.Record) error {
		if window[r.Group] == nil {
			window[r.Group] = make(map[recordKey]inspect.Record)
		}
		window[r.Group][recordKey{r.Type, r.Member, r.Regex}] = r
		return nil
	})
	for group, recs := range window { // older than all that was read before
		if q.newest[group] == nil {
			q.newest[group] = make(map[recordKey]inspect.Record)
		}
		for k, r := range recs {
			if _, newer := q.newest[group][k]; !newer {
				q.newest[group][k] = r
			}
		}
	}
	for _, l := range logs {
		q.account(l)
	}
	return err
}

// account puts the log of an older window before what was read of the partition.
func (q *search) account(l inspect.PartitionLog) {
	have := q.logs[l.Partition]
	if have == nil {
		q.logs[l.Partition] = &l
		return
	}
	if have.CompleteFrom == have.From && l.Error == "" { // complete so far: the older window decides
		if l.CompleteFrom < l.To || l.From == l.To {
			have.CompleteFrom, have.CompleteSince = l.CompleteFrom, l.CompleteSince
		}
	}
	have.From = l.From
	have.Records += l.Records
	have.Bytes += l.Bytes
	have.Unknown += l.Unknown
	have.Malformed += l.Malformed
	have.Corrupt += l.Corrupt
	if l.Error != "" {
		have.Error = l.Error
	}
}

// close stops looking for the groups for which enough is found.
func (q *search) close() {
	for g := range q.open {
		if q.req.Done(g, q.inOrder(g)) {
			delete(q.open, g)
		}
	}
}

func (q *search) inOrder(group string) []inspect.Record {
	out := make([]inspect.Record, 0, len(q.newest[group]))
	for _, r := range q.newest[group] {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b inspect.Record) int { return int(max(-1, min(1, a.Offset-b.Offset))) })
	return out
}

func (q *search) result(ids []int32) *Latest {
	out := &Latest{Records: make(map[string][]inspect.Record)}
	for g := range q.newest {
		out.Records[g] = q.inOrder(g)
	}
	for g := range q.open {
		out.Missing = append(out.Missing, g)
	}
	slices.Sort(out.Missing)
	for _, p := range ids {
		if l := q.logs[p]; l != nil {
			out.Logs = append(out.Logs, *l)
		}
	}
	return out
}
