package collect

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

const (
	// PollLimit is how long one coordinator may take to answer one poll.
	PollLimit = time.Second
	// sickPause is how long a coordinator that let a poll down is left alone, so that
	// the groups of the others are still polled at their pace.
	sickPause = 2 * time.Second
	// lookPause is the least time between two looks for what is not there yet: a
	// missing offsets topic, or coordinators that only ListGroups can tell.
	lookPause = 2 * time.Second
)

// Poller describes a set of groups again and again, as cheaply as the protocol
// allows: one round trip a coordinator and group type. Coordinators and types are
// remembered until an answer contradicts them. It is meant to be called every
// 250 ms, by one goroutine; Set and Type may be called from others.
type Poller struct {
	c *Collector

	mu     sync.Mutex
	groups map[string]*polled
	order  []string

	m        *Metadata
	looked   time.Time         // when m was read
	sick     map[int32]sickAt  // coordinators that are left alone
	hidden   map[string]lookup // from ListGroups, where the offsets topic is not visible
	hiddenAt time.Time
}

// polled is what a Poller remembers of a group.
type polled struct {
	broker int32 // -1 unknown
	typ    inspect.GroupType
	err    error // why broker is unknown
}

// sickAt is a coordinator's last failure.
type sickAt struct {
	until time.Time
	err   error
}

// NewPoller makes a Poller for groups. Nothing is sent before the first Poll.
func (c *Collector) NewPoller(groups ...string) *Poller {
	p := &Poller{c: c, groups: map[string]*polled{}, sick: map[int32]sickAt{}}
	p.Set(groups...)
	return p
}

// Set replaces the groups; what is remembered of those that stay is kept.
func (p *Poller) Set(groups ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := make(map[string]*polled, len(groups))
	p.order = p.order[:0:0]
	for _, g := range groups {
		if _, ok := next[g]; ok {
			continue
		}
		next[g] = &polled{broker: -1}
		if old, ok := p.groups[g]; ok {
			next[g] = old
		}
		p.order = append(p.order, g)
	}
	p.groups = next
}

// Type is the type of a group as the last poll found it; UnknownType before.
func (p *Poller) Type(group string) inspect.GroupType {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g, ok := p.groups[group]; ok {
		return g.typ
	}
	return inspect.UnknownType
}

// Poll looks at every group once and gives one Observation each, in the order of
// Set, with From and To at the time of the answer. A group that the coordinator
// does not know has the state Dead, as Kafka calls it; one whose coordinator did
// not answer has an Error. A coordinator that is slower than PollLimit is left
// alone for a while and its groups have that Error meanwhile.
func (p *Poller) Poll(ctx context.Context) []inspect.Observation { return round(ctx, p, p.describe) }

// round asks once about every group, in the order of Set, and keeps what was learnt of
// coordinators meanwhile.
func round[T any](ctx context.Context, p *Poller, ask func(context.Context, map[string]polled) map[string]T) []T {
	p.mu.Lock()
	order := slices.Clone(p.order)
	groups := make(map[string]polled, len(order))
	for _, g := range order {
		groups[g] = *p.groups[g]
	}
	p.mu.Unlock()
	p.resolve(ctx, groups)
	seen := ask(ctx, groups)
	p.mu.Lock()
	for g, now := range groups {
		if kept, ok := p.groups[g]; ok {
			*kept = now
		}
	}
	p.mu.Unlock()
	out := make([]T, 0, len(order))
	for _, g := range order {
		out = append(out, seen[g])
	}
	return out
}

