package watch

import (
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
)

// pending are changes of the members of a KIP-848, share or streams group that wait
// for the epoch record they belong to, which the broker writes in the same batch.
type pending struct {
	since   inspect.Time
	record  string
	joined  []Who
	left    []Who
	changes []Change
}

// open reports whether something waits.
func (p *pending) open() bool { return len(p.joined)+len(p.left)+len(p.changes) > 0 }

// wait notes that something waits since the record.
func (p *pending) wait(r *inspect.Record) {
	if !p.open() {
		p.since, p.record = r.Time, r.ID()
	}
}

// epochs takes a record of a group with server-side assignment.
func (d *Differ) epochs(g *group, r *inspect.Record, arrived inspect.Time) {
	switch r.Type {
	case inspect.RecConsumerMember, inspect.RecShareMember, inspect.RecStreamsMember:
		d.memberRecord(g, r)
	case inspect.RecConsumerGroupMetadata, inspect.RecShareGroupMetadata, inspect.RecStreamsGroupMetadata:
		d.epochRecord(g, r, arrived)
	case inspect.RecConsumerCurrentAssignment, inspect.RecShareCurrentAssignment, inspect.RecStreamsCurrentAssignment:
		d.currentRecord(g, r)
	case inspect.RecConsumerRegularExpression:
		d.regexRecord(g, r)
	}
}

// kindOf is the group type that a record type belongs to.
func kindOf(t inspect.RecordType) inspect.GroupType {
	switch {
	case t >= inspect.RecStreamsGroupMetadata:
		return inspect.Streams
	case t >= inspect.RecShareMember && t <= inspect.RecShareStatePartitions:
		return inspect.Share
	}
	return inspect.Consumer
}

// memberRecord is a member that joined, changed, or is gone.
func (d *Differ) memberRecord(g *group, r *inspect.Record) {
	if r.Tombstone || r.MemberOf == nil {
		g.memberGone(r)
		return
	}
	old, mm := g.members[r.Member], r.MemberOf
	m := &member{id: r.Member, clientID: mm.ClientID, host: mm.Host, instance: mm.InstanceID, session: mm.Session, rebalance: mm.Rebalance,
		topics: topicsText(mm.Topics), regex: mm.Regex, assignor: text(mm.Assignor), epoch: -1, first: r.Time, family: familyOf(g.id, r)}
	d.appear(g, r)
	if old == nil {
		g.members[m.id] = m
		g.pend.wait(r)
		g.pend.joined = append(g.pend.joined, g.who(m))
		return
	}
	m.epoch, m.state, m.first = old.epoch, old.state, old.first
	if changes := g.memberChanges(old, m, g.label(old)); len(changes) > 0 {
		g.pend.wait(r)
		g.pend.changes = append(g.pend.changes, changes...)
	}
	g.members[m.id] = m
}

// memberGone is the first tombstone of a member: the coordinator writes one of its
// current assignment, of its target and of itself in one batch, when it fences the
// member or the member leaves.
func (g *group) memberGone(r *inspect.Record) {
	old := g.members[r.Member]
	if old == nil {
		return // a further tombstone of one that is gone
	}
	w := g.who(old)
	w.LeftBetween = g.leftBetween(&w, [2]inspect.Time{r.Time, r.Time})
	g.pend.wait(r)
	g.pend.left = append(g.pend.left, w)
	delete(g.members, r.Member)
}

// epochRecord is a new group epoch: something made a new assignment necessary.
func (d *Differ) epochRecord(g *group, r *inspect.Record, arrived inspect.Time) {
	if r.Tombstone || r.Epoch == nil {
		g.tombstoned = true
		return
	}
	epoch := r.Epoch.Epoch
	wasClassic := g.kind == inspect.Classic && g.generation >= 0
	if !wasClassic && epoch <= g.generation && !g.tombstoned {
		g.kind = kindOf(r.Type)
		return // the snapshot knew it
	}
	d.appear(g, r)
	e := Event{Type: RebalanceDone, Time: r.Time, Group: g.id, Source: FromLog, Record: r.ID(),
		Generation: &epoch, GenerationBasis: "epoch", Joined: g.pend.joined, Left: g.pend.left, Changes: g.pend.changes}
	if g.generation >= 0 {
		previous := g.generation
		e.PreviousGeneration = &previous
	}
	if wasClassic {
		e.Changes = append(e.Changes, Change{What: "protocol", From: "classic", To: string(kindOf(r.Type))})
	}
	g.kind, g.generation, g.lastTime, g.tombstoned = kindOf(r.Type), epoch, r.Time, false
	d.pairPending(&e)
	n := len(g.members)
	e.Members = &n
	d.close(g, &e, arrived)
	g.pend = pending{}
	g.epochAt, g.opened, g.incidentE = r.Time, n > 0, e.Incident
	d.emit(e)
}

