package membership

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
)

// classic takes a GroupMetadata record.
func (t *Group) classic(i int, r *inspect.Record) []Change {
	switch {
	case r.Tombstone:
		return t.tombstone(i, r)
	case r.Metadata == nil:
		return nil
	}
	g := r.Metadata
	downgraded := t.Type == inspect.Consumer && len(t.Members) > 0
	if t.has && !downgraded && g.Generation < t.gen && !r.Time.After(t.changed) {
		return nil // older than what the snapshot knew
	}
	before, fresh := t.Members, t.readMembers(g, r)
	c := t.classicChange(i, r, fresh, downgraded)
	c.ID, c.At = r.ID(), r.Time.Time
	c.Before, c.After, c.Edits = before, fresh, edits(before, fresh)
	if c.Kind == Created {
		t.Members = fresh
	} else {
		t.take(fresh, i)
		t.Assignor = text(g.Protocol)
	}
	if c.Step != nil {
		t.last = c.Step
	}
	t.Type, t.Leader, t.changed, t.unrest = inspect.Classic, text(g.Leader), r.Time.Time, false
	t.gen, t.has, t.genPos, t.genOf, t.known, t.deleted = g.Generation, true, i, r, true, nil
	return []Change{c}
}

// classicChange says what a record with these members is: the beginning of a group, a
// static member's new process, a changed setting, or a rebalance or its second half.
func (t *Group) classicChange(i int, r *inspect.Record, fresh map[string]*Member, downgraded bool) Change {
	g := r.Metadata
	if g.Generation == 0 && len(fresh) == 0 && len(t.Members) == 0 {
		return Change{Kind: Created} // the first JoinGroup writes it; nothing rebalanced yet
	}
	if t.has && g.Generation == t.gen && !downgraded {
		if swaps := t.swapsOnly(fresh); len(swaps) > 0 {
			return Change{Kind: Swapped, Step: t.swapStep(t.openStep(i, r), fresh, swaps)}
		}
		if maps.EqualFunc(fresh, t.Members, sameMember) {
			return Change{Kind: Edited}
		}
	}
	if t.fold(i, r, fresh) {
		return Change{Kind: Continued, Step: t.last}
	}
	s := t.classicStep(i, r, fresh)
	if downgraded {
		s.Migrated, s.ProtocolFrom, s.ProtocolTo = true, string(inspect.Consumer), string(inspect.Classic)
	}
	return Change{Kind: Rebalanced, Step: s}
}

// swapStep makes a step one in which static members were replaced, and nothing else.
func (t *Group) swapStep(s *Step, fresh map[string]*Member, swaps []Replacement) *Step {
	for _, sw := range swaps {
		for k, from := range sw.Held {
			if h, ok := t.owner[k]; !ok || h.member == sw.Old.ID {
				t.owner[k] = holding{sw.New.ID, from}
			}
		}
	}
	s.After, s.Replaced, s.Assigned = fresh, swaps, len(t.owner)
	return s
}

// readMembers makes members of a record, keeping what is known of those seen before.
func (t *Group) readMembers(g *inspect.GroupMetadata, r *inspect.Record) map[string]*Member {
	out := make(map[string]*Member, len(g.Members))
	for i := range g.Members {
		gm := &g.Members[i]
		m := &Member{ID: gm.MemberID, ClientID: gm.ClientID, Host: gm.Host, InstanceID: gm.InstanceID,
			Session: positive(gm.Session), Rebalance: positive(gm.Rebalance), Topics: slices.Sorted(slices.Values(gm.Topics)),
			Client: t.guess(family.OfMember(r.Group, g, gm)), Since: r.Time.Time, Assigned: partitionsOf(gm.Assigned)}
		if old := t.Members[m.ID]; old != nil {
			m.Since, m.Recalled = old.Since, old.Recalled
		} else if !t.known && g.Generation > 1 {
			m.Since = time.Time{} // it may have been there for long
		} else {
			m.Recalled = family.Recalled(text(g.Protocol), gm.Subscription)
		}
		out[m.ID] = m
	}
	return out
}

// positive is a timeout; nil where a record holds none.
func positive(m inspect.Millis) *inspect.Millis {
	if m <= 0 {
		return nil
	}
	return &m
}

// classicStep is the step from the members before to those in the record.
func (t *Group) classicStep(i int, r *inspect.Record, fresh map[string]*Member) *Step {
	g := r.Metadata
	s := t.openStep(i, r)
	s.Generation, s.Generations, s.After, s.StateTime = g.Generation, []int32{g.Generation}, fresh, g.StateTime.Time
	s.Base = s.Base && g.Generation > 1
	if jump := g.Generation - t.gen - 1; t.has && jump > 0 {
		s.Compacted = t.genOf != nil && !Complete(t.opts.Logs, t.genOf)
		if !s.Compacted {
			s.Skipped = jump
		}
	}
	s.Empty = len(fresh) == 0
	s.ProtocolFrom, s.ProtocolTo = t.Assignor, text(g.Protocol)
	s.Eager, s.worked, t.worked = eager(s.ProtocolTo), t.worked, restarted(r, fresh)
	if !s.Base {
		t.diff(s, i, [2]time.Time{t.changed, joinEnd(r)})
	}
	now := ownersIn(fresh)
	t.compareTopics(s, now)
	s.unassigned = map[TopicPartition]bool{}
	for k := range t.owner {
		if _, ok := now[k]; !ok {
			s.unassigned[k], t.freed[k] = true, true
		}
	}
	t.countMoves(s, now)
	return s
}

