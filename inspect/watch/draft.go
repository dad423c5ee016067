package watch

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// draftAfter is how long after a departure a cause is told "so far", where the rebalance
// that it began is not over: the leaders are asked meanwhile, and have patience to answer.
const draftAfter = unknownAfter - judgeAfter

// draft is a departure whose rebalance is still under way.
type draft struct {
	member   string
	at       inspect.Time // when it was seen to be gone, by the coordinator's clock
	incident int
}

// leaving are the members that polls show to be gone, or that said so themselves, and
// that no record has let go.
func (g *group) leaving() []draft {
	var out []draft
	for i := range g.gone {
		if o := &g.gone[i]; !o.back && g.read.Members[o.m.ID] != nil {
			out = append(out, draft{o.m.ID, o.at, o.incident})
		}
	}
	return out
}

// draft tells the causes, as far as they can be had, of departures whose rebalance takes
// longer than a reader should wait: a peer that polls slowly holds it up to its own
// rebalance timeout, and a static KIP-848 member's place is kept for a session. What the
// record that ends it changes, the verdict on that record tells.
func (w *Watcher) draft(b *book, now time.Time) []Event {
	if !w.info.Log || w.degrade != nil {
		return nil
	}
	g := w.differ.group(b.id)
	leaving := g.leaving()
	if len(leaving) == 0 {
		clear(b.drafted)
		delete(w.differ.left, b.id)
		return nil
	}
	due := slices.DeleteFunc(slices.Clone(leaving), func(d draft) bool {
		return b.drafted[d] || now.Add(g.skew).Sub(d.at.Time) < draftAfter
	})
	if len(due) == 0 {
		return nil
	}
	records := asIfOver(b.all(), leaving, g.seen, inspect.At(now.Add(g.skew)))
	if len(records) == 0 {
		return nil
	}
	over := *b
	over.records = append(slices.Clone(b.records), records...)
	reading := w.read(&over, now)
	w.inquire(b, reading, now)
	if b.waits(now) {
		return nil
	}
	var out []Event
	tl := reading.Timeline()
	i := slices.IndexFunc(tl.Rebalances, func(r inspect.Rebalance) bool { return r.ID == records[len(records)-1].ID() })
	for _, d := range due {
		b.drafted[d] = true
		if i < 0 {
			continue
		}
		e := w.causeEvent(b, &tl.Rebalances[i], d.incident)
		e.Type, e.Record, e.Generation, e.Happened = CauseSoFar, "", nil, d.at
		if e.Confidence == inspect.High {
			e.Confidence = inspect.Medium // how it ends, and who comes back, is still to be seen
		}
		out = append(out, w.differ.stamp(e)...)
	}
	return out
}

// asIfOver are the records that the coordinator would write if the rebalance were over
// at a time, with those members that the newest poll shows; none where the group's
// newest generation or epoch was not read.
func asIfOver(records []inspect.Record, leaving []draft, poll *inspect.Observation, at inspect.Time) []inspect.Record {
	i := lastChange(records)
	if i < 0 {
		return nil
	}
	next := records[i]
	next.Offset, next.Time = records[len(records)-1].Offset+1, at
	if next.Metadata != nil {
		next.Metadata = nextGeneration(next.Metadata, leaving, poll, at)
		return []inspect.Record{next}
	}
	var out []inspect.Record
	for _, d := range leaving {
		out = append(out, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Group: next.Group, Partition: next.Partition, Offset: next.Offset,
			Time: at, Member: d.member, Tombstone: true})
		next.Offset++
	}
	epoch := *next.Epoch
	epoch.Epoch++
	next.Epoch = &epoch
	return append(out, next)
}

// lastChange is the index of the newest record that holds a generation or a KIP-848
// epoch; -1 for none, or where the group's deletion came after it.
func lastChange(records []inspect.Record) int {
	for i := len(records) - 1; i >= 0; i-- {
		switch r := &records[i]; {
		case r.Type != inspect.RecGroupMetadata && r.Type != inspect.RecConsumerGroupMetadata:
		case r.Metadata == nil && r.Epoch == nil:
			return -1
		default:
			return i
		}
	}
	return -1
}

// nextGeneration is a generation without those that leave, and with those that a poll
// shows to have joined.
func nextGeneration(was *inspect.GroupMetadata, leaving []draft, poll *inspect.Observation, at inspect.Time) *inspect.GroupMetadata {
	next := *was
	next.Generation, next.StateTime = was.Generation+1, at
	next.Members = slices.DeleteFunc(slices.Clone(was.Members), func(m inspect.GroupMember) bool {
		return slices.ContainsFunc(leaving, func(d draft) bool { return d.member == m.MemberID })
	})
	if poll == nil || !membership.Rebalancing(poll.State) {
		return &next
	}
	for _, m := range poll.Members {
		if !slices.ContainsFunc(was.Members, func(o inspect.GroupMember) bool { return o.MemberID == m.MemberID }) {
			next.Members = append(next.Members, inspect.GroupMember{MemberID: m.MemberID, InstanceID: m.InstanceID, ClientID: m.ClientID, Host: m.Host})
		}
	}
	return &next
}
