package watch

import (
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
)

// Record takes one record of the log's tail, in the order of its partition, that
// arrived at the given time by kgdiag's clock. A record that was seen before tells
// nothing: offsets only ascend, also over a change of leader.
func (d *Differ) Record(r *inspect.Record, arrived inspect.Time) []Event {
	g := d.group(r.Group)
	if g.partition == r.Partition && r.Offset <= g.offset {
		return nil
	}
	if g.pend.open() && r.Time.Sub(g.pend.since.Time) > settleOpen {
		d.flush(g)
	}
	switch r.Type {
	case inspect.RecOffsetCommit, inspect.RecLegacyOffsetCommit:
		// Commits say nothing about the membership.
	case inspect.RecGroupMetadata:
		d.classic(g, r, arrived)
	default:
		d.epochs(g, r, arrived)
	}
	g.partition, g.offset = r.Partition, r.Offset
	return d.take()
}

// classic takes a GroupMetadata record.
func (d *Differ) classic(g *group, r *inspect.Record, arrived inspect.Time) {
	if r.Tombstone || r.Metadata == nil {
		// Deleted, or upgraded to the consumer protocol, whose records then follow.
		g.tombstoned = r.Tombstone
		return
	}
	m := r.Metadata
	back := g.generation >= 0 && m.Generation < g.generation
	switch {
	case m.Generation == 0 && len(m.Members) == 0:
		// Written by Kafka 4 when the first JoinGroup makes the group.
		d.appear(g, r)
		g.generation, g.members, g.owners = 0, map[string]*member{}, map[string]string{}
		g.lastTime = r.Time
		return
	case back && !g.tombstoned && !r.Time.After(g.lastTime.Time):
		return // older than what the snapshot knew
	case m.Generation == g.generation:
		d.sameGeneration(g, r)
		return
	}
	d.appear(g, r)
	d.nextGeneration(g, r, arrived, back)
}

// appear says that a group has come into being.
func (d *Differ) appear(g *group, r *inspect.Record) {
	g.tombstoned = false
	if g.exists {
		return
	}
	g.exists = true
	d.emit(Event{Type: GroupAppeared, Time: r.Time, Group: g.id, Source: FromLog, Record: r.ID()})
}

// freshMembers reads the members of a record, keeping what is known of old ones.
func (g *group) freshMembers(r *inspect.Record) map[string]*member {
	fresh := make(map[string]*member, len(r.Metadata.Members))
	for i := range r.Metadata.Members {
		gm := &r.Metadata.Members[i]
		session, rebalance := gm.Session, gm.Rebalance
		m := &member{id: gm.MemberID, clientID: gm.ClientID, host: gm.Host, instance: gm.InstanceID,
			session: &session, rebalance: &rebalance, topics: topicsText(gm.Topics), epoch: -1, first: r.Time,
			family: family.Guess(family.OfMember(g.id, r.Metadata, gm)).Family}
		if old := g.members[m.id]; old != nil {
			m.first = old.first
		}
		fresh[m.id] = m
	}
	return fresh
}

// ownersOf says who owns which partition.
func ownersOf(m *inspect.GroupMetadata) map[string]string {
	owners := map[string]string{}
	for i := range m.Members {
		for _, t := range m.Members[i].Assigned {
			for _, p := range t.Partitions {
				owners[tpKey(t.Topic, p)] = m.Members[i].MemberID
			}
		}
	}
	return owners
}

// sameGeneration is a record that repeats the generation: a static member's new
// process took the place of the old one, or a member's metadata changed.
func (d *Differ) sameGeneration(g *group, r *inspect.Record) {
	fresh := g.freshMembers(r)
	joined, left := membersDiff(g.members, fresh)
	var swaps []Swap
	swaps, joined, left = g.pair(joined, left, fresh)
	changes := g.changes(r, fresh)
	n := len(fresh)
	if len(swaps) > 0 {
		d.emit(Event{Type: MemberReplaced, Time: r.Time, Group: g.id, Source: FromLog, Record: r.ID(), Incident: d.newIncident(),
			Generation: &r.Metadata.Generation, GenerationBasis: "record", Members: &n, Replaced: swaps, Changes: changes})
	} else if len(changes) > 0 || len(joined)+len(left) > 0 {
		e := Event{Type: SettingsChanged, Time: r.Time, Group: g.id, Source: FromLog, Record: r.ID(),
			Generation: &r.Metadata.Generation, GenerationBasis: "record", Members: &n, Changes: changes}
		e.Joined, e.Left = g.whos(joined, fresh), g.whos(left, g.members)
		d.emit(e)
	}
	g.takeClassic(r, fresh)
}

