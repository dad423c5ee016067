package timeline

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
)

// walk reads the records in order and cuts them into steps.
func (t *track) walk() {
	for i, r := range t.recs {
		switch r.Type {
		case inspect.RecLegacyOffsetCommit, inspect.RecOffsetCommit:
		case inspect.RecGroupMetadata:
			t.flush()
			t.classic(i, r)
		default:
			t.epochRecord(i, r)
		}
	}
	t.flush()
	t.finishConvergence()
}

// classic takes a GroupMetadata record.
func (t *track) classic(i int, r *inspect.Record) {
	if r.Tombstone || r.Metadata == nil {
		if r.Tombstone {
			t.tombstone(i, r)
		}
		return
	}
	g := r.Metadata
	fresh := t.readMembers(g, r)
	downgraded := t.kind == inspect.Consumer && len(t.members) > 0
	t.kind = inspect.Classic
	defer func() { t.gen, t.genPos, t.known, t.deleted = g.Generation, i, true, nil }()
	if t.created(g, fresh) {
		t.members = fresh
		return
	}
	if t.genPos >= 0 && g.Generation == t.gen && !downgraded {
		if t.swapStatic(i, r, fresh) || maps.EqualFunc(fresh, t.members, sameMember) {
			t.take(fresh, i)
			return
		}
	}
	if t.fold(i, r, fresh) {
		t.take(fresh, i)
		return
	}
	s := t.newClassicStep(i, r, fresh)
	s.upgraded = downgraded
	if downgraded {
		s.protoFrom, s.protoTo = string(inspect.Consumer), string(inspect.Classic)
	}
	t.steps = append(t.steps, s)
	t.take(fresh, i)
	t.proto = value(g.Protocol)
}

