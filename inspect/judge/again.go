package judge

import (
	"cmp"
	"slices"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// The bounds of calling a record the one at which members go (policy).
const (
	// stuckLeast is how many owners in a row must go at one offset.
	stuckLeast = 2
	// stuckCloses is the same where all of them seem to have closed by themselves: a
	// deploy meets an idle partition at the same offset twice.
	stuckCloses = 3
	// stuckMoves is how many records other partitions must have moved meanwhile, so
	// that the one that stands still is no idle one.
	stuckMoves = 3
)

// goings are departures in a row of the owners of one partition, between which its
// committed offset did not move.
type goings struct {
	part   membership.TopicPartition
	offset int64
	list   []*departure
}

// stuckRecords names the records that come back: a partition whose committed offset is
// the same each time its owner goes, whoever that is, while other partitions move
// on. One record at which a process dies, or over which it sits for longer than its
// poll interval, leaves no commit of its own; only the departures show it.
func (g *group) stuckRecords() map[*departure][]string {
	all := slices.DeleteFunc(g.standstills(), func(r *goings) bool { return !g.sticks(r) })
	all = slices.DeleteFunc(slices.Clone(all), func(r *goings) bool { return overshadowed(r, all) })
	slices.SortFunc(all, func(a, b *goings) int {
		return cmp.Or(membership.Compare(a.part, b.part), cmp.Compare(a.offset, b.offset))
	})
	out := map[*departure][]string{}
	for _, s := range g.steps {
		for _, d := range s.left {
			out[d] = slices.Clone(d.ev.stuck)
		}
	}
	for _, r := range all {
		if r.offset < 0 {
			continue // which record is not known, only that it is none of the others
		}
		text := stuckText(r.part, r.offset)
		for _, d := range r.list {
			if !slices.Contains(out[d], text) {
				out[d] = append(out[d], text)
			}
		}
	}
	return out
}

// standstills are the departures of each partition's owners, those in a row together
// between which its committed offset did not move.
func (g *group) standstills() []*goings {
	open := map[membership.TopicPartition]*goings{}
	var all []*goings
	for _, s := range g.steps {
		if len(s.left) != 1 || s.left[0].ev.moved {
			continue // several at once, or a coordinator that moved: no record did that
		}
		d := s.left[0]
		for k := range d.Held {
			at, ok := g.standsAt(k, d.Pos)
			switch r := open[k]; {
			case !ok:
			case r != nil && r.offset == at:
				r.list = append(r.list, d)
			default:
				open[k] = &goings{part: k, offset: at, list: []*departure{d}}
				all = append(all, open[k])
			}
		}
	}
	return all
}

// standsAt is the committed offset of a partition when its owner went. One that was
// committed nowhere in what was read stands where it stood before, which only the
// live view knows: -1 without it.
func (g *group) standsAt(k membership.TopicPartition, pos int) (offset int64, ok bool) {
	list := g.commits[k]
	if i := firstAfter(list, pos-1); i > 0 {
		return list[i-1].offset, true
	}
	if len(list) > 0 {
		return 0, false // committed later for the first time
	}
	if o := g.liveOffset(k); o != nil && o.Committed != nil {
		return *o.Committed, true
	}
	return -1, true
}

func stuckText(k membership.TopicPartition, offset int64) string {
	return k.String() + " offset " + itoa64(offset)
}

// sticks reports whether it is that one record: often enough, with records waiting,
// and neither the whole topic nor everything its owners had stood still.
func (g *group) sticks(r *goings) bool {
	closes := !slices.ContainsFunc(r.list, func(d *departure) bool { return d.v.cause != inspect.MemberLeft })
	least := stuckLeast
	if closes {
		least = stuckCloses
	}
	if len(r.list) < least {
		return false
	}
	first, last := r.list[0], r.list[len(r.list)-1]
	lag, known := g.lagAt(r.part, r.offset)
	if known && lag <= 0 {
		return false
	}
	moved, others := 0, 0
	for k := range g.commits {
		if k == r.part || k.Topic != r.part.Topic {
			continue
		}
		others++
		if g.movedBetween(k, first.Pos, last.Pos) >= stuckMoves {
			moved++
		}
	}
	if others == 0 {
		return known
	}
	return 2*moved >= others && g.ownersElsewhere(r)
}

// overshadowed reports whether another partition tells the same departures better:
// who sits over one record does not get to its other partitions either, but now and
// then it does. Where more than two tell them equally well, none is the one.
func overshadowed(g *goings, all []*goings) bool {
	alike := 0
	for _, o := range all {
		if o == g {
			continue
		}
		both := 0
		for _, d := range g.list {
			if slices.Contains(o.list, d) {
				both++
			}
		}
		if 2*both < len(g.list) {
			continue
		}
		if alike++; alike > 1 || len(o.list) > len(g.list) {
			return true
		}
	}
	return false
}

// ownersElsewhere reports whether the owners did work on others of their partitions,
// half of them or several: one that goes before it has done anything is not stopped by a record.
// An owner that had nothing else proves nothing either way.
func (g *group) ownersElsewhere(r *goings) bool {
	had, worked := 0, 0
	for i := 1; i < len(r.list); i++ {
		others, moved := 0, false
		for k := range r.list[i].Held {
			if k != r.part {
				others++
				moved = moved || g.movedBetween(k, r.list[i-1].Pos, r.list[i].Pos) > 0
			}
		}
		if others > 0 {
			had++
		}
		if moved {
			worked++
		}
	}
	return worked >= 2 || 2*worked >= had
}

// movedBetween is how far a partition's committed offset went between two records.
func (g *group) movedBetween(k membership.TopicPartition, from, to int) int64 {
	list := g.commits[k]
	lo, hi := firstAfter(list, from-1), firstAfter(list, to-1)
	if hi == 0 || lo >= hi {
		return 0
	}
	return list[hi-1].offset - list[max(0, lo-1)].offset
}

// lagAt is how many records wait in a partition, where the group was described and
// still stands at the offset.
func (g *group) lagAt(k membership.TopicPartition, offset int64) (lag int64, known bool) {
	o := g.liveOffset(k)
	if o == nil || o.Lag == nil || o.Committed == nil || *o.Committed != offset {
		return 0, false
	}
	return *o.Lag, true
}

// liveOffset is a partition's offset and lag as the group was described; nil unknown.
func (g *group) liveOffset(k membership.TopicPartition) *inspect.PartitionLag {
	if g.in.Snapshot == nil {
		return nil
	}
	for i := range g.in.Snapshot.Offsets {
		if o := &g.in.Snapshot.Offsets[i]; o.Topic == k.Topic && o.Partition == k.Partition {
			return o
		}
	}
	return nil
}
