package watch

import (
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

const (
	// returnWithin is how long after its departure a member of the same client id
	// and host counts as coming back.
	returnWithin = time.Hour
	// settleOpen is how long changes of KIP-848 members wait for the epoch that they
	// belong to: a static member that is replaced brings none.
	settleOpen = time.Second
)

// Options tell a Differ what it may rely on.
type Options struct {
	// Log says that records arrive. Without it, polls alone make the events, and the
	// generation is a lower bound.
	Log bool
}

// Differ turns records and observations into events. It is pure: the clock is the
// times of what it is given. Not safe for concurrent use.
type Differ struct {
	opts      Options
	groups    map[string]*group
	ids       int
	incidents int
	out       []Event
}

// NewDiffer makes a Differ that knows of no group.
func NewDiffer(opts Options) *Differ {
	return &Differ{opts: opts, groups: map[string]*group{}}
}

// Degrade drops the log: from now on polls alone make the events.
func (d *Differ) Degrade() { d.opts.Log = false }

// group is what a Differ remembers of one group.
type group struct {
	id     string
	exists bool
	kind   inspect.GroupType

	// From records.
	offset     int64 // of the last record that counted; -1 none
	partition  int32
	generation int32 // classic generation or group epoch; -1 unknown
	members    map[string]*member
	leader     string
	protocol   string
	owners     map[string]string // "topic-partition" to member id
	// ownedBefore are the owners in the generation before the present one.
	ownedBefore map[string]string
	lastTime    inspect.Time // of the last record that changed the membership
	tombstoned  bool

	// KIP-848, share and streams.
	pend      pending
	epochAt   inspect.Time
	opened    bool // an epoch is under way
	matched   map[string]string
	incidentE int // incident of the epoch under way

	// From polls.
	seen      *inspect.Observation // the last that was no error
	started   inspect.Time         // start of the rebalance under way; zero none
	before    inspect.Time         // the last poll before it
	every     time.Duration        // interval of the polls that saw it start
	incident  int                  // of the rebalance under way, or of the last one
	told      map[string]bool      // member ids whose coming or going was told since the start
	closed    inspect.Time         // when the last rebalance's end arrived
	lost      bool
	lostSince inspect.Time
	gap       time.Duration // between the last two polls
	restPolls int           // at rest since a rebalance that no record has ended

	gone []goneMember // who left, newest last
}

// member is a member as the records know it.
type member struct {
	id, clientID, host string
	instance           *string
	session, rebalance *inspect.Millis
	topics             string // as text
	regex              string
	assignor           string
	family             inspect.Family
	epoch              int32 // -1 unknown
	state              int8
	first              inspect.Time // first seen
}

// goneMember is a member that left, for matching its return.
type goneMember struct {
	who      Who
	at       inspect.Time
	incident int
	back     bool
}

// group finds or makes the state of a group.
func (d *Differ) group(id string) *group {
	g := d.groups[id]
	if g == nil {
		g = &group{id: id, offset: -1, partition: -1, generation: -1, members: map[string]*member{}, told: map[string]bool{},
			owners: map[string]string{}, matched: map[string]string{}}
		d.groups[id] = g
	}
	return g
}

// longest is the longest timeout of the present members; 0 if none is known.
func (g *group) longest() time.Duration {
	var most time.Duration
	for _, m := range g.members {
		most = max(most, inspect.Or(m.session, 0), inspect.Or(m.rebalance, 0))
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

// newIncident numbers a story.
func (d *Differ) newIncident() int {
	d.incidents++
	return d.incidents
}

// Seed tells the Differ what a group is before anything happens to it, from a
// snapshot. Records at or below the snapshot's generation tell nothing new.
func (d *Differ) Seed(s *inspect.Group) {
	g := d.group(s.ID)
	g.exists, g.kind = true, s.Type
	g.protocol, g.leader, g.lastTime = s.Assignor, s.Leader, s.StateSince
	switch {
	case s.Type == inspect.Classic || s.Type == inspect.UnknownType:
		if s.Generation != nil {
			g.generation = *s.Generation
			if s.GenerationBasis != "record" && d.opts.Log {
				g.generation = -1 // a bound would hide records
			}
		}
	case s.Epoch != nil:
		g.generation = *s.Epoch
	}
	for i := range s.Members {
		m := &s.Members[i]
		g.members[m.MemberID] = &member{id: m.MemberID, clientID: m.ClientID, host: m.Host, instance: m.InstanceID,
			session: m.Session, rebalance: m.Rebalance, topics: topicsText(m.Topics), regex: m.TopicRegex, epoch: -1, first: s.At, family: m.Client.Family}
		if m.Epoch != nil {
			g.members[m.MemberID].epoch = *m.Epoch
		}
		for _, t := range m.Assignment {
			for _, p := range t.Partitions {
				g.owners[tpKey(t.Topic, p)] = m.MemberID
			}
		}
	}
}

// Tick tells the Differ that the time has come to now without news, so that what
// waited for a companion is told.
func (d *Differ) Tick(now inspect.Time) []Event {
	ids := make([]string, 0, len(d.groups))
	for id := range d.groups {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	for _, id := range ids {
		g := d.groups[id]
		if g.pend.open() && now.Sub(g.pend.since.Time) > settleOpen {
			d.flush(g)
		}
	}
	return d.take()
}

// tpKey names a partition.
func tpKey(topic string, p int32) string { return topic + "-" + strconv.Itoa(int(p)) }

// topicsText is a subscription as text; "" unknown.
func topicsText(topics []string) string {
	s := slices.Clone(topics)
	slices.Sort(s)
	out := ""
	for i, t := range s {
		if i > 0 {
			out += ","
		}
		out += t
	}
	return out
}

// who is a member for an event.
func (g *group) who(m *member) Who {
	return Who{Label: g.label(m), ClientID: m.clientID, Host: m.host, MemberID: m.id, InstanceID: m.instance}
}

// label is the shortest name that tells the member from the others: client id,
// instance id, client id and host, or the end of the member id.
func (g *group) label(m *member) string {
	sameID, sameHost := 0, 0
	for _, o := range g.members {
		if o.id == m.id || o.clientID != m.clientID {
			continue
		}
		sameID++
		if o.host == m.host {
			sameHost++
		}
	}
	switch {
	case m.clientID == "" && m.instance == nil:
		return m.id
	case sameID == 0 && m.clientID != "":
		return m.clientID
	case m.instance != nil:
		return *m.instance
	case sameHost == 0:
		return m.clientID + "@" + m.host
	}
	id := m.id
	if len(id) > 8 {
		id = "…" + id[len(id)-8:]
	}
	return m.clientID + "@" + m.host + " " + id
}

// sameClient reports whether two members can be the same consumer, restarted.
func sameClient(a, b *member) bool {
	if a.instance != nil || b.instance != nil {
		return a.instance != nil && b.instance != nil && *a.instance == *b.instance
	}
	return a.clientID == b.clientID && a.host == b.host
}

// leave remembers who went.
func (g *group) leave(w Who, at inspect.Time, incident int) {
	for _, o := range g.gone {
		if o.who.MemberID == w.MemberID && !o.back {
			return
		}
	}
	g.gone = append(g.gone, goneMember{who: w, at: at, incident: incident})
	if len(g.gone) > 1000 {
		g.gone = g.gone[500:]
	}
}

// comeBack finds the departure that a join may end, and marks it. Where several
// would do, the join is ambiguous and none is marked.
func (g *group) comeBack(w *Who, at inspect.Time) (incident int) {
	found := -1
	for i := range g.gone {
		o := &g.gone[i]
		same := o.who.MemberID == w.MemberID ||
			sameClient(&member{clientID: o.who.ClientID, host: o.who.Host, instance: o.who.InstanceID},
				&member{clientID: w.ClientID, host: w.Host, instance: w.InstanceID})
		if o.back || !same || at.Sub(o.at.Time) > returnWithin {
			continue
		}
		if found >= 0 {
			w.Ambiguous = true
			return g.gone[found].incident
		}
		found = i
	}
	if found < 0 {
		return 0
	}
	g.gone[found].back = true
	w.BackAfter = ms(max(0, at.Sub(g.gone[found].at.Time)))
	return g.gone[found].incident
}

// wentAs is the incident of a departure that was told of and not yet ended; back ends
// it. 0 if there is none.
func (g *group) wentAs(memberID string, back bool) (incident int) {
	for i := range g.gone {
		if o := &g.gone[i]; o.who.MemberID == memberID && !o.back {
			o.back = back
			return o.incident
		}
	}
	return 0
}

// stamp numbers an event that did not come from a record or a poll.
func (d *Differ) stamp(e Event) []Event {
	d.emit(e)
	return d.take()
}