// created reports the record that the first JoinGroup writes: generation 0, no
// members. Nothing rebalanced yet.
func (t *track) created(g *inspect.GroupMetadata, fresh map[string]*member) bool {
	return g.Generation == 0 && len(fresh) == 0 && len(t.members) == 0
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func sameMember(a, b *member) bool { return a.id == b.id }

// readMembers makes members of a record, keeping what is known of those seen before.
func (t *track) readMembers(g *inspect.GroupMetadata, r *inspect.Record) map[string]*member {
	out := make(map[string]*member, len(g.Members))
	for i := range g.Members {
		gm := &g.Members[i]
		m := &member{id: gm.MemberID, clientID: gm.ClientID, host: gm.Host, instance: gm.InstanceID,
			session: known(gm.Session), rebalance: known(gm.Rebalance), topics: slices.Sorted(slices.Values(gm.Topics)),
			since: r.Time.Time}
		for _, a := range gm.Assigned {
			for _, p := range a.Partitions {
				m.assigned = append(m.assigned, tp{a.Topic, p})
			}
		}
		if old := t.members[m.id]; old != nil {
			m.since = old.since
		} else if !t.known && g.Generation > 1 {
			m.since = time.Time{} // it may have been there for long
		}
		m.guess = t.guess(family.OfMember(r.Group, g, gm))
		out[m.id] = m
	}
	return out
}

func known(m inspect.Millis) *inspect.Millis {
	if m <= 0 {
		return nil
	}
	return &m
}

func (t *track) guess(e family.Evidence) inspect.ClientGuess {
	if t.opts.Family == nil {
		return family.Guess(e)
	}
	return t.opts.Family(e)
}

// swapStatic takes the record of a static restart: the same generation, in which
// another member id holds the instance id.
func (t *track) swapStatic(i int, r *inspect.Record, fresh map[string]*member) bool {
	if len(fresh) != len(t.members) {
		return false
	}
	var swaps []replacement
	for id, m := range fresh {
		if t.members[id] != nil {
			continue
		}
		old := t.holder(m.instance, fresh)
		if old == nil {
			return false
		}
		swaps = append(swaps, replacement{old: old, new: m})
	}
	if len(swaps) == 0 {
		return false
	}
	s := t.openStep(i, r)
	s.gen, s.gens, s.after = t.gen, []int32{t.gen}, fresh
	prev := t.gen
	s.prevGen = &prev
	s.replaced = t.withHoldings(swaps)
	s.total = len(t.owner)
	t.steps = append(t.steps, s)
	return true
}

// holder is the member that holds an instance id and is not in the new record.
func (t *track) holder(instance *string, fresh map[string]*member) *member {
	if value(instance) == "" {
		return nil
	}
	for id, m := range t.members {
		if fresh[id] == nil && value(m.instance) == *instance {
			return m
		}
	}
	return nil
}

// withHoldings notes what the replaced members held, and orders the swaps.
func (t *track) withHoldings(swaps []replacement) []replacement {
	slices.SortFunc(swaps, func(a, b replacement) int { return strings.Compare(a.new.id, b.new.id) })
	for i := range swaps {
		swaps[i].held = t.holdings(swaps[i].old.id)
		for k, h := range t.owner {
			if h.member == swaps[i].old.id {
				t.owner[k] = holding{swaps[i].new.id, h.from}
			}
		}
	}
	return swaps
}

// holdings are the partitions of a member, with the record since which it has them.
func (t *track) holdings(id string) map[tp]int {
	out := map[tp]int{}
	for k, h := range t.owner {
		if h.member == id {
			out[k] = h.from
		}
	}
	return out
}

// openStep starts a step at a record.
func (t *track) openStep(i int, r *inspect.Record) *step {
	t.kept = true
	return &step{pos: i, first: i, at: r.Time.Time, endAt: r.Time.Time, before: t.members, base: !t.known,
		id: recordID(r), after: map[string]*member{}}
}

// newClassicStep is the step from the members before to those in the record.
func (t *track) newClassicStep(i int, r *inspect.Record, fresh map[string]*member) *step {
	g := r.Metadata
	s := t.openStep(i, r)
	s.gen, s.gens, s.after, s.stateTime = g.Generation, []int32{g.Generation}, fresh, g.StateTime.Time
	s.base = s.base && g.Generation > 1
	if t.genPos >= 0 {
		prev := t.gen
		s.prevGen = &prev
		if jump := g.Generation - t.gen - 1; jump > 0 {
			if t.complete(t.genPos) {
				s.skipped = jump
			} else {
				s.compacted = true
			}
		}
	}
	s.empty = len(fresh) == 0
	s.protoFrom, s.protoTo = t.proto, value(g.Protocol)
	s.eager = eager(s.protoTo)
	if !s.base {
		t.diff(s, i)
	}
	t.compareTopics(s)
	s.unassigned = map[tp]bool{}
	now := assignedIn(fresh)
	for k := range t.owner {
		if _, ok := now[k]; !ok {
			s.unassigned[k] = true
		}
	}
	t.countMoves(s, now)
	return s
}

// complete reports whether nothing of this group can have been compacted away
// after the record.
func (t *track) complete(pos int) bool {
	r := t.recs[pos]
	for _, l := range t.in.Logs {
		if l.Partition == r.Partition {
			return r.Offset >= l.CompleteFrom
		}
	}
	return true
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

func assignedIn(members map[string]*member) map[tp]string {
	out := map[tp]string{}
	for id, m := range members {
		for _, k := range m.assigned {
			out[k] = id
		}
	}
	return out
}

// diff fills in who came, who went and who took whose place.
func (t *track) diff(s *step, i int) {
	taken := map[string]bool{}
	var swaps []replacement
	for _, m := range byID(s.after) {
		if s.before[m.id] != nil {
			continue
		}
		if old := t.holder(m.instance, s.after); old != nil && !taken[old.id] {
			taken[old.id] = true
			swaps = append(swaps, replacement{old: old, new: m})
			continue
		}
		s.joined = append(s.joined, m)
	}
	for _, m := range byID(s.before) {
		if s.after[m.id] != nil || taken[m.id] {
			continue
		}
		s.left = append(s.left, &departure{m: m, pos: i, held: t.holdings(m.id), step: s})
	}
	// A static member whose generation changed with it was not swapped in place: it
	// came back while its departure was being rebalanced.
	for _, sw := range swaps {
		d := &departure{m: sw.old, pos: i, held: t.holdings(sw.old.id), step: s, swap: sw.new}
		s.left = append(s.left, d)
		s.joined = append(s.joined, sw.new)
	}
	pairSwaps(s)
	if len(s.left) == 0 {
		return
	}
	s.surviving = map[string]map[tp]int{}
	for k, h := range t.owner {
		if s.after[h.member] == nil || s.before[h.member] == nil {
			continue
		}
		held := s.surviving[h.member]
		if held == nil {
			held = map[tp]int{}
			s.surviving[h.member] = held
		}
		held[k] = h.from
	}
	for id, held := range s.surviving {
		s.surviving[id] = someOf(held)
	}
}

// someOf keeps the first fewParts partitions, so that the choice is always the same.
func someOf(held map[tp]int) map[tp]int {
	if len(held) <= fewParts {
		return held
	}
	keys := slices.SortedFunc(maps.Keys(held), compareTP)
	out := make(map[tp]int, fewParts)
	for _, k := range keys[:fewParts] {
		out[k] = held[k]
	}
	return out
}

// pairSwaps finds dynamic members that were replaced by the same client on the
// same host in one record. Where several share client id and host the pairs
// cannot be told, only their number.
func pairSwaps(s *step) {
	used := map[string]bool{}
	for _, d := range s.left {
		if d.swap != nil {
			used[d.swap.id] = true
		}
	}
	for _, d := range s.left {
		if d.swap != nil {
			continue
		}
		for _, m := range s.joined {
			if !used[m.id] && sameClient(d.m, m) {
				d.swap, used[m.id] = m, true
				break
			}
		}
	}
}

func sameClient(a, b *member) bool {
	if a.static() || b.static() {
		return value(a.instance) == value(b.instance)
	}
	return a.clientID == b.clientID && a.host == b.host && a.clientID != ""
}

func byID(m map[string]*member) []*member {
	out := make([]*member, 0, len(m))
	for _, id := range slices.Sorted(maps.Keys(m)) {
		out = append(out, m[id])
	}
	return out
}

// compareTopics notes changed subscriptions, and partitions that are new.
func (t *track) compareTopics(s *step) {
	for _, m := range byID(s.after) {
		old := s.before[m.id]
		if old == nil || old.topics == nil || m.topics == nil || slices.Equal(old.topics, m.topics) {
			continue
		}
		s.subs = append(s.subs, m.lane()+" now reads "+strings.Join(m.topics, ", ")+", before "+strings.Join(old.topics, ", "))
	}
	if s.base || s.prevGen == nil || len(s.before) == 0 {
		return
	}
	topics := map[string]bool{}
	for k := range t.owner {
		topics[k.topic] = true
	}
	for k := range assignedIn(s.after) {
		if _, had := t.owner[k]; !had && topics[k.topic] && !t.everOwned(k) {
			s.grown = append(s.grown, k)
		}
	}
	slices.SortFunc(s.grown, compareTP)
}

// everOwned reports whether the partition was assigned to somebody or committed
// before the walk's present record.
func (t *track) everOwned(k tp) bool {
	for _, s := range t.steps {
		if s.unassigned[k] {
			return true
		}
	}
	return false
}

func compareTP(a, b tp) int {
	if c := strings.Compare(a.topic, b.topic); c != 0 {
		return c
	}
	return int(a.part) - int(b.part)
}

// countMoves counts the partitions that have another owner than before.
func (t *track) countMoves(s *step, now map[tp]string) {
	s.total = len(now)
	if s.base {
		return
	}
	s.moved = 0
	for k, id := range now {
		if h, ok := t.owner[k]; ok && h.member != id {
			s.moved++
		} else if !ok && len(t.owner) > 0 {
			s.moved++
		}
	}
}

// fold merges the second half of a cooperative rebalance into its first: the same
// members, and assigned again what the first half took away.
func (t *track) fold(i int, r *inspect.Record, fresh map[string]*member) bool {
	g := r.Metadata
	if len(t.steps) == 0 || t.genPos < 0 || g.Generation != t.gen+1 || len(fresh) == 0 || eager(value(g.Protocol)) {
		return false
	}
	s := t.steps[len(t.steps)-1]
	if s.server || s.deleted || s.pos != t.genPos || !maps.EqualFunc(fresh, s.after, sameMember) {
		return false
	}
	given := 0
	now := assignedIn(fresh)
	for k := range now {
		if _, had := t.owner[k]; had {
			continue
		}
		if !s.unassigned[k] && !s.base && len(s.joined) == 0 {
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
	s.gens = append(s.gens, g.Generation)
	s.gen, s.after, s.pos, s.endAt = g.Generation, fresh, i, r.Time.Time
	for k := range now {
		if s.unassigned[k] {
			s.moved++
		}
	}
	s.total = len(now)
	return true
}

// take makes the record's members the group's, and updates who owns what.
func (t *track) take(fresh map[string]*member, i int) {
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
	t.members = fresh
	for id, m := range fresh {
		t.seen[id] = m
	}
}

// tombstone takes the deletion of a classic group, which an upgrade may follow.
func (t *track) tombstone(i int, r *inspect.Record) {
	s := t.openStep(i, r)
	s.deleted, s.empty = true, true
	s.gen, s.gens = t.gen, []int32{t.gen}
	if t.genPos >= 0 {
		prev := t.gen
		s.prevGen = &prev
	}
	t.steps = append(t.steps, s)
	t.deleted = s
	t.genPos = -1
	t.proto = ""
	if len(t.members) == 0 {
		t.owner = map[tp]holding{}
		t.known = true
	}
	t.members, t.kept = map[string]*member{}, false
}
