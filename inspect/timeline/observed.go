package timeline

import (
	"maps"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
)

// observed cuts what polls saw into steps, where nothing was read of the offsets
// topic: on a cluster that hides it, what a watch kept is all the history there is.
// Without records nobody's last commit or timeout is known, so of a departure no more
// is told than that it happened, unless the polls themselves or a log show the rest.
func (t *track) observed() {
	if len(t.recs) > 0 || len(t.in.Logs) > 0 {
		return
	}
	w := pollWalk{track: t}
	if o := w.atStart(); o != nil {
		w.begin(o)
	}
	for i := range t.in.Observations {
		w.take(&t.in.Observations[i])
	}
}

// pollWalk is the walk over the observations of one group.
type pollWalk struct {
	*track
	rest   *inspect.Observation // the last that saw the group at rest, or of KIP-848 the last
	restIn bool                 // a rebalance was seen since
}

// atStart is the snapshot as an observation, where it was taken before the first one
// and shows the group at rest; nil otherwise. A rebalance that the first poll saw under
// way began after it.
func (w *pollWalk) atStart() *inspect.Observation {
	s := w.in.Snapshot
	if s == nil || len(w.in.Observations) == 0 || s.At.IsZero() || s.At.After(w.in.Observations[0].From.Time) || s.State != "Stable" && s.State != "Empty" {
		return nil
	}
	o := &inspect.Observation{Group: s.ID, From: s.At, To: s.At, State: s.State, Epoch: s.Epoch, GenerationBound: s.Generation, Coordinator: s.Coordinator.ID}
	for i := range s.Members {
		m := &s.Members[i]
		o.Members = append(o.Members, inspect.ObservedMember{MemberID: m.MemberID, ClientID: m.ClientID, Host: m.Host, InstanceID: m.InstanceID,
			Epoch: m.Epoch, Assignment: m.Assignment})
	}
	return o
}

// take works in one observation, a run of polls that saw the same.
func (w *pollWalk) take(o *inspect.Observation) {
	if o.To.After(w.end) {
		w.end = o.To.Time
	}
	switch {
	case o.Error != "":
	case inactive(o.State):
		w.gone(o)
	case o.State == "PreparingRebalance" || o.State == "CompletingRebalance":
		w.restIn = true
	case w.rest == nil:
		w.begin(o)
	case w.changed(o):
		w.step(o)
	default:
		w.rest = o
		w.settle(o)
	}
}

// begin takes the first sight of the group: what it is now is no news.
func (w *pollWalk) begin(o *inspect.Observation) {
	w.kind = inspect.Classic
	if o.Epoch != nil {
		w.kind = inspect.Consumer
		if s := w.in.Snapshot; s != nil && (s.Type == inspect.Share || s.Type == inspect.Streams) {
			w.kind = s.Type
		}
	}
	w.gen, w.members = w.generation(o), w.polled(o)
	w.rest, w.restIn, w.known = o, false, true
	w.owner = pollOwners(w.members)
}

// gone takes the sight of a group that does not exist.
func (w *pollWalk) gone(o *inspect.Observation) {
	if w.rest == nil {
		return
	}
	s := w.open(o, map[string]*member{})
	s.deleted, s.empty = true, true
	w.steps = append(w.steps, s)
	w.rest, w.gen, w.members, w.owner = nil, 0, map[string]*member{}, map[tp]holding{}
}

// generation is the group epoch, or the least that a classic generation can be.
func (w *pollWalk) generation(o *inspect.Observation) int32 {
	switch {
	case o.Epoch != nil:
		return *o.Epoch
	case o.GenerationBound != nil:
		return max(w.gen, *o.GenerationBound)
	}
	return w.gen
}

// changed reports whether the group rebalanced since it was last seen at rest.
func (w *pollWalk) changed(o *inspect.Observation) bool {
	if w.restIn || w.generation(o) > w.gen || len(o.Members) != len(w.members) {
		return true
	}
	return slices.ContainsFunc(o.Members, func(m inspect.ObservedMember) bool { return w.members[m.MemberID] == nil })
}

