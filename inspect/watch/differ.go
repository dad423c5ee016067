package watch

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

const (
	// returnWithin is how long after its departure a member of the same client id
	// and host counts as coming back.
	returnWithin = time.Hour
	// settleOpen is how long changes of KIP-848 members wait by kgdiag's clock for the
	// epoch that they belong to: a static member that is replaced brings none.
	settleOpen = time.Second
)

// Options tell a Differ what it may rely on.
type Options struct {
	// Log says that records arrive. Without it, polls alone make the events, and the
	// generation is a lower bound.
	Log bool
}

// Differ turns records and observations into events. What they say of the membership
// is read by inspect/membership; the Differ knows what is worth telling, which story
// it belongs to, and what polls saw meanwhile. It is pure: the clock is the times of
// what it is given. Not safe for concurrent use.
type Differ struct {
	opts      Options
	groups    map[string]*group
	waiting   map[string]*group // those of which something waits for its epoch
	left      map[string]bool   // those of which somebody went, until records have let go of them
	ids       int
	incidents int
	out       []Event
}

// NewDiffer makes a Differ that knows of no group.
func NewDiffer(opts Options) *Differ {
	return &Differ{opts: opts, groups: map[string]*group{}, waiting: map[string]*group{}, left: map[string]bool{}}
}

// Degrade drops the log: from now on polls alone make the events.
func (d *Differ) Degrade() {
	d.opts.Log = false
	for _, g := range d.groups {
		g.read.ByPolls = true
	}
}

// group is what a Differ remembers of one group.
type group struct {
	id     string
	exists bool
	read   *membership.Group
	polls  membership.Polls

	// Of records.
	offset    int64 // of the last record that counted; -1 none
	partition int32
	waiting   inspect.Time // since when, by kgdiag's clock, something waits for its epoch; zero nothing does
	deleted   bool         // the last that was read is the end of the group

	// Of polls.
	skew      time.Duration        // of the coordinator's clock: times of polls are told by it, as those of records are
	seen      *inspect.Observation // the last that was no error
	started   inspect.Time         // start of the rebalance under way; zero none
	every     time.Duration        // interval of the polls that saw it start
	told      map[string]bool      // member ids whose coming or going was told since the start
	lost      bool
	lostSince inspect.Time
	restPolls int // at rest since a rebalance that no record has ended

	incident int             // of the rebalance under way, or of the last one
	closed   inspect.Time    // when the last rebalance's end arrived
	gone     []goneMember    // who left, newest last
	left     map[string]bool // the Differ's
}

// goneMember is a member that left, for matching its return.
type goneMember struct {
	m        *membership.Member
	at       inspect.Time
	incident int
	back     bool
}

// group finds or makes the state of a group.
func (d *Differ) group(id string) *group {
	g := d.groups[id]
	if g == nil {
		g = &group{id: id, left: d.left, offset: -1, partition: -1, read: membership.New(membership.Options{}), told: map[string]bool{}}
		g.read.ByPolls = !d.opts.Log
		d.groups[id] = g
	}
	return g
}

// longest is the longest timeout of the present members; 0 if none is known.
func (g *group) longest() time.Duration {
	var most time.Duration
	for _, m := range g.read.Members {
		most = max(most, inspect.Or(m.Session, 0), inspect.Or(m.Rebalance, 0))
	}
	return most
}

// emit adds an event.
func (d *Differ) emit(e Event) {
	d.ids++
	e.ID = strconv.Itoa(d.ids)
	d.out = append(d.out, e)
}

// take hands out the events so far.
func (d *Differ) take() []Event {
	out := d.out
	d.out = nil
	return out
}

// stamp numbers an event that did not come from a record or a poll.
func (d *Differ) stamp(e Event) []Event {
	d.emit(e)
	return d.take()
}

// newIncident numbers a story.
func (d *Differ) newIncident() int {
	d.incidents++
	return d.incidents
}

// Seed tells the Differ what a group is before anything happens to it, from a
// snapshot. Records at or below the snapshot's generation tell nothing new.
func (d *Differ) Seed(s *inspect.Group) {
	g := d.group(s.ID)
	g.exists = true
	g.read.Start(s)
}

// Tick tells the Differ that the time has come to now without news, so that what
// waited for a companion is told.
func (d *Differ) Tick(now inspect.Time) []Event {
	for _, id := range slices.Sorted(maps.Keys(d.waiting)) {
		g := d.waiting[id]
		if now.Sub(g.waiting.Time) <= settleOpen {
			continue
		}
		for _, c := range g.read.Flush() {
			d.tell(g, &c, sight{source: FromLog, arrived: inspect.At(now.Add(g.skew))})
		}
		g.waiting = inspect.Time{}
		delete(d.waiting, id)
	}
	return d.take()
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

// who is a member for an event, told from the others among all.
func who(m *membership.Member, among map[string]*membership.Member) Who {
	return Who{Label: membership.Label(m, among), ClientID: m.ClientID, Host: m.Host, MemberID: m.ID, InstanceID: m.InstanceID}
}

// leave remembers who went.
func (g *group) leave(m *membership.Member, at inspect.Time, incident int) {
	for _, o := range g.gone {
		if o.m.ID == m.ID && !o.back {
			return
		}
	}
	g.left[g.id] = true
	g.gone = append(g.gone, goneMember{m: m, at: at, incident: incident})
	if len(g.gone) > 1000 {
		g.gone = slices.Clone(g.gone[500:])
	}
}

// comeBack finds the departure that a join may end. Where several would do the join is
// ambiguous, and the departure is only one of them.
func (g *group) comeBack(m *membership.Member, at inspect.Time) (found *goneMember, ambiguous bool) {
	for i := range g.gone {
		o := &g.gone[i]
		if o.back || o.m.ID != m.ID && !membership.SameClient(o.m, m) || at.Sub(o.at.Time) > returnWithin {
			continue
		}
		if found != nil {
			return found, true
		}
		found = o
	}
	return found, false
}

// welcome marks the departure that a join ends, and says in the event for how long the
// member was away; incident is that of the departure, 0 if there is none.
func (g *group) welcome(w *Who, m *membership.Member, at inspect.Time) (incident int) {
	o, ambiguous := g.comeBack(m, at)
	if o == nil {
		return 0
	}
	w.Ambiguous = ambiguous
	if !ambiguous {
		o.back = true
		w.BackAfter = ms(max(0, at.Sub(o.at.Time)))
	}
	return o.incident
}

// wentAs is the incident of a departure that was told of and not yet ended; back ends
// it. 0 if there is none.
func (g *group) wentAs(memberID string, back bool) (incident int) {
	for i := range g.gone {
		if o := &g.gone[i]; o.m.ID == memberID && !o.back {
			o.back = back
			return o.incident
		}
	}
	return 0
}
