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
func (t *Group) classic(i int, r *inspect.Record) {
	if r.Tombstone || r.Metadata == nil {
		if r.Tombstone {
			t.tombstone(i, r)
		}
		return
	}
	g := r.Metadata
	fresh := t.readMembers(g, r)
	downgraded := t.Type == inspect.Consumer && len(t.Members) > 0
	t.Type = inspect.Classic
	defer func() { t.gen, t.genPos, t.known, t.deleted = g.Generation, i, true, nil }()
	if t.created(g, fresh) {
		t.Members = fresh
		return
	}
	if t.genPos >= 0 && g.Generation == t.gen && !downgraded {
		if t.swapStatic(i, r, fresh) || maps.EqualFunc(fresh, t.Members, sameMember) {
			t.take(fresh, i)
			return
		}
	}
	if t.fold(i, r, fresh) {
		t.take(fresh, i)
		return
	}
	s := t.newClassicStep(i, r, fresh)
	s.Migrated = downgraded
	if downgraded {
		s.ProtocolFrom, s.ProtocolTo = string(inspect.Consumer), string(inspect.Classic)
	}
	t.Steps = append(t.Steps, s)
	t.take(fresh, i)
	t.proto = text(g.Protocol)
}

// created reports the record that the first JoinGroup writes: generation 0, no
// members. Nothing rebalanced yet.
func (t *Group) created(g *inspect.GroupMetadata, fresh map[string]*Member) bool {
	return g.Generation == 0 && len(fresh) == 0 && len(t.Members) == 0
}

// readMembers makes members of a record, keeping what is known of those seen before.
func (t *Group) readMembers(g *inspect.GroupMetadata, r *inspect.Record) map[string]*Member {
	out := make(map[string]*Member, len(g.Members))
	for i := range g.Members {
		gm := &g.Members[i]
		m := &Member{ID: gm.MemberID, ClientID: gm.ClientID, Host: gm.Host, InstanceID: gm.InstanceID,
			Session: known(gm.Session), Rebalance: known(gm.Rebalance), Topics: slices.Sorted(slices.Values(gm.Topics)),
			Since: r.Time.Time}
		for _, a := range gm.Assigned {
			for _, p := range a.Partitions {
				m.Assigned = append(m.Assigned, TopicPartition{a.Topic, p})
			}
		}
		if old := t.Members[m.ID]; old != nil {
			m.Since = old.Since
		} else if !t.known && g.Generation > 1 {
			m.Since = time.Time{} // it may have been there for long
		}
		m.Client = t.guess(family.OfMember(r.Group, g, gm))
		out[m.ID] = m
	}
	return out
}

func known(m inspect.Millis) *inspect.Millis {
	if m <= 0 {
		return nil
	}
	return &m
}

func (t *Group) guess(e family.Evidence) inspect.ClientGuess {
	if t.in.Family == nil {
		return family.Guess(e)
	}
	return t.in.Family(e)
}

// swapStatic takes the record of a static restart: the same generation, in which
// another member id holds the instance id.
func (t *Group) swapStatic(i int, r *inspect.Record, fresh map[string]*Member) bool {
	if len(fresh) != len(t.Members) {
		return false
	}
	var swaps []Replacement
	for id, m := range fresh {
		if t.Members[id] != nil {
			continue
		}
		old := t.holder(m.InstanceID, fresh)
		if old == nil {
			return false
		}
		swaps = append(swaps, Replacement{Old: old, New: m})
	}
	if len(swaps) == 0 {
		return false
	}
	s := t.openStep(i, r)
	s.Generation, s.Generations, s.After = t.gen, []int32{t.gen}, fresh
	prev := t.gen
	s.PreviousGeneration = &prev
	s.Replaced = t.withHoldings(swaps)
	s.Assigned = len(t.owner)
	t.Steps = append(t.Steps, s)
	return true
}

