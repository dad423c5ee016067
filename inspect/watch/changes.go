package watch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// sight is where a change was seen.
type sight struct {
	source  Source
	arrived inspect.Time  // by the coordinator's clock
	every   time.Duration // of a poll: their interval
	state   string        // of a poll: the group's state
	// leader is a classic group's leader before the change.
	leader string
}

// Record takes one record of the log's tail, in the order of its partition, that
// arrived at the given time by kgdiag's clock. A record that was seen before tells
// nothing: offsets only ascend, also over a change of leader.
func (d *Differ) Record(r *inspect.Record, arrived inspect.Time) []Event {
	g := d.group(r.Group)
	if g.partition == r.Partition && r.Offset <= g.offset {
		return nil
	}
	at := sight{source: FromLog, arrived: inspect.At(arrived.Add(g.skew)), leader: g.read.Leader}
	for _, c := range g.read.Record(r) {
		d.tell(g, &c, at)
	}
	g.partition, g.offset = r.Partition, r.Offset
	switch {
	case !g.read.Waiting():
		if !g.waiting.IsZero() {
			g.waiting = inspect.Time{}
			delete(d.waiting, g.id)
		}
	case g.waiting.IsZero():
		g.waiting, d.waiting[g.id] = arrived, g
	}
	return d.take()
}

// tell makes the events of a change.
func (d *Differ) tell(g *group, c *membership.Change, at sight) {
	again := g.deleted
	g.deleted = c.Kind == membership.Deleted
	if c.Kind == membership.Deleted {
		return // a poll tells it: records tell the same of an upgrade
	}
	e := d.event(g, c, at)
	if !g.exists && (c.Kind == membership.Created || c.Kind == membership.Rebalanced) {
		d.emit(Event{Type: GroupAppeared, Time: e.Time, Group: g.id, Source: at.source, Record: e.Record})
	}
	g.exists = true
	switch c.Kind {
	case membership.Rebalanced, membership.Continued:
		d.rebalanced(g, c, &e, at)
		if back := e.PreviousGeneration; at.source == FromLog && (again && !c.Step.Migrated || back != nil && *back > *e.Generation) {
			e.Why = "the generation went back: the group was made anew"
		}
	case membership.Swapped:
		d.swapped(g, c, &e)
	case membership.Away:
		w := who(c.Who, c.After)
		w.LeftBetween = &[2]inspect.Time{e.Time, e.Time}
		e.Type, e.Left, e.Incident = MemberLeft, []Who{w}, d.newIncident()
		e.Why = "a static member: its place is kept for its session timeout"
		g.leave(c.Who, e.Time, e.Incident)
	case membership.Converged:
		e.Type, e.Incident = Converged, g.incident
		e.Converged = ms(max(0, c.At.Sub(c.Step.At)))
		if c.Who != nil {
			e.Last = membership.Label(c.Who, c.After)
		}
	case membership.Edited:
		d.edited(g, c, &e)
	}
	if e.Type != "" {
		d.emit(e)
	}
}

// event is what every event of a change has.
func (d *Differ) event(g *group, c *membership.Change, at sight) Event {
	e := Event{Time: inspect.At(c.At), Group: g.id, Source: at.source, Record: c.ID, PollEvery: ms(at.every), State: at.state}
	if at.every == 0 {
		e.PollEvery = nil
	}
	n, ok := g.read.Generation()
	if c.Step != nil {
		n, ok = max(n, c.Step.Generation), true
	}
	if !ok || c.Kind == membership.Created || c.Kind == membership.Away {
		return e
	}
	e.Generation = &n
	switch {
	case g.read.Type != inspect.Classic:
		e.GenerationBasis = "epoch"
	case at.source == FromPoll:
		e.GenerationBasis = "lower_bound"
	default:
		e.GenerationBasis = "record"
	}
	if c.Kind != membership.Converged {
		members := len(c.After)
		e.Members, e.Changes = &members, changes(g, c, at)
	}
	return e
}