// resolve finds the coordinators that are not known.
func (p *Poller) resolve(ctx context.Context, groups map[string]polled) {
	var open []string
	for id, g := range groups {
		if g.broker < 0 {
			open = append(open, id)
		}
	}
	if len(open) == 0 {
		return
	}
	slices.Sort(open)
	found := map[string]lookup{}
	if err := p.look(ctx); err != nil {
		for _, id := range open {
			found[id] = lookup{-1, err}
		}
	} else if p.m.Offsets == nil {
		found = p.lookHidden(ctx, open)
	} else {
		limited, cancel := context.WithTimeout(ctx, PollLimit)
		defer cancel()
		var err error
		found, err = firstAnswer(limited, p.healthyFirst(), func(ctx context.Context, b broker) (map[string]lookup, error) {
			return findAt(ctx, b, open)
		})
		if err != nil {
			found = map[string]lookup{}
			for _, id := range open {
				found[id] = lookup{-1, err}
			}
		}
	}
	for _, id := range open {
		g := groups[id]
		l, ok := found[id]
		if !ok {
			l = lookup{-1, errNotAnswered}
		}
		g.broker, g.err = l.broker, l.err
		groups[id] = g
	}
}

// look reads Metadata at first, and again from time to time while the offsets topic
// is missing or a coordinator is unknown.
func (p *Poller) look(ctx context.Context) error {
	now := p.c.opts.Now()
	if p.m != nil && now.Sub(p.looked) < lookPause {
		return nil
	}
	if p.m == nil {
		limited, cancel := context.WithTimeout(ctx, p.c.opts.PerBroker)
		defer cancel()
		m, err := p.c.Metadata(limited)
		if err != nil {
			return err
		}
		p.m, p.looked = m, now
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, PollLimit)
	defer cancel()
	m, err := firstAnswer(limited, p.healthyFirst(), func(ctx context.Context, b broker) (*Metadata, error) {
		return p.c.metadataFrom(ctx, b)
	})
	if err == nil && len(m.Brokers) > 0 { // else what was known is still the best guess
		p.m, p.looked = m, now
	}
	return nil
}

// healthyFirst are all brokers, those that let a poll down lately at the end.
func (p *Poller) healthyFirst() []broker {
	all := p.c.brokers(p.m)
	now := p.c.opts.Now()
	slices.SortStableFunc(all, func(a, b broker) int { return p.sickRank(a.id, now) - p.sickRank(b.id, now) })
	return all
}

// sickRank is 1 for a broker that failed within the last ten pauses, else 0.
func (p *Poller) sickRank(id int32, now time.Time) int {
	if s, ok := p.sick[id]; ok && now.Sub(s.until) < 10*sickPause {
		return 1
	}
	return 0
}

// lookHidden finds coordinators by ListGroups, where Metadata does not show the
// offsets topic and FindCoordinator might create it.
func (p *Poller) lookHidden(ctx context.Context, groups []string) map[string]lookup {
	now := p.c.opts.Now()
	if p.hidden != nil && now.Sub(p.hiddenAt) < lookPause {
		return p.hidden // groups that were added since wait for the next look
	}
	p.hidden, p.hiddenAt = map[string]lookup{}, now
	listing := p.c.ListAll(ctx, p.m)
	unlisted := errHidden
	if errors.Is(p.m.OffsetsErr, ErrNoOffsetsTopic) && len(listing.Failed) == 0 {
		unlisted = errAbsent
	}
	for _, id := range groups {
		p.hidden[id] = lookup{-1, unlisted}
	}
	for id, l := range listing.Groups {
		p.hidden[id] = lookup{l.Broker, nil}
	}
	return p.hidden
}

// errAbsent is a group that no broker lists, on a cluster without the offsets topic.
var errAbsent = errors.New("the group does not exist")

// describe asks every coordinator for its groups and notes in groups what was
// learnt.
func (p *Poller) describe(ctx context.Context, groups map[string]polled) map[string]inspect.Observation {
	type place struct {
		broker int32
		typ    inspect.GroupType
	}
	seen := make(map[string]inspect.Observation, len(groups))
	byPlace := map[place][]string{}
	now := p.c.now()
	for id, g := range groups {
		switch sick, ok := p.sick[g.broker]; {
		case errors.Is(g.err, errAbsent):
			seen[id] = dead(id, -1, now)
		case g.broker < 0:
			seen[id] = failed(id, -1, now, g.err)
		case ok && now.Before(sick.until):
			seen[id] = failed(id, g.broker, now, sick.err)
		default:
			byPlace[place{g.broker, g.typ}] = append(byPlace[place{g.broker, g.typ}], id)
		}
	}
	var mu sync.Mutex
	each(slices.Collect(maps.Keys(byPlace)), func(at place) {
		b := p.c.broker(p.m, at.broker)
		b.limit = PollLimit
		got := p.c.describeAs(ctx, b, at.typ, byPlace[at])
		if at.typ == inspect.UnknownType {
			p.c.correctTypes(ctx, b, got)
		}
		mu.Lock()
		defer mu.Unlock()
		for id, d := range got {
			g := groups[id]
			seen[id] = p.learn(ctx, &g, d, at.broker)
			groups[id] = g
		}
	})
	return seen
}