// polled are the members that an observation shows.
func (w *pollWalk) polled(o *inspect.Observation) map[string]*member {
	var since time.Time // of those that are new; zero, as they may have been there for long
	if w.rest != nil {
		since = w.rest.To.Time
	}
	out := make(map[string]*member, len(o.Members))
	for i := range o.Members {
		om := &o.Members[i]
		m := &member{id: om.MemberID, clientID: om.ClientID, host: om.Host, instance: om.InstanceID, server: o.Epoch != nil, since: since}
		if old := w.seen[m.id]; old != nil {
			m.since, m.guess = old.since, old.guess
		} else {
			m.guess = w.guess(family.Evidence{Group: o.Group, Type: w.kind, MemberID: m.id, ClientID: m.clientID, InstanceID: m.instance})
		}
		if m.server {
			m.session = w.limits.Session
		}
		if om.Epoch != nil {
			m.epoch = *om.Epoch
		}
		for _, a := range om.Assignment {
			for _, p := range a.Partitions {
				m.assigned = append(m.assigned, tp{a.Topic, p})
			}
		}
		out[m.id] = m
		w.seen[m.id] = m
	}
	return out
}

// pollOwners says who owns what.
func pollOwners(members map[string]*member) map[tp]holding {
	out := map[tp]holding{}
	for k, id := range assignedIn(members) {
		out[k] = holding{member: id}
	}
	return out
}

// open starts a step at an observation.
func (w *pollWalk) open(o *inspect.Observation, after map[string]*member) *step {
	prev := w.gen
	return &step{at: o.From.Time, endAt: o.From.Time, polled: true, lastRest: w.rest.To.Time, id: o.ID(), server: o.Epoch != nil,
		gen: w.gen, gens: []int32{w.gen}, prevGen: &prev, before: w.members, after: after, total: len(w.owner)}
}

// step takes an observation after a rebalance.
func (w *pollWalk) step(o *inspect.Observation) {
	fresh := w.polled(o)
	owners := pollOwners(fresh)
	if w.second(fresh, owners) {
		w.rest, w.restIn, w.owner, w.members = o, false, owners, fresh
		w.gen = w.generation(o)
		return
	}
	s := w.open(o, fresh)
	s.gen = w.generation(o)
	swaps := w.swapsOnly(fresh)
	if o.Epoch == nil && s.gen == w.gen && swaps == nil {
		s.gen++
	}
	s.gens, s.empty, s.total = []int32{s.gen}, len(fresh) == 0, len(owners)
	if snapshot := w.in.Snapshot; snapshot != nil && !s.server {
		s.protoFrom, s.protoTo = snapshot.Assignor, snapshot.Assignor
		s.eager = eager(s.protoTo)
	}
	if s.gen == w.gen && swaps != nil {
		s.replaced = swaps
	} else {
		w.diff(s, 0)
	}
	for k, h := range owners {
		if was, had := w.owner[k]; had && was.member != h.member {
			s.moved++
		}
	}
	w.steps = append(w.steps, s)
	w.rest, w.restIn, w.gen = o, false, s.gen
	w.members, w.owner = fresh, owners
	w.settle(o)
}

// second reports whether an observation shows the second half of a cooperative
// rebalance, of which the first took partitions away: the same members, and more of
// the partitions assigned.
func (w *pollWalk) second(fresh map[string]*member, owners map[tp]holding) bool {
	if len(w.steps) == 0 || w.steps[len(w.steps)-1].server || !maps.EqualFunc(fresh, w.members, sameMember) || len(owners) <= len(w.owner) {
		return false
	}
	for k, h := range w.owner {
		if owners[k].member != h.member {
			return false
		}
	}
	return true
}

// swapsOnly are the static members whose place another process took, where nothing
// else changed: no rebalance follows then. nil otherwise.
func (w *pollWalk) swapsOnly(fresh map[string]*member) []replacement {
	if w.restIn || len(fresh) != len(w.members) {
		return nil
	}
	var out []replacement
	for _, m := range byID(fresh) {
		if w.members[m.id] != nil {
			continue
		}
		old := w.holder(m.instance, fresh)
		if old == nil {
			return nil
		}
		out = append(out, replacement{old: old, new: m, held: map[tp]int{}})
	}
	return out
}

// settle notes when a KIP-848 group has converged.
func (w *pollWalk) settle(o *inspect.Observation) {
	if len(w.steps) == 0 || o.State != "Stable" {
		return
	}
	if s := w.steps[len(w.steps)-1]; s.server && s.converged.IsZero() && len(s.replaced) == 0 {
		s.converged = o.From.Time
	}
}
