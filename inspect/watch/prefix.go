package watch

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/judge"
	"github.com/kgdiag/kgdiag/inspect/offsetlog"
)

// prefix is what the log held of the time before the watch.
type prefix struct {
	records map[string][]inspect.Record
	logs    []inspect.PartitionLog
	from    inspect.Time
	err     error
}

// readPrefix reads the log from Since ago up to where the tail began. It runs beside
// the watch, which does not wait for it.
func (w *Watcher) readPrefix(ctx context.Context, ends map[int32]int64, groups map[string]bool, in chan<- input) {
	p := &prefix{records: map[string][]inspect.Record{}, from: inspect.At(w.cfg.Now().Add(-w.cfg.Since))}
	req := offsetlog.Request{Filter: w.filter(), From: offsetlog.AtTime(p.from.Time), ToOffsets: ends}
	for partition := range ends {
		req.Partitions = append(req.Partitions, partition)
	}
	slices.Sort(req.Partitions)
	var thin judge.Thinner
	take := func(r inspect.Record) error {
		if groups[r.Group] {
			thin.Add(r)
		}
		return nil
	}
	// Without names the commits of all groups of the cluster would be read: then the
	// membership is, and the commits of those whose members came and went.
	req.Commits = w.named
	p.logs, p.err = w.cfg.Scanner.Scan(ctx, req, take)
	if restless, where := cameAndWent(thin.Records()); !w.named && p.err == nil && len(restless) > 0 {
		req.Filter, req.Budget, req.Partitions = offsetlog.Filter{Groups: restless, Commits: true}, prefixBudget, where
		_, p.err = w.cfg.Scanner.Scan(ctx, req, take)
	}
	for _, r := range thin.Records() {
		p.records[r.Group] = append(p.records[r.Group], r)
	}
	_ = send(ctx, in, input{prefix: p}) // if ctx has ended, nobody asks
}

// prefixBudget bounds what is read of the commits before a watch of all groups, in bytes:
// the newest are what a departure is judged by.
const prefixBudget = 256 << 20

// cameAndWent are the groups whose members changed more than once, and where their records
// are: a group that only started will hardly be asked about first.
func cameAndWent(records []inspect.Record) (groups map[string]bool, partitions []int32) {
	times, held := map[string]int{}, map[int32]bool{}
	groups = map[string]bool{}
	for i := range records {
		if r := &records[i]; judge.ChangesMembers(r) {
			if times[r.Group]++; times[r.Group] > 1 {
				groups[r.Group], held[r.Partition] = true, true
			}
		}
	}
	return groups, slices.Sorted(maps.Keys(held))
}

// takePrefix puts the past into the books, and tells it if that was asked for.
func (w *Watcher) takePrefix(p *prefix, now time.Time) []Event {
	w.logs, w.from, w.unread = p.logs, p.from, ""
	var events []Event
	for id, records := range p.records {
		w.watch(id)
		b := w.books[id]
		b.prefix(records)
		for i := range records {
			b.risks.commit(&records[i], records[i].Time.Add(-w.differ.group(id).skew))
		}
		if p.err != nil {
			continue
		}
		for _, r := range w.read(b, now).Timeline().Rebalances {
			if w.incidents[id+"\x00"+r.ID].number != 0 {
				continue // of the watch itself
			}
			b.past[r.ID] = true
			if w.cfg.Past {
				events = append(events, pastEvent(id, &r))
			}
		}
		b.stir(now)
	}
	slices.SortStableFunc(events, func(a, b Event) int { return a.Time.Compare(b.Time.Time) })
	var out []Event
	for _, e := range events {
		out = append(out, w.differ.stamp(e)...)
	}
	if p.err != nil {
		w.unread = "the log before the watch could not be read in full: " + p.err.Error()
		out = append(out, w.differ.stamp(Event{Type: SourceLost, Time: inspect.At(now), Source: FromLog, Why: w.unread})...)
	}
	return out
}

// pastEvent is a rebalance of the time before the watch, with its cause.
func pastEvent(id string, r *inspect.Rebalance) Event {
	generation, members := r.Generation, r.Members.After
	e := Event{Type: RebalanceDone, Past: true, Time: r.Time, Group: id, Source: FromLog, Record: r.ID, Generation: &generation,
		PreviousGeneration: r.PreviousGeneration, GenerationBasis: "record", Skipped: r.Skipped, Members: &members, Moved: r.Moved, Assigned: r.Assigned,
		Stopped: r.Stopped, StoppedAtMost: r.StoppedAtMost, StoppedBasis: r.StoppedBasis, Rebalancing: r.Rebalancing, Converged: r.Converged, Last: r.ConvergedLast,
		Cause: r.Cause, Confidence: r.Confidence, Basis: r.Basis, Returned: r.Returned, Evidence: r.Evidence, Rivals: r.Rivals, Stall: r.Stall}
	if r.Converged != nil {
		e.GenerationBasis = "epoch"
	}
	for _, j := range r.Members.Joined {
		e.Joined = append(e.Joined, Who{Label: inspect.MemberName(j.ClientID, j.MemberID, j.InstanceID), ClientID: j.ClientID, Host: j.Host, MemberID: j.MemberID, InstanceID: j.InstanceID, BackAfter: j.Out})
	}
	for _, d := range r.Members.Left {
		between := d.LeftBetween
		e.Left = append(e.Left, Who{Label: inspect.MemberName(d.ClientID, d.MemberID, d.InstanceID), ClientID: d.ClientID, Host: d.Host, MemberID: d.MemberID, InstanceID: d.InstanceID, LeftBetween: &between})
	}
	for _, s := range r.Members.Replaced {
		e.Replaced = append(e.Replaced, Swap{Label: inspect.MemberName(s.ClientID, s.NewMemberID, s.InstanceID), ClientID: s.ClientID, Host: s.Host, OldMemberID: s.OldMemberID, NewMemberID: s.NewMemberID, InstanceID: s.InstanceID, NewHost: s.NewHost})
	}
	return e
}