// correctTypes lists the coordinator's groups once for those that were described
// as classic for want of knowing better, and describes again those that are not.
func (c *Collector) correctTypes(ctx context.Context, b broker, got map[string]draft) {
	found := false
	for _, d := range got {
		found = found || d.err == nil
	}
	if !found {
		return
	}
	byType := map[inspect.GroupType][]string{}
	for id, l := range c.list(ctx, []broker{b}).Groups {
		if d, ok := got[id]; ok && d.err == nil && l.Type != inspect.UnknownType && l.Type != d.group.Type {
			byType[l.Type] = append(byType[l.Type], id)
		}
	}
	for t, ids := range byType {
		maps.Copy(got, c.describeAt(ctx, b, t, ids))
	}
}

// learn turns one draft into an Observation and updates what is remembered.
func (p *Poller) learn(ctx context.Context, g *polled, d draft, broker int32) inspect.Observation {
	id, at := d.group.ID, d.group.At
	switch {
	case d.err == nil:
		g.typ = d.group.Type
		delete(p.sick, broker)
		return observe(&d, broker)
	case absent(d.err), errors.Is(d.err, errMaybeConsumer), otherType(d.err):
		g.typ = inspect.UnknownType // it may come again as another type
		return dead(id, broker, at)
	case transient(d.err):
		g.broker, g.err = -1, d.err
		p.looked = time.Time{} // leaders have changed
	case isBroker(d.err) && ctx.Err() == nil:
		if !unsupported(d.err) {
			p.sick[broker] = sickAt{p.c.opts.Now().Add(p.pauseFor(d.err)), d.err}
			g.broker, g.err = -1, d.err
			p.looked = time.Time{}
		}
	}
	return failed(id, broker, at, d.err)
}

// pauseFor is how long a broker is left alone: not at all where its failure was
// quick, as the failures of a stopped broker are.
func (p *Poller) pauseFor(err error) time.Duration {
	if errors.Is(err, context.DeadlineExceeded) {
		return sickPause
	}
	return 0
}

// observe makes an Observation of a draft.
func observe(d *draft, broker int32) inspect.Observation {
	g := &d.group
	o := inspect.Observation{Group: g.ID, From: g.At, To: g.At, State: g.State, Epoch: g.Epoch, Coordinator: broker,
		Members: make([]inspect.ObservedMember, 0, len(g.Members))}
	if g.Type == inspect.Classic {
		o.GenerationBound = g.Generation
	}
	for i := range g.Members {
		m := &g.Members[i]
		o.Members = append(o.Members, inspect.ObservedMember{MemberID: m.MemberID, InstanceID: m.InstanceID,
			ClientID: m.ClientID, Host: m.Host, Epoch: m.Epoch, Assignment: m.Assignment})
	}
	slices.SortFunc(o.Members, func(a, b inspect.ObservedMember) int {
		if a.MemberID < b.MemberID {
			return -1
		}
		return 1
	})
	return o
}

// dead is a group that does not exist.
func dead(id string, broker int32, at inspect.Time) inspect.Observation {
	return inspect.Observation{Group: id, From: at, To: at, State: "Dead", Coordinator: broker, Members: []inspect.ObservedMember{}}
}

// failed is a poll that told nothing.
func failed(id string, broker int32, at inspect.Time, err error) inspect.Observation {
	why, _ := explain(err, need{})
	return inspect.Observation{Group: id, From: at, To: at, Coordinator: broker, Members: []inspect.ObservedMember{}, Error: why}
}