// holder is the member that holds an instance id and is not in the new record.
func (t *Group) holder(instance *string, fresh map[string]*Member) *Member {
	if text(instance) == "" {
		return nil
	}
	for id, m := range t.Members {
		if fresh[id] == nil && m.Instance() == *instance {
			return m
		}
	}
	return nil
}

// withHoldings notes what the replaced members held, and orders the swaps.
func (t *Group) withHoldings(swaps []Replacement) []Replacement {
	slices.SortFunc(swaps, func(a, b Replacement) int { return strings.Compare(a.New.ID, b.New.ID) })
	for i := range swaps {
		swaps[i].Held = t.holdings(swaps[i].Old.ID)
		for k, h := range t.owner {
			if h.member == swaps[i].Old.ID {
				t.owner[k] = holding{swaps[i].New.ID, h.from}
			}
		}
	}
	return swaps
}

// holdings are the partitions of a member, with the record since which it has them.
func (t *Group) holdings(id string) map[TopicPartition]int {
	out := map[TopicPartition]int{}
	for k, h := range t.owner {
		if h.member == id {
			out[k] = h.from
		}
	}
	return out
}

// openStep starts a step at a record.
func (t *Group) openStep(i int, r *inspect.Record) *Step {
	t.kept = true
	return &Step{Pos: i, First: i, At: r.Time.Time, EndAt: r.Time.Time, Before: t.Members, Base: !t.known,
		ID: r.ID(), After: map[string]*Member{}}
}

