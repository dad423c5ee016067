package watch

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// lostAfter is how long polls must fail before it is worth a line: one failed poll
// is a hiccup.
const lostAfter = time.Second

// stateDead is what a Poller reports of a group that does not exist.
const stateDead = "Dead"

// Observe takes what one describe poll saw; every is the interval of the polls.
func (d *Differ) Observe(o *inspect.Observation, every time.Duration) []Event {
	g := d.group(o.Group)
	if g.skew != 0 {
		by := *o
		by.From, by.To = inspect.At(o.From.Add(g.skew)), inspect.At(o.To.Add(g.skew))
		o = &by
	}
	g.polls.Add(*o)
	if o.Error != "" {
		d.lost(g, o)
		return d.take()
	}
	if g.lost {
		d.emit(Event{Type: SourceBack, Time: o.To, Group: g.id, Source: FromPoll, Silent: ms(o.To.Sub(g.lostSince.Time)), Coordinator: known(o.Coordinator)})
	}
	g.lost, g.lostSince = false, inspect.Time{}
	changes := g.read.Poll(o)
	if membership.Inactive(o.State) {
		d.absent(g, o, every)
		return d.take()
	}
	if !g.exists {
		g.exists = true
		d.emit(Event{Type: GroupAppeared, Time: o.To, Group: g.id, Source: FromPoll, PollEvery: ms(every), State: o.State})
	}
	d.coordinator(g, o, every)
	if o.Epoch == nil && !o.To.Before(g.closed.Time) { // else answered before the record that has meanwhile ended it
		d.unrest(g, o, every)
	}
	for _, c := range changes {
		d.tell(g, &c, sight{source: FromPoll, arrived: o.To, every: every, state: o.State})
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

// unrest tells what polls alone show of a classic rebalance: that it is under way, and
// who came and went in the meantime. How it ended is a change of the membership.
func (d *Differ) unrest(g *group, o *inspect.Observation, every time.Duration) {
	switch {
	case !membership.Rebalancing(o.State):
		d.quietly(g, o, every)
	case g.started.IsZero():
		d.start(g, o, every)
	default:
		d.during(g, o, every)
	}
}

// start is the first sign of a rebalance. It began between the last poll and this.
func (d *Differ) start(g *group, o *inspect.Observation, every time.Duration) {
	g.started, g.every, g.told = o.To, every, map[string]bool{}
	n := len(o.Members)
	e := Event{Type: RebalanceStarted, Time: o.To, Group: g.id, Source: FromPoll, PollEvery: ms(every), State: o.State,
		Coordinator: known(o.Coordinator), Members: &n}
	if g.seen != nil {
		e.PreviousState = g.seen.State
	}
	joined, left := g.unseen(o)
	for _, m := range joined.members { // told again, and for good, when it is in
		if back, _ := g.comeBack(m, o.To); back != nil && e.Incident == 0 {
			e.Incident = back.incident
		}
	}
	if e.Incident == 0 {
		e.Incident = d.newIncident()
	}
	g.incident, e.Joined, e.Left = e.Incident, joined.whos, left.whos
	g.leaveAll(left, o.To)
	d.emit(e)
}

// during is a further poll while the group stands still: who came and went since.
func (d *Differ) during(g *group, o *inspect.Observation, every time.Duration) {
	joined, left := g.unseen(o)
	n := len(o.Members)
	e := Event{Time: o.To, Group: g.id, Source: FromPoll, PollEvery: ms(every), Incident: g.incident, State: o.State, Members: &n}
	if len(left.whos) > 0 {
		g.leaveAll(left, o.To)
		e.Type, e.Left = MemberLeft, left.whos
		d.emit(e)
	}
	if len(joined.whos) > 0 {
		e.Type, e.Joined, e.Left = MemberJoined, joined.whos, nil
		d.emit(e)
	}
}

// news are members that a poll is the first to show or to miss.
type news struct {
	members []*membership.Member
	whos    []Who
}

func (g *group) leaveAll(left news, at inspect.Time) {
	for _, m := range left.members {
		g.leave(m, at, g.incident)
	}
}

// unseen are members whose coming or going this rebalance has not yet told: who is
// new against the last poll or the record, and who is missing.
func (g *group) unseen(o *inspect.Observation) (joined, left news) {
	was, now := maps.Clone(g.read.Members), g.read.Sighted(o)
	if g.seen != nil {
		maps.Copy(was, g.read.Sighted(g.seen))
	}
	all := maps.Clone(was)
	maps.Copy(all, now)
	for _, m := range byClient(slices.Collect(maps.Values(all))) {
		switch {
		case now[m.ID] == nil && !g.told["-"+m.ID]:
			g.told["-"+m.ID] = true
			w := who(m, all)
			w.LeftBetween = g.leftBetween(&membership.Departure{Member: m, Between: [2]time.Time{g.before(o), o.To.Time}}, o.To.Time)
			left.members, left.whos = append(left.members, m), append(left.whos, w)
		case was[m.ID] == nil && !g.told["+"+m.ID]:
			g.told["+"+m.ID] = true
			joined.members, joined.whos = append(joined.members, m), append(joined.whos, who(m, all))
		}
	}
	return joined, left
}

// before is when the last poll before this was; its own time where it is the first.
func (g *group) before(o *inspect.Observation) time.Time {
	if g.seen != nil {
		return g.seen.To.Time
	}
	return o.To.Time
}

// quietly takes a poll that saw the group at rest, where the log tells the rest. A
// rebalance that ended without a record (the group fell back to Stable after a
// failed append, or emptied) is not left open.
func (d *Differ) quietly(g *group, o *inspect.Observation, every time.Duration) {
	if !d.opts.Log || g.started.IsZero() || g.seen == nil || membership.Rebalancing(g.seen.State) {
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
