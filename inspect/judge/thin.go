package judge

import (
	"cmp"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// How much a Thinner keeps.
const (
	ringSize    = 32                     // last commits of a partition before a change of members
	freshCount  = 32                     // first ones after it
	freshFor    = 5 * time.Second        // and for so long after it
	freshEvery  = 100 * time.Millisecond // one in each of these
	sparseEvery = 30 * time.Second       // far from any change, one in each of these
	gapKept     = time.Second            // both ends of a pause as long as this are kept
)

// Thinner keeps of a group's commits what Build needs, and drops the rest, so that
// memory depends on partitions and rebalances and not on the length of the log: the
// last commits before each change of members, the first after it, both ends of every
// pause, and now and then one in between. All other records are kept. Dropped
// commits are counted in the next one (OffsetCommit.Thinned), so that a gap that
// thinning made is never taken for silence.
//
// Records must be added in the order of their partition. The zero Thinner is ready.
type Thinner struct {
	groups map[string]*thinGroup
	out    []thinned
}

type thinned struct {
	rec inspect.Record
	seq int64 // which commit of its partition, from 0; -1 for other records
}

type thinGroup struct {
	parts   map[membership.TopicPartition]*thinPart
	changed time.Time
}

type thinPart struct {
	seq   int64
	fresh int // kept since the last change
	last  time.Time
	prev  time.Time
	ring  []thinned
}

// Add takes the next record.
func (t *Thinner) Add(r inspect.Record) {
	g := t.group(r.Group)
	if r.Commit == nil || r.Type > inspect.RecOffsetCommit {
		if ChangesMembers(&r) {
			t.Change(r.Group, r.Time.Time)
		}
		t.out = append(t.out, thinned{r, -1})
		return
	}
	t.commit(g, r)
}

// Change tells of a change of members that no record shows: polls saw it.
func (t *Thinner) Change(group string, at time.Time) {
	g := t.group(group)
	t.flush(g)
	g.changed = at
}

func (t *Thinner) group(id string) *thinGroup {
	if t.groups == nil {
		t.groups = map[string]*thinGroup{}
	}
	g := t.groups[id]
	if g == nil {
		g = &thinGroup{parts: map[membership.TopicPartition]*thinPart{}}
		t.groups[id] = g
	}
	return g
}

// ChangesMembers reports a record after which members may be gone or partitions elsewhere.
func ChangesMembers(r *inspect.Record) bool {
	switch r.Type {
	case inspect.RecGroupMetadata, inspect.RecConsumerGroupMetadata, inspect.RecShareGroupMetadata, inspect.RecStreamsGroupMetadata:
		return true
	case inspect.RecConsumerCurrentAssignment, inspect.RecStreamsCurrentAssignment:
		return r.Tombstone || r.Current != nil && r.Current.Epoch == inspect.StaticLeaveEpoch
	}
	return false
}

// flush keeps what the rings of a group hold.
func (t *Thinner) flush(g *thinGroup) {
	for _, p := range g.parts {
		t.out = append(t.out, p.ring...)
		p.ring, p.fresh = p.ring[:0], 0
	}
}

func (t *Thinner) commit(g *thinGroup, r inspect.Record) {
	k := membership.TopicPartition{Topic: r.Topic, Partition: r.TopicPartition}
	p := g.parts[k]
	if p == nil {
		p = &thinPart{}
		g.parts[k] = p
	}
	at := r.Time.Time
	one := thinned{r, p.seq}
	p.seq++
	every := sparseEvery
	if at.Sub(g.changed) <= freshFor {
		every = freshEvery
	}
	pause := !p.prev.IsZero() && at.Sub(p.prev) >= gapKept
	keep := pause || p.fresh < freshCount || at.Sub(p.last) >= every
	if pause && len(p.ring) > 0 { // its beginning
		t.out = append(t.out, p.ring[len(p.ring)-1])
		p.ring = p.ring[:len(p.ring)-1]
	}
	p.prev = at
	if keep {
		p.fresh++
		p.last = at
		t.out = append(t.out, one)
		return
	}
	if len(p.ring) == ringSize {
		copy(p.ring, p.ring[1:])
		p.ring = p.ring[:ringSize-1]
	}
	p.ring = append(p.ring, one)
}

// Records are the kept records, ordered by partition and offset. The Thinner must
// not be used afterwards.
func (t *Thinner) Records() []inspect.Record {
	for _, g := range t.groups {
		t.flush(g)
	}
	slices.SortFunc(t.out, func(a, b thinned) int {
		return cmp.Or(cmp.Compare(a.rec.Partition, b.rec.Partition), cmp.Compare(a.rec.Offset, b.rec.Offset))
	})
	type key struct {
		group string
		part  membership.TopicPartition
	}
	last := map[key]int64{}
	out := make([]inspect.Record, len(t.out))
	for i, one := range t.out {
		if one.seq >= 0 {
			k := key{one.rec.Group, membership.TopicPartition{Topic: one.rec.Topic, Partition: one.rec.TopicPartition}}
			next := last[k]
			if missing := one.seq - next; missing > 0 {
				c := *one.rec.Commit
				c.Thinned += missing
				one.rec.Commit = &c
			}
			last[k] = one.seq + 1
		}
		out[i] = one.rec
	}
	return out
}