// nextGeneration is the end of a rebalance.
func (d *Differ) nextGeneration(g *group, r *inspect.Record, arrived inspect.Time, back bool) {
	m := r.Metadata
	fresh := g.freshMembers(r)
	joined, left := membersDiff(g.members, fresh)
	known := g.generation >= 0 || len(g.members) > 0
	var swaps []Swap
	swaps, joined, left = g.pair(joined, left, fresh)
	n := len(fresh)
	e := Event{Type: RebalanceDone, Time: r.Time, Group: g.id, Source: FromLog, Record: r.ID(),
		Generation: &m.Generation, GenerationBasis: "record", Members: &n, Replaced: swaps, State: "Stable"}
	if n == 0 {
		e.State = "Empty"
	}
	if g.generation >= 0 {
		previous := g.generation
		e.PreviousGeneration = &previous
		if skipped := m.Generation - previous - 1; skipped > 0 && !back {
			e.Skipped = skipped
		}
	}
	if back {
		e.Why = "the generation went back: the group was made anew"
	}
	owners := ownersOf(m)
	if known {
		e.Changes = g.changes(r, fresh)
		e.Moved = moved(g.owners, owners, swaps)
	}
	e.Assigned = len(owners)
	e.Cooperative = g.secondStep(r, fresh, owners)
	e.Left = g.whos(left, g.members)
	bound := [2]inspect.Time{g.lastTime, departureBound(r)}
	for i := range e.Left {
		e.Left[i].LeftBetween = g.leftBetween(&e.Left[i], bound)
	}
	g.members = fresh // labels are those of the new membership
	e.Joined = g.whos(joined, fresh)
	d.close(g, &e, arrived)
	d.emit(e)
	g.takeClassic(r, fresh)
}

// departureBound is the latest that a member missing from the record can have gone:
// the end of the join phase, which is when the group entered CompletingRebalance.
func departureBound(r *inspect.Record) inspect.Time {
	if st := r.Metadata.StateTime; !st.IsZero() && len(r.Metadata.Members) > 0 && !st.After(r.Time.Time) {
		return st
	}
	return r.Time
}

// leftBetween narrows the bound of a departure by what a poll has seen of it.
func (g *group) leftBetween(w *Who, bound [2]inspect.Time) *[2]inspect.Time {
	for i := len(g.gone) - 1; i >= 0; i-- {
		if o := &g.gone[i]; o.who.MemberID == w.MemberID && !o.back && o.who.LeftBetween != nil {
			return o.who.LeftBetween
		}
	}
	// A poll that still saw it is a later beginning than the last record, unless the
	// clocks of broker and kgdiag say otherwise.
	if g.seen != nil && g.seen.To.After(bound[0].Time) && !g.seen.To.After(bound[1].Time) &&
		slices.ContainsFunc(g.seen.Members, func(m inspect.ObservedMember) bool { return m.MemberID == w.MemberID }) {
		bound[0] = g.seen.To
	}
	return &bound
}

// takeClassic makes the record the state of the group.
func (g *group) takeClassic(r *inspect.Record, fresh map[string]*member) {
	m := r.Metadata
	g.kind, g.exists, g.tombstoned = inspect.Classic, true, false
	if g.generation != m.Generation {
		g.ownedBefore = g.owners
	}
	g.generation, g.members, g.owners = m.Generation, fresh, ownersOf(m)
	g.leader, g.protocol = text(m.Leader), text(m.Protocol)
	g.lastTime = r.Time
}