// joinEnd is the latest that a member missing from the record can have gone: the end
// of the join phase, which is when the group entered CompletingRebalance.
func joinEnd(r *inspect.Record) time.Time {
	if st := r.Metadata.StateTime; !st.IsZero() && len(r.Metadata.Members) > 0 && !st.After(r.Time.Time) {
		return st.Time
	}
	return r.Time.Time
}

// eager reports an assignor that is known to take all partitions away while it
// rebalances (Kafka's own list; anything unknown may be cooperative).
func eager(assignor string) bool {
	switch assignor {
	case "range", "roundrobin", "sticky":
		return true
	}
	return false
}

// compareTopics notes changed subscriptions, and partitions that are new.
func (t *Group) compareTopics(s *Step, now map[TopicPartition]string) {
	for _, m := range ByID(s.After) {
		old := s.Before[m.ID]
		if old == nil || old.Topics == nil || m.Topics == nil || slices.Equal(old.Topics, m.Topics) {
			continue
		}
		s.Subscriptions = append(s.Subscriptions, m.Name()+" now reads "+strings.Join(m.Topics, ", ")+", before "+strings.Join(old.Topics, ", "))
	}
	if s.Base || s.PreviousGeneration == nil || len(s.Before) == 0 {
		return
	}
	topics := map[string]bool{}
	for k := range t.owner {
		topics[k.Topic] = true
	}
	for k := range now {
		if _, had := t.owner[k]; !had && topics[k.Topic] && !t.freed[k] {
			s.Grown = append(s.Grown, k)
		}
	}
	slices.SortFunc(s.Grown, Compare)
}

// countMoves counts the partitions that have another owner than before.
func (t *Group) countMoves(s *Step, now map[TopicPartition]string) {
	s.Assigned = len(now)
	if s.Base {
		return
	}
	for k, id := range now {
		if h, ok := t.owner[k]; ok && h.member != id || !ok && len(t.owner) > 0 {
			s.Moved++
		}
	}
}

// fold merges the second half of a cooperative rebalance into its first: the same
// members, and assigned again what the first half took away.
func (t *Group) fold(i int, r *inspect.Record, fresh map[string]*Member) bool {
	g, s := r.Metadata, t.last
	if s == nil || !t.has || g.Generation != t.gen+1 || len(fresh) == 0 || eager(text(g.Protocol)) ||
		s.ServerSide || s.Deleted || s.Pos != t.genPos || !maps.EqualFunc(fresh, s.After, sameMember) {
		return false
	}
	now := ownersIn(fresh)
	given, ok := t.givenBack(s, now)
	if !ok {
		return false
	}
	s.Generations = append(s.Generations, g.Generation)
	s.Generation, s.After, s.Pos, s.EndAt, s.Assigned = g.Generation, fresh, i, r.Time.Time, len(now)
	for _, k := range given {
		if s.unassigned[k] {
			s.Moved++
			delete(s.unassigned, k)
		}
	}
	return true
}

// givenBack are the partitions that a step had left without an owner and that now have
// one, where nothing else changed. What was taken away before the step is not known of
// one that somebody joined, or that was the first that was read.
func (t *Group) givenBack(s *Step, now map[TopicPartition]string) (given []TopicPartition, ok bool) {
	lenient := len(s.Generations) == 1 && (s.Base || len(s.Joined) > 0)
	for k := range now {
		if _, had := t.owner[k]; had {
			continue
		}
		if !s.unassigned[k] && !lenient {
			return nil, false
		}
		given = append(given, k)
	}
	for k := range t.owner {
		if _, still := now[k]; !still {
			return nil, false
		}
	}
	return given, len(given) > 0
}

// take makes the record's members the group's, and updates who owns what.
func (t *Group) take(fresh map[string]*Member, i int) {
	now := ownersIn(fresh)
	for k := range t.owner {
		if _, ok := now[k]; !ok {
			delete(t.owner, k)
		}
	}
	for k, id := range now {
		if h, ok := t.owner[k]; !ok || h.member != id {
			t.owner[k] = holding{id, i}
		}
	}
	t.Members = fresh
	for _, m := range fresh {
		t.remember(m)
	}
}

// tombstone takes the deletion of a classic group, which an upgrade may follow.
func (t *Group) tombstone(i int, r *inspect.Record) []Change {
	s := t.openStep(i, r)
	s.Deleted, s.Empty = true, true
	t.deleted, t.has, t.genPos, t.genOf, t.Assignor, t.Leader = s, false, -1, nil, "", ""
	if len(t.Members) == 0 {
		t.owner, t.known = map[TopicPartition]holding{}, true
	}
	t.Members, t.kept = map[string]*Member{}, false
	return t.add(Deleted, s)
}