// rebalanced is the end of a classic rebalance, or the beginning of a KIP-848 one.
func (d *Differ) rebalanced(g *group, c *membership.Change, e *Event, at sight) {
	s := c.Step
	e.Type, e.Cooperative = RebalanceDone, c.Kind == membership.Continued
	e.Assigned = s.Assigned
	if at.source == FromLog && !s.ServerSide {
		if e.State = "Stable"; s.Empty {
			e.State = "Empty"
		}
	}
	if e.Cooperative {
		if k := len(s.Generations); k > 1 {
			e.PreviousGeneration = &s.Generations[k-2]
		}
		d.close(g, c, e, at)
		return
	}
	e.PreviousGeneration, e.Skipped, e.Moved = s.PreviousGeneration, s.Skipped, s.Moved
	swapped := map[string]bool{}
	for _, l := range sorted(s.Left) {
		if l.Swap != nil {
			swapped[l.Swap.ID] = true
			e.Replaced = append(e.Replaced, swap(l.Member, l.Swap, s))
			continue
		}
		w := who(l.Member, s.Before)
		w.LeftBetween = g.leftBetween(l, s.EndAt)
		e.Left = append(e.Left, w)
	}
	for _, m := range byClient(s.Joined) {
		if !swapped[m.ID] {
			e.Joined = append(e.Joined, who(m, s.After))
		}
	}
	d.close(g, c, e, at)
}

// swap is a member whose place another took. Where several of the same client came or
// went at once, which took whose is not known.
func swap(old, now *membership.Member, s *membership.Step) Swap {
	out := Swap{Label: membership.Label(now, s.After), ClientID: now.ClientID, Host: old.Host, OldMemberID: old.ID, NewMemberID: now.ID, InstanceID: now.InstanceID}
	if now.Host != old.Host {
		out.NewHost = now.Host
	}
	came, went := 0, 0
	for _, m := range s.Joined {
		if membership.SameClient(old, m) {
			came++
		}
	}
	for _, l := range s.Left {
		if membership.SameClient(old, l.Member) {
			went++
		}
	}
	out.Ambiguous = came > 1 || went > 1
	return out
}

// swapped is a static member's new process, which took the place of the old one.
func (d *Differ) swapped(g *group, c *membership.Change, e *Event) {
	e.Type, e.PreviousGeneration = MemberReplaced, c.Step.PreviousGeneration
	for _, r := range c.Step.Replaced {
		e.Replaced = append(e.Replaced, swap(r.Old, r.New, c.Step))
		if went := g.wentAs(r.Old.ID, true); e.Incident == 0 {
			e.Incident = went
		}
	}
	if e.Incident == 0 {
		e.Incident = d.newIncident()
	}
}

// edited is a change without a rebalance. Where it shows nothing that is worth a word
// the event stays without a type.
func (d *Differ) edited(g *group, c *membership.Change, e *Event) {
	for _, m := range byClient(c.Joined) {
		w := who(m, c.After)
		if went := g.welcome(&w, m, e.Time); went != 0 {
			e.Incident = went
		}
		e.Joined = append(e.Joined, w)
	}
	for _, l := range sorted(c.Left) {
		w := who(l.Member, c.Before)
		w.LeftBetween = g.leftBetween(l, c.At)
		g.leave(l.Member, e.Time, e.Incident)
		e.Left = append(e.Left, w)
	}
	switch {
	case len(e.Joined) > 0:
		e.Type = MemberJoined
	case len(e.Left) > 0:
		e.Type = MemberLeft
	case len(e.Changes) > 0:
		e.Type = SettingsChanged
	}
}

// byClient orders members by client id, then member id.
func byClient(ms []*membership.Member) []*membership.Member {
	return slices.SortedFunc(slices.Values(ms), compareClients)
}

func compareClients(a, b *membership.Member) int {
	return cmp.Or(cmp.Compare(a.ClientID, b.ClientID), cmp.Compare(a.ID, b.ID))
}

// sorted orders departures likewise.
func sorted(left []*membership.Departure) []*membership.Departure {
	return slices.SortedFunc(slices.Values(left), func(a, b *membership.Departure) int { return compareClients(a.Member, b.Member) })
}

// leftBetween narrows the bound of a departure by what polls have seen of it.
func (g *group) leftBetween(l *membership.Departure, by time.Time) *[2]inspect.Time {
	from, to := l.Between[0], l.Between[1]
	if !from.Equal(to) {
		with, without, ok := g.polls.Left(l.Member.ID, by)
		switch {
		case ok:
			from, to = with, without
		case with.After(from) && !with.After(to): // unless the clocks of broker and kgdiag say otherwise
			from = with
		}
	}
	return &[2]inspect.Time{inspect.At(from), inspect.At(to)}
}

