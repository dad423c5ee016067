package watch

import (
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// lostAfter is how long polls must fail before it is worth a line: one failed poll
// is a hiccup.
const lostAfter = time.Second

// stateDead is what a Poller reports of a group that does not exist.
const stateDead = "Dead"

// Observe takes what one describe poll saw; every is the interval of the polls.
func (d *Differ) Observe(o *inspect.Observation, every time.Duration) []Event {
	g := d.group(o.Group)
	if o.Error != "" {
		d.lost(g, o)
		return d.take()
	}
	if g.lost {
		d.emit(Event{Type: SourceBack, Time: o.To, Group: g.id, Source: FromPoll, Silent: ms(o.To.Sub(g.lostSince.Time)), Coordinator: known(o.Coordinator)})
	}
	g.lost, g.lostSince = false, inspect.Time{}
	if o.State == stateDead || o.State == "" {
		d.absent(g, o, every)
		return d.take()
	}
	if !g.exists {
		g.exists = true
		d.emit(Event{Type: GroupAppeared, Time: o.To, Group: g.id, Source: FromPoll, PollEvery: ms(every), State: o.State})
	}
	d.coordinator(g, o, every)
	if o.Epoch != nil {
		d.observeEpochs(g, o, every)
	} else {
		d.observeClassic(g, o, every)
	}
	if g.seen != nil {
		g.gap = o.To.Sub(g.seen.To.Time)
	}
	g.seen = o
	return d.take()
}

// known is a pointer to a broker id; nil for -1.
func known(id int32) *int32 {
	if id < 0 {
		return nil
	}
	return &id
}

// lost notes a failed poll, and tells it once it lasts.
func (d *Differ) lost(g *group, o *inspect.Observation) {
	if g.lostSince.IsZero() {
		g.lostSince = o.To
		return
	}
	if !g.lost && o.To.Sub(g.lostSince.Time) >= lostAfter {
		g.lost = true
		d.emit(Event{Type: SourceLost, Time: o.To, Group: g.id, Source: FromPoll, Coordinator: known(o.Coordinator), Why: o.Error})
	}
}

// absent is a group that the coordinator does not know.
func (d *Differ) absent(g *group, o *inspect.Observation, every time.Duration) {
	if g.exists && g.seen != nil {
		d.emit(Event{Type: GroupDeleted, Time: o.To, Group: g.id, Source: FromPoll, PollEvery: ms(every)})
		g.exists = false
		g.generation, g.members, g.owners = -1, map[string]*member{}, map[string]string{}
	}
	g.seen, g.started = nil, inspect.Time{}
}

// coordinator notes a group that another broker coordinates now.
func (d *Differ) coordinator(g *group, o *inspect.Observation, every time.Duration) {
	if g.seen == nil || g.seen.Coordinator < 0 || o.Coordinator < 0 || g.seen.Coordinator == o.Coordinator {
		return
	}
	from, to := g.seen.Coordinator, o.Coordinator
	d.emit(Event{Type: CoordinatorMoved, Time: o.To, Group: g.id, Source: FromPoll, PollEvery: ms(every), Coordinator: &to, PreviousCoordinator: &from})
}

// rebalancing holds for the states in which a classic group stands still.
func rebalancing(state string) bool {
	return state == "PreparingRebalance" || state == "CompletingRebalance"
}

// fromPoll are the members that a poll saw, with what is known of them besides.
func (g *group) fromPoll(o *inspect.Observation) map[string]*member {
	out := make(map[string]*member, len(o.Members))
	for i := range o.Members {
		om := &o.Members[i]
		m := &member{id: om.MemberID, clientID: om.ClientID, host: om.Host, instance: om.InstanceID, epoch: -1, first: o.To}
		if old := g.members[om.MemberID]; old != nil {
			cp := *old
			m = &cp
		}
		if om.Epoch != nil {
			m.epoch = *om.Epoch
		}
		out[m.id] = m
	}
	return out
}

// observeClassic takes a poll of a classic group.
func (d *Differ) observeClassic(g *group, o *inspect.Observation, every time.Duration) {
	now := g.fromPoll(o)
	switch {
	case o.To.Before(g.closed.Time):
		// Answered before the record that has meanwhile ended it.
	case rebalancing(o.State) && g.started.IsZero():
		d.start(g, o, now, every)
	case rebalancing(o.State):
		d.during(g, o, now, every)
	case d.opts.Log:
		d.quietly(g, o, every)
	default:
		d.ended(g, o, now, every)
	}
}

// start is the first sign of a rebalance. It began between the last poll and this.
func (d *Differ) start(g *group, o *inspect.Observation, now map[string]*member, every time.Duration) {
	g.started, g.every, g.told = o.To, every, map[string]bool{}
	g.before = o.To
	if g.seen != nil {
		g.before = g.seen.To
	}
	e := Event{Type: RebalanceStarted, Time: o.To, Group: g.id, Source: FromPoll, PollEvery: ms(every), State: o.State, Coordinator: known(o.Coordinator)}
	if g.seen != nil {
		e.PreviousState = g.seen.State
	}
	e.Joined, e.Left = d.unseen(g, o, now)
	for i := range e.Joined {
		w := e.Joined[i] // told again, and for good, when it is in
		if inc := g.wouldComeBack(w, o.To); inc != 0 && e.Incident == 0 {
			e.Incident = inc
		}
	}
	if e.Incident == 0 {
		e.Incident = d.newIncident()
	}
	g.incident = e.Incident
	for _, w := range e.Left {
		g.leave(w, o.To, e.Incident)
	}
	n := len(now)
	e.Members = &n
	d.emit(e)
}

// wouldComeBack is comeBack without marking the departure.
func (g *group) wouldComeBack(w Who, at inspect.Time) int {
	saved := slices.Clone(g.gone)
	inc := g.comeBack(&w, at)
	g.gone = saved
	return inc
}

// during is a further poll while the group stands still: who came and went since.
func (d *Differ) during(g *group, o *inspect.Observation, now map[string]*member, every time.Duration) {
	joined, left := d.unseen(g, o, now)
	n := len(now)
	base := Event{Time: o.To, Group: g.id, Source: FromPoll, PollEvery: ms(every), Incident: g.incident, State: o.State, Members: &n}
	if len(left) > 0 {
		e := base
		e.Type, e.Left = MemberLeft, left
		for _, w := range left {
			g.leave(w, o.To, g.incident)
		}
		d.emit(e)
	}
	if len(joined) > 0 {
		e := base
		e.Type, e.Joined = MemberJoined, joined
		d.emit(e)
	}
}

// unseen are members whose coming or going this rebalance has not yet told: who is
// new against the last poll or the record, and who is missing.
func (d *Differ) unseen(g *group, o *inspect.Observation, now map[string]*member) (joined, left []Who) {
	was := map[string]*member{}
	for id, m := range g.members {
		was[id] = m
	}
	if g.seen != nil {
		for id, m := range g.fromPoll(g.seen) {
			was[id] = m
		}
	}
	in, out := membersDiff(was, now)
	all := map[string]*member{}
	for _, set := range []map[string]*member{was, now} {
		for id, m := range set {
			all[id] = m
		}
	}
	for _, w := range g.whos(out, all) {
		if g.told["-"+w.MemberID] {
			continue
		}
		g.told["-"+w.MemberID] = true
		between := [2]inspect.Time{g.before, o.To}
		if g.seen != nil {
			between[0] = g.seen.To
		}
		w.LeftBetween = &between
		left = append(left, w)
	}
	for _, w := range g.whos(in, all) {
		if !g.told["+"+w.MemberID] {
			g.told["+"+w.MemberID] = true
			joined = append(joined, w)
		}
	}
	return joined, left
}

// quietly takes a poll that saw the group at rest, where the log tells the rest. A
// rebalance that ended without a record (the group fell back to Stable after a
// failed append, or emptied) is not left open.
func (d *Differ) quietly(g *group, o *inspect.Observation, every time.Duration) {
	if g.started.IsZero() || g.seen == nil || rebalancing(g.seen.State) {
		return // the record may be a moment behind the first poll at rest
	}
	g.restPolls++
	if g.restPolls*int(every/time.Millisecond) < 3000 {
		return
	}
	g.started, g.restPolls = inspect.Time{}, 0
	d.emit(Event{Type: StateChanged, Time: o.To, Group: g.id, Source: FromPoll, PollEvery: ms(every), Incident: g.incident,
		State: o.State, Why: "at rest again without a record in the log"})
}

// ended tells a rebalance from polls alone.
func (d *Differ) ended(g *group, o *inspect.Observation, now map[string]*member, every time.Duration) {
	joined, left := membersDiff(g.members, now)
	bound := int32(-1)
	if o.GenerationBound != nil {
		bound = *o.GenerationBound
	}
	first := g.seen == nil && len(g.members) == 0 && g.started.IsZero()
	advanced := bound > g.generation && g.generation >= 0
	if first || (g.started.IsZero() && len(joined)+len(left) == 0 && !advanced) {
		g.takePoll(o, now, bound)
		return
	}
	var swaps []Swap
	swaps, joined, left = g.pair(joined, left, now)
	n := len(now)
	e := Event{Type: RebalanceDone, Time: o.To, Group: g.id, Source: FromPoll, PollEvery: ms(every), State: o.State, Members: &n, Replaced: swaps}
	if bound >= 0 {
		e.Generation, e.GenerationBasis = &bound, "lower_bound"
		if g.generation >= 0 && g.generation <= bound {
			previous := g.generation
			e.PreviousGeneration = &previous
		}
	}
	e.Left = g.whos(left, g.members)
	between := [2]inspect.Time{g.before, o.To}
	if g.seen != nil && g.started.IsZero() {
		between[0] = g.seen.To
	}
	for i := range e.Left {
		e.Left[i].LeftBetween = g.leftBetween(&e.Left[i], between)
	}
	g.members = now
	e.Joined = g.whos(joined, now)
	owners := pollOwners(o)
	e.Moved, e.Assigned = moved(g.owners, owners, swaps), len(owners)
	d.close(g, &e, o.To)
	e.Source, e.Record = FromPoll, o.ID()
	d.emit(e)
	g.takePoll(o, now, bound)
}

// pollOwners says who owns what by a poll.
func pollOwners(o *inspect.Observation) map[string]string {
	owners := map[string]string{}
	for i := range o.Members {
		for _, t := range o.Members[i].Assignment {
			for _, p := range t.Partitions {
				owners[tpKey(t.Topic, p)] = o.Members[i].MemberID
			}
		}
	}
	return owners
}

// takePoll makes the poll the state of the group.
func (g *group) takePoll(o *inspect.Observation, now map[string]*member, bound int32) {
	g.kind, g.members, g.owners = inspect.Classic, now, pollOwners(o)
	if bound > g.generation {
		g.generation = bound
	}
	g.lastTime = o.To
}

// observeEpochs takes a poll of a group with server-side assignment.
func (d *Differ) observeEpochs(g *group, o *inspect.Observation, every time.Duration) {
	now := g.fromPoll(o)
	epoch := *o.Epoch
	if !d.opts.Log {
		d.epochByPoll(g, o, now, epoch, every)
	}
	if o.State == "Stable" && g.opened && epoch >= g.generation {
		for id, m := range g.members {
			if p := now[id]; p != nil && p.epoch >= 0 {
				m.epoch, m.state = max(m.epoch, p.epoch), inspect.MemberStable
			}
		}
		// The log tells the moment and the last member; it has had an interval's time.
		if !d.opts.Log || (g.seen != nil && g.seen.State == "Stable") {
			d.converge(g, o.To, nil, FromPoll, "")
		}
	}
}

// epochByPoll tells a new epoch from polls alone.
func (d *Differ) epochByPoll(g *group, o *inspect.Observation, now map[string]*member, epoch int32, every time.Duration) {
	joined, left := membersDiff(g.members, now)
	if g.seen == nil && g.generation < 0 {
		g.kind, g.generation, g.members = inspect.Consumer, epoch, now
		return
	}
	if epoch == g.generation && len(joined)+len(left) == 0 {
		g.members = now
		return
	}
	var swaps []Swap
	swaps, joined, left = g.pair(joined, left, now)
	n := len(now)
	e := Event{Type: RebalanceDone, Time: o.To, Group: g.id, Source: FromPoll, PollEvery: ms(every), State: o.State, Members: &n,
		Replaced: swaps, Generation: &epoch, GenerationBasis: "epoch"}
	if g.generation >= 0 {
		previous := g.generation
		e.PreviousGeneration = &previous
	}
	if epoch == g.generation {
		e.Type = MemberReplaced
	}
	e.Left = g.whos(left, g.members)
	between := [2]inspect.Time{o.To, o.To}
	if g.seen != nil {
		between[0] = g.seen.To
	}
	for i := range e.Left {
		e.Left[i].LeftBetween = &between
	}
	g.kind, g.members, g.generation = inspect.Consumer, now, epoch
	e.Joined = g.whos(joined, now)
	d.close(g, &e, o.To)
	e.Record = o.ID()
	g.epochAt, g.opened, g.incidentE = o.To, o.State != "Stable", e.Incident
	d.emit(e)
}

// String is a short text of a change, "range -> cooperative-sticky".
func (c Change) String() string {
	what := strings.ReplaceAll(c.What, "_", " ")
	if c.What == "matched_topics" {
		if more := added(c.From, c.To); len(more) > 0 {
			return c.Member + " matches " + strings.Join(more, ", ")
		}
		return c.Member + " no longer matches " + strings.Join(added(c.To, c.From), ", ")
	}
	if c.Member != "" {
		what = c.Member + " " + what
	}
	return what + " " + orNone(c.From) + " -> " + orNone(c.To)
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