// text is the string behind p, or "".
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// membersDiff finds who is new and who is missing, in order of member id.
func membersDiff(old, fresh map[string]*member) (joined, left []*member) {
	for id, m := range fresh {
		if old[id] == nil {
			joined = append(joined, m)
		}
	}
	for id, m := range old {
		if fresh[id] == nil {
			left = append(left, m)
		}
	}
	byName := func(a, b *member) int {
		if c := strings.Compare(a.clientID, b.clientID); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	}
	slices.SortFunc(joined, byName)
	slices.SortFunc(left, byName)
	return joined, left
}

// pair takes out of both lists the members that were replaced: the same instance
// id, or the same client id and host where that is unambiguous.
func (g *group) pair(joined, left []*member, fresh map[string]*member) ([]Swap, []*member, []*member) {
	var swaps []Swap
	came, went := joined, left // as they were
	for i := 0; i < len(left); i++ {
		old := left[i]
		alike := func(m *member) bool { return sameClient(old, m) }
		next := slices.IndexFunc(joined, alike)
		if next < 0 {
			continue
		}
		now := joined[next]
		s := Swap{ClientID: now.clientID, Host: old.host, OldMemberID: old.id, NewMemberID: now.id, InstanceID: now.instance,
			Ambiguous: many(came, alike) || many(went, alike)}
		if now.host != old.host {
			s.NewHost = now.host
		}
		was := g.members
		g.members = fresh
		s.Label = g.label(now)
		g.members = was
		swaps = append(swaps, s)
		joined = slices.Delete(slices.Clone(joined), next, next+1)
		left = slices.Delete(slices.Clone(left), i, i+1)
		i--
	}
	return swaps, joined, left
}

// many reports whether more than one of the members is alike.
func many(ms []*member, alike func(*member) bool) bool {
	first := slices.IndexFunc(ms, alike)
	return first >= 0 && slices.ContainsFunc(ms[first+1:], alike)
}

// whos are members for an event, labelled among all.
func (g *group) whos(ms []*member, among map[string]*member) []Who {
	was := g.members
	g.members = among
	defer func() { g.members = was }()
	var out []Who
	for _, m := range ms {
		out = append(out, g.who(m))
	}
	return out
}

// changes compares settings of the group and of the members that stayed.
func (g *group) changes(r *inspect.Record, fresh map[string]*member) []Change {
	var out []Change
	m := r.Metadata
	if leader := text(m.Leader); g.leader != "" && leader != "" && leader != g.leader {
		out = append(out, Change{What: "leader", From: g.nameOf(g.leader, g.members), To: g.nameOf(leader, fresh)})
	}
	if protocol := text(m.Protocol); g.protocol != "" && protocol != "" && protocol != g.protocol {
		out = append(out, Change{What: "assignor", From: g.protocol, To: protocol})
	}
	var stayed []*member
	for id := range fresh {
		if g.members[id] != nil {
			stayed = append(stayed, fresh[id])
		}
	}
	slices.SortFunc(stayed, func(a, b *member) int { return strings.Compare(a.id, b.id) })
	for _, now := range stayed {
		out = append(out, g.memberChanges(g.members[now.id], now, g.nameOf(now.id, fresh))...)
	}
	return out
}

// memberChanges compares the settings of one member.
func (g *group) memberChanges(old, now *member, label string) []Change {
	var out []Change
	if old.topics != "" && now.topics != "" && old.topics != now.topics {
		out = append(out, Change{What: "subscription", Member: label, From: old.topics, To: now.topics})
	}
	if old.regex != now.regex && (old.regex != "" || now.regex != "") && old.epoch >= 0 {
		out = append(out, Change{What: "subscription", Member: label, From: old.regex, To: now.regex})
	}
	for _, c := range []struct {
		what     string
		old, now *inspect.Millis
	}{{"session_timeout", old.session, now.session}, {"rebalance_timeout", old.rebalance, now.rebalance}} {
		if c.old != nil && c.now != nil && *c.old != *c.now {
			out = append(out, Change{What: c.what, Member: label, From: c.old.Duration().String(), To: c.now.Duration().String()})
		}
	}
	if old.assignor != "" && now.assignor != "" && old.assignor != now.assignor {
		out = append(out, Change{What: "assignor", Member: label, From: old.assignor, To: now.assignor})
	}
	return out
}

