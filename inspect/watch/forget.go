package watch

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

const (
	// mostRecords is how many records of a group's membership are kept before the older
	// ones are forgotten, down to keptRecords: without it a watch of a group that never
	// comes to rest takes ever more memory, and ever more time for each verdict.
	mostRecords = 300
	keptRecords = 150
	// keptFor is how far back at least all is kept beyond the longest timeout: verdicts
	// are refined while a member may still come back.
	keptFor = 5 * time.Minute
)

// forget drops what is older than verdicts need, if nobody keeps it for a case file. Of
// what is older the newest record of each key stays, as the log's cleaner has it.
func (w *Watcher) forget(b *book, now time.Time) {
	if !w.cfg.Forget || b.changes <= mostRecords || now.Sub(b.forgot) < time.Minute {
		return
	}
	b.forgot = now
	g := w.differ.group(b.id)
	cut := b.nthNewest(keptRecords)
	if limit := now.Add(g.skew - keptFor - 2*g.longest()); limit.Before(cut) {
		cut = limit
	}
	type key struct {
		kind          inspect.RecordType
		member, regex string
		topic         string
		partition     int32
	}
	newest := map[key]int{}
	keyOf := func(r *inspect.Record) key { return key{r.Type, r.Member, r.Regex, r.Topic, r.TopicPartition} }
	for i := range b.records {
		if b.records[i].Time.Before(cut) {
			newest[keyOf(&b.records[i])] = i
		}
	}
	kept := make([]inspect.Record, 0, len(b.records))
	b.changes = 0
	for i := range b.records {
		r := &b.records[i]
		if r.Time.Before(cut) {
			b.drop(w, r) // a first record has none before it: its verdict would change
			if newest[keyOf(r)] != i {
				continue
			}
		}
		if !commits(r) {
			b.changes++
		}
		kept = append(kept, *r)
	}
	b.records = kept
	b.commits.Forget(cut)
	old := func(t inspect.Time) bool { return t.Before(cut) }
	g.polls = slices.Clone(slices.DeleteFunc(g.polls, func(o inspect.Observation) bool { return old(o.To) }))
	b.moments = slices.Clone(slices.DeleteFunc(b.moments, func(m inspect.OffsetAt) bool { return old(m.At) }))
	for q := range b.inquired {
		if old(q.At) {
			delete(b.inquired, q)
		}
	}
}

// drop forgets what was told of a record.
func (b *book) drop(w *Watcher, r *inspect.Record) {
	id := r.ID()
	delete(b.told, id)
	delete(b.past, id)
	delete(w.incidents, b.id+"\x00"+id)
}

// commits reports whether a record is an offset commit.
func commits(r *inspect.Record) bool {
	return r.Type == inspect.RecOffsetCommit || r.Type == inspect.RecLegacyOffsetCommit
}

// nthNewest is the time of the n-th newest record that is no commit.
func (b *book) nthNewest(n int) time.Time {
	for i := len(b.records) - 1; i >= 0; i-- {
		if commits(&b.records[i]) {
			continue
		}
		if n--; n == 0 {
			return b.records[i].Time.Time
		}
	}
	return time.Time{}
}