// newClassicStep is the step from the members before to those in the record.
func (t *Group) newClassicStep(i int, r *inspect.Record, fresh map[string]*Member) *Step {
	g := r.Metadata
	s := t.openStep(i, r)
	s.Generation, s.Generations, s.After, s.StateTime = g.Generation, []int32{g.Generation}, fresh, g.StateTime.Time
	s.Base = s.Base && g.Generation > 1
	if t.genPos >= 0 {
		prev := t.gen
		s.PreviousGeneration = &prev
		if jump := g.Generation - t.gen - 1; jump > 0 {
			if Complete(t.in.Logs, t.Records[t.genPos]) {
				s.Skipped = jump
			} else {
				s.Compacted = true
			}
		}
	}
	s.Empty = len(fresh) == 0
	s.ProtocolFrom, s.ProtocolTo = t.proto, text(g.Protocol)
	s.Eager = eager(s.ProtocolTo)
	if !s.Base {
		t.diff(s, i)
	}
	t.compareTopics(s)
	s.unassigned = map[TopicPartition]bool{}
	now := assignedIn(fresh)
	for k := range t.owner {
		if _, ok := now[k]; !ok {
			s.unassigned[k] = true
		}
	}
	t.countMoves(s, now)
	return s
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

func assignedIn(members map[string]*Member) map[TopicPartition]string {
	out := map[TopicPartition]string{}
	for id, m := range members {
		for _, k := range m.Assigned {
			out[k] = id
		}
	}
	return out
}

// diff fills in who came, who went and who took whose place.
func (t *Group) diff(s *Step, i int) {
	taken := map[string]bool{}
	var swaps []Replacement
	for _, m := range ByID(s.After) {
		if s.Before[m.ID] != nil {
			continue
		}
		if old := t.holder(m.InstanceID, s.After); old != nil && !taken[old.ID] {
			taken[old.ID] = true
			swaps = append(swaps, Replacement{Old: old, New: m})
			continue
		}
		s.Joined = append(s.Joined, m)
	}
	for _, m := range ByID(s.Before) {
		if s.After[m.ID] != nil || taken[m.ID] {
			continue
		}
		s.Left = append(s.Left, &Departure{Member: m, Pos: i, Held: t.holdings(m.ID)})
	}
	// A static member whose generation changed with it was not swapped in place: it
	// came back while its departure was being rebalanced.
	for _, sw := range swaps {
		d := &Departure{Member: sw.Old, Pos: i, Held: t.holdings(sw.Old.ID), Swap: sw.New}
		s.Left = append(s.Left, d)
		s.Joined = append(s.Joined, sw.New)
	}
	pairSwaps(s)
	if len(s.Left) == 0 {
		return
	}
	s.Surviving = map[string]map[TopicPartition]int{}
	for k, h := range t.owner {
		if s.After[h.member] == nil || s.Before[h.member] == nil {
			continue
		}
		held := s.Surviving[h.member]
		if held == nil {
			held = map[TopicPartition]int{}
			s.Surviving[h.member] = held
		}
		held[k] = h.from
	}
	for id, held := range s.Surviving {
		s.Surviving[id] = someOf(held)
	}
}

// compareTopics notes changed subscriptions, and partitions that are new.
func (t *Group) compareTopics(s *Step) {
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
	for k := range assignedIn(s.After) {
		if _, had := t.owner[k]; !had && topics[k.Topic] && !t.everOwned(k) {
			s.Grown = append(s.Grown, k)
		}
	}
	slices.SortFunc(s.Grown, Compare)
}

// everOwned reports whether the partition was assigned to somebody or committed
// before the walk's present record.
func (t *Group) everOwned(k TopicPartition) bool {
	for _, s := range t.Steps {
		if s.unassigned[k] {
			return true
		}
	}
	return false
}

// countMoves counts the partitions that have another owner than before.
func (t *Group) countMoves(s *Step, now map[TopicPartition]string) {
	s.Assigned = len(now)
	if s.Base {
		return
	}
	s.Moved = 0
	for k, id := range now {
		if h, ok := t.owner[k]; ok && h.member != id {
			s.Moved++
		} else if !ok && len(t.owner) > 0 {
			s.Moved++
		}
	}
}

// fold merges the second half of a cooperative rebalance into its first: the same
// members, and assigned again what the first half took away.
func (t *Group) fold(i int, r *inspect.Record, fresh map[string]*Member) bool {
	g := r.Metadata
	if len(t.Steps) == 0 || t.genPos < 0 || g.Generation != t.gen+1 || len(fresh) == 0 || eager(text(g.Protocol)) {
		return false
	}
	s := t.Steps[len(t.Steps)-1]
	if s.ServerSide || s.Deleted || s.Pos != t.genPos || !maps.EqualFunc(fresh, s.After, sameMember) {
		return false
	}
	given := 0
	now := assignedIn(fresh)
	for k := range now {
		if _, had := t.owner[k]; had {
			continue
		}
		if !s.unassigned[k] && !s.Base && len(s.Joined) == 0 {
			return false
		}
		given++
	}
	if given == 0 {
		return false
	}
	for k := range t.owner {
		if _, still := now[k]; !still {
			return false
		}
	}
	s.Generations = append(s.Generations, g.Generation)
	s.Generation, s.After, s.Pos, s.EndAt = g.Generation, fresh, i, r.Time.Time
	for k := range now {
		if s.unassigned[k] {
			s.Moved++
		}
	}
	s.Assigned = len(now)
	return true
}

// take makes the record's members the group's, and updates who owns what.
func (t *Group) take(fresh map[string]*Member, i int) {
	now := assignedIn(fresh)
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
	for id, m := range fresh {
		t.Seen[id] = m
	}
}

// tombstone takes the deletion of a classic group, which an upgrade may follow.
func (t *Group) tombstone(i int, r *inspect.Record) {
	s := t.openStep(i, r)
	s.Deleted, s.Empty = true, true
	s.Generation, s.Generations = t.gen, []int32{t.gen}
	if t.genPos >= 0 {
		prev := t.gen
		s.PreviousGeneration = &prev
	}
	t.Steps = append(t.Steps, s)
	t.deleted = s
	t.genPos = -1
	t.proto = ""
	if len(t.Members) == 0 {
		t.owner = map[TopicPartition]holding{}
		t.known = true
	}
	t.Members, t.kept = map[string]*Member{}, false
}