// pairPending turns a join and a departure of the same client into a replacement.
func (d *Differ) pairPending(e *Event) {
	for i := 0; i < len(e.Left); i++ {
		l := e.Left[i]
		as := func(w Who) *member { return &member{clientID: w.ClientID, host: w.Host, instance: w.InstanceID} }
		j := slices.IndexFunc(e.Joined, func(w Who) bool { return sameClient(as(l), as(w)) })
		if j < 0 {
			continue
		}
		now := e.Joined[j]
		s := Swap{Label: now.Label, ClientID: now.ClientID, Host: l.Host, OldMemberID: l.MemberID, NewMemberID: now.MemberID, InstanceID: now.InstanceID}
		if now.Host != l.Host {
			s.NewHost = now.Host
		}
		e.Replaced = append(e.Replaced, s)
		e.Joined = slices.Delete(slices.Clone(e.Joined), j, j+1)
		e.Left = slices.Delete(slices.Clone(e.Left), i, i+1)
		i--
	}
}

// currentRecord is where one member stands on the way to the target.
func (d *Differ) currentRecord(g *group, r *inspect.Record) {
	if r.Tombstone {
		g.memberGone(r)
		return
	}
	m := g.members[r.Member]
	if r.Current == nil || m == nil {
		return
	}
	if r.Current.Epoch == inspect.StaticLeaveEpoch && m.epoch != inspect.StaticLeaveEpoch {
		w := g.who(m)
		w.LeftBetween = &[2]inspect.Time{r.Time, r.Time}
		incident := d.newIncident()
		g.leave(w, r.Time, incident)
		d.emit(Event{Type: MemberLeft, Time: r.Time, Group: g.id, Source: FromLog, Record: r.ID(), Incident: incident, Left: []Who{w},
			Why: "a static member: its place is kept for its session timeout"})
	}
	m.epoch, m.state = r.Current.Epoch, r.Current.State
	d.converge(g, r.Time, m, FromLog, r.ID())
}

// converge says that the last member has reached the epoch under way.
func (d *Differ) converge(g *group, at inspect.Time, last *member, from Source, record string) {
	if !g.opened {
		return
	}
	for _, m := range g.members {
		if m.epoch != inspect.StaticLeaveEpoch && (m.epoch < g.generation || m.state != inspect.MemberStable) {
			return
		}
	}
	g.opened = false
	generation := g.generation
	e := Event{Type: Converged, Time: at, Group: g.id, Source: from, Record: record, Generation: &generation, GenerationBasis: "epoch",
		Incident: g.incidentE, Converged: ms(max(0, at.Sub(g.epochAt.Time)))}
	if last != nil {
		e.Last = g.label(last)
	}
	d.emit(e)
}

// regexRecord is what a subscription pattern matches.
func (d *Differ) regexRecord(g *group, r *inspect.Record) {
	if r.Tombstone || r.Matched == nil {
		delete(g.matched, r.Regex)
		return
	}
	now := topicsText(r.Matched.Topics)
	old, known := g.matched[r.Regex]
	g.matched[r.Regex] = now
	if !known || old == now {
		return
	}
	g.pend.wait(r)
	g.pend.changes = append(g.pend.changes, Change{What: "matched_topics", Member: r.Regex, From: old, To: now})
}

// flush tells what waited for an epoch that never came.
func (d *Differ) flush(g *group) {
	p := g.pend
	g.pend = pending{}
	e := Event{Time: p.since, Group: g.id, Source: FromLog, Record: p.record, Joined: p.joined, Left: p.left, Changes: p.changes}
	d.pairPending(&e)
	n := len(g.members)
	e.Members = &n
	switch {
	case len(e.Replaced) > 0 && len(e.Joined)+len(e.Left) == 0:
		e.Type = MemberReplaced
	case len(e.Joined) > 0:
		e.Type = MemberJoined
	case len(e.Left) > 0:
		e.Type = MemberLeft
	default:
		e.Type = SettingsChanged
	}
	for i := range e.Joined {
		if inc := g.comeBack(&e.Joined[i], e.Time); inc != 0 {
			e.Incident = inc
		}
	}
	for i := range e.Replaced {
		if inc := g.wentAs(e.Replaced[i].OldMemberID, true); inc != 0 && e.Incident == 0 {
			e.Incident = inc
		}
	}
	if e.Type == MemberReplaced && e.Incident == 0 {
		e.Incident = d.newIncident()
	}
	for i := range e.Left {
		g.leave(e.Left[i], e.Time, e.Incident)
	}
	d.emit(e)
}

// added are the words of now that are not in old.
func added(old, now string) []string {
	had := strings.Split(old, ",")
	var out []string
	for _, t := range strings.Split(now, ",") {
		if t != "" && !slices.Contains(had, t) {
			out = append(out, t)
		}
	}
	return out
}