// nameOf labels a member by id among others; the id itself if it is not there.
func (g *group) nameOf(id string, among map[string]*member) string {
	m := among[id]
	if m == nil {
		return id
	}
	was := g.members
	g.members = among
	defer func() { g.members = was }()
	return g.label(m)
}

// moved counts the partitions that are not where they were; a replaced member's
// stay with it.
func moved(old, now map[string]string, swaps []Swap) int {
	same := map[string]string{}
	for _, s := range swaps {
		same[s.OldMemberID] = s.NewMemberID
	}
	n := 0
	for tp, owner := range now {
		was, had := old[tp]
		if next, ok := same[was]; ok {
			was = next
		}
		if had && was != owner {
			n++
		}
	}
	return n
}

// secondStep reports whether the record ends what the one before began: cooperative
// members give partitions up in one generation and get them in the next. Told by
// structure, not by time: the same members, and what was unassigned is assigned.
func (g *group) secondStep(r *inspect.Record, fresh map[string]*member, owners map[string]string) bool {
	if g.kind != inspect.Classic || len(fresh) == 0 || len(fresh) != len(g.members) || r.Metadata.Generation != g.generation+1 ||
		len(owners) <= len(g.owners) || text(r.Metadata.Protocol) != g.protocol {
		return false
	}
	for id, now := range fresh {
		old := g.members[id]
		if old == nil || old.topics != now.topics {
			return false
		}
	}
	for tp, owner := range g.owners {
		if owners[tp] != owner {
			return false // a plain rebalance
		}
	}
	for tp := range owners {
		if _, given := g.owners[tp]; !given && g.ownedBefore[tp] != "" {
			return true
		}
	}
	return false
}

// close ends the rebalance under way: its incident, how long it took, and who came
// back.
func (d *Differ) close(g *group, e *Event, arrived inspect.Time) {
	if g.incident != 0 && (!g.started.IsZero() || e.Cooperative) {
		e.Incident = g.incident
	}
	returned := 0
	for i := range e.Joined {
		if inc := g.comeBack(&e.Joined[i], e.Time); inc != 0 && returned == 0 {
			returned = inc
		}
	}
	if e.Incident == 0 {
		e.Incident = returned
	}
	for i := range e.Left {
		if e.Incident == 0 { // a static member that said before that it goes for a while
			e.Incident = g.wentAs(e.Left[i].MemberID, false)
		}
	}
	if e.Incident == 0 {
		e.Incident = d.newIncident()
	}
	for i := range e.Left {
		at := e.Time
		if b := e.Left[i].LeftBetween; b != nil {
			at = b[1]
		}
		g.leave(e.Left[i], at, e.Incident)
	}
	switch {
	case !g.started.IsZero():
		e.Stopped, e.StoppedBasis, e.Source = ms(max(0, arrived.Sub(g.started.Time))), "observed", FromBoth
		e.PollEvery = ms(g.every)
	case g.seen != nil && e.Type == RebalanceDone && e.GenerationBasis != "epoch":
		// No poll saw the group otherwise than Stable: it took less than the time since
		// the last one or, if the record was a moment late, between the last two.
		within := arrived.Sub(g.seen.To.Time)
		if d.opts.Log {
			within = max(within, g.gap)
		}
		e.Stopped, e.StoppedBasis = ms(within), "at_most"
	}
	g.incident, g.started, g.before, g.told = e.Incident, inspect.Time{}, inspect.Time{}, map[string]bool{}
	g.restPolls, g.closed = 0, arrived
}

// Truncated tells the Differ that the log of a partition ends at an offset that had
// been read before: an unclean election took records back. What comes next counts.
func (d *Differ) Truncated(partition int32, end int64) {
	for _, g := range d.groups {
		if g.partition == partition && g.offset >= end {
			g.offset = end - 1
		}
	}
}