// changes compares settings of the group and of the members that stayed.
func changes(g *group, c *membership.Change, at sight) []Change {
	var out []Change
	if now := g.read.Leader; at.leader != "" && now != "" && now != at.leader {
		out = append(out, Change{What: "leader", From: nameOf(at.leader, c.Before), To: nameOf(now, c.After)})
	}
	if s := c.Step; s != nil && c.Kind == membership.Rebalanced && s.ProtocolFrom != "" && s.ProtocolTo != "" && s.ProtocolFrom != s.ProtocolTo {
		what := "assignor"
		if s.Migrated {
			what = "protocol"
		}
		out = append(out, Change{What: what, From: s.ProtocolFrom, To: s.ProtocolTo})
	}
	for _, e := range c.Edits {
		out = append(out, memberChanges(e.Old, e.New, membership.Label(e.New, c.After))...)
	}
	for _, p := range c.Patterns {
		out = append(out, Change{What: "matched_topics", Member: p.Regex, From: strings.Join(p.From, ","), To: strings.Join(p.To, ",")})
	}
	return out
}

// memberChanges compares the settings of one member.
func memberChanges(old, now *membership.Member, label string) []Change {
	var out []Change
	if len(old.Topics) > 0 && len(now.Topics) > 0 && !slices.Equal(old.Topics, now.Topics) {
		out = append(out, Change{What: "subscription", Member: label, From: strings.Join(old.Topics, ","), To: strings.Join(now.Topics, ",")})
	}
	if old.TopicRegex != now.TopicRegex && old.ServerSide {
		out = append(out, Change{What: "subscription", Member: label, From: old.TopicRegex, To: now.TopicRegex})
	}
	for _, c := range []struct {
		what     string
		old, now *inspect.Millis
	}{{"session_timeout", old.Session, now.Session}, {"rebalance_timeout", old.Rebalance, now.Rebalance}} {
		if c.old != nil && c.now != nil && *c.old != *c.now {
			out = append(out, Change{What: c.what, Member: label, From: prose.Exact(c.old.Duration()), To: prose.Exact(c.now.Duration())})
		}
	}
	if old.Assignor != "" && now.Assignor != "" && old.Assignor != now.Assignor {
		out = append(out, Change{What: "assignor", Member: label, From: old.Assignor, To: now.Assignor})
	}
	return out
}

// nameOf labels a member by id among others; the id itself if it is not there.
func nameOf(id string, among map[string]*membership.Member) string {
	if m := among[id]; m != nil {
		return membership.Label(m, among)
	}
	return id
}

// close ends the rebalance under way: its incident, how long it took, and who came
// back.
func (d *Differ) close(g *group, c *membership.Change, e *Event, at sight) {
	if g.incident != 0 && (!g.started.IsZero() || e.Cooperative) {
		e.Incident = g.incident
	}
	returned := 0
	for i := range e.Joined {
		if went := g.welcome(&e.Joined[i], c.After[e.Joined[i].MemberID], e.Time); went != 0 && returned == 0 {
			returned = went
		}
	}
	e.Incident = cmp.Or(e.Incident, returned)
	for i := range e.Left { // a static member that said before that it goes for a while
		if e.Incident == 0 {
			e.Incident = g.wentAs(e.Left[i].MemberID, false)
		}
	}
	if e.Incident == 0 {
		e.Incident = d.newIncident()
	}
	for i := range e.Left {
		w := &e.Left[i]
		g.leave(c.Before[w.MemberID], w.LeftBetween[1], e.Incident)
	}
	g.paused(c.Step, e, at)
	g.incident, g.started, g.told = e.Incident, inspect.Time{}, map[string]bool{}
	g.restPolls, g.closed = 0, at.arrived
}

// paused says how long the rebalance kept members from working, as history does. What
// the commits from before the watch would add is not known to it.
func (g *group) paused(s *membership.Step, e *Event, at sight) {
	if s.ServerSide {
		return
	}
	if !g.started.IsZero() {
		e.PollEvery = ms(g.every)
		if at.source == FromLog {
			e.Source = FromBoth
		}
	}
	if e.Cooperative {
		return
	}
	p := s.Paused(g.polls)
	e.Stopped, e.StoppedAtMost, e.StoppedBasis, e.Rebalancing = p.Least, p.Most, p.Basis, p.Rebalancing
}
