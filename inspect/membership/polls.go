package membership

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
func (t *Group) observed() {
	if len(t.Records) > 0 || len(t.in.Logs) > 0 {
		return
	}
	w := pollWalk{Group: t}
	if o := w.atStart(); o != nil {
		w.begin(o)
	}
	for i := range t.in.Observations {
		w.take(&t.in.Observations[i])
	}
}

// pollWalk is the walk over the observations of one group.
type pollWalk struct {
	*Group
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
	if o.To.After(w.Until) {
		w.Until = o.To.Time
	}
	switch {
	case o.Error != "":
	case Inactive(o.State):
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
	w.Type = inspect.Classic
	if o.Epoch != nil {
		w.Type = inspect.Consumer
		if s := w.in.Snapshot; s != nil && (s.Type == inspect.Share || s.Type == inspect.Streams) {
			w.Type = s.Type
		}
	}
	w.gen, w.Members = w.generation(o), w.polled(o)
	w.rest, w.restIn, w.known = o, false, true
	w.owner = pollOwners(w.Members)
}

// gone takes the sight of a group that does not exist.
func (w *pollWalk) gone(o *inspect.Observation) {
	if w.rest == nil {
		return
	}
	s := w.open(o, map[string]*Member{})
	s.Deleted, s.Empty = true, true
	w.Steps = append(w.Steps, s)
	w.rest, w.gen, w.Members, w.owner = nil, 0, map[string]*Member{}, map[TopicPartition]holding{}
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
	if w.restIn || w.generation(o) > w.gen || len(o.Members) != len(w.Members) {
		return true
	}
	return slices.ContainsFunc(o.Members, func(m inspect.ObservedMember) bool { return w.Members[m.MemberID] == nil })
}

// polled are the members that an observation shows.
func (w *pollWalk) polled(o *inspect.Observation) map[string]*Member {
	var since time.Time // of those that are new; zero, as they may have been there for long
	if w.rest != nil {
		since = w.rest.To.Time
	}
	out := make(map[string]*Member, len(o.Members))
	for i := range o.Members {
		om := &o.Members[i]
		m := &Member{ID: om.MemberID, ClientID: om.ClientID, Host: om.Host, InstanceID: om.InstanceID, ServerSide: o.Epoch != nil, Since: since}
		if old := w.Seen[m.ID]; old != nil {
			m.Since, m.Client = old.Since, old.Client
		} else {
			m.Client = w.guess(family.Evidence{Group: o.Group, Type: w.Type, MemberID: m.ID, ClientID: m.ClientID, InstanceID: m.InstanceID})
		}
		if m.ServerSide {
			m.Session = w.limits.Session
		}
		if om.Epoch != nil {
			m.Epoch = *om.Epoch
		}
		for _, a := range om.Assignment {
			for _, p := range a.Partitions {
				m.Assigned = append(m.Assigned, TopicPartition{a.Topic, p})
			}
		}
		out[m.ID] = m
		w.Seen[m.ID] = m
	}
	return out
}

// pollOwners says who owns what.
func pollOwners(members map[string]*Member) map[TopicPartition]holding {
	out := map[TopicPartition]holding{}
	for k, id := range assignedIn(members) {
		out[k] = holding{member: id}
	}
	return out
}

// open starts a step at an observation.
func (w *pollWalk) open(o *inspect.Observation, after map[string]*Member) *Step {
	prev := w.gen
	return &Step{At: o.From.Time, EndAt: o.From.Time, Polled: true, LastRest: w.rest.To.Time, ID: o.ID(), ServerSide: o.Epoch != nil,
		Generation: w.gen, Generations: []int32{w.gen}, PreviousGeneration: &prev, Before: w.Members, After: after, Assigned: len(w.owner)}
}

// step takes an observation after a rebalance.
func (w *pollWalk) step(o *inspect.Observation) {
	fresh := w.polled(o)
	owners := pollOwners(fresh)
	if w.second(fresh, owners) {
		w.rest, w.restIn, w.owner, w.Members = o, false, owners, fresh
		w.gen = w.generation(o)
		return
	}
	s := w.open(o, fresh)
	s.Generation = w.generation(o)
	swaps := w.swapsOnly(fresh)
	if o.Epoch == nil && s.Generation == w.gen && swaps == nil {
		s.Generation++
	}
	s.Generations, s.Empty, s.Assigned = []int32{s.Generation}, len(fresh) == 0, len(owners)
	if snapshot := w.in.Snapshot; snapshot != nil && !s.ServerSide {
		s.ProtocolFrom, s.ProtocolTo = snapshot.Assignor, snapshot.Assignor
		s.Eager = eager(s.ProtocolTo)
	}
	if s.Generation == w.gen && swaps != nil {
		s.Replaced = swaps
	} else {
		w.diff(s, 0)
	}
	for k, h := range owners {
		if was, had := w.owner[k]; had && was.member != h.member {
			s.Moved++
		}
	}
	w.Steps = append(w.Steps, s)
	w.rest, w.restIn, w.gen = o, false, s.Generation
	w.Members, w.owner = fresh, owners
	w.settle(o)
}

// second reports whether an observation shows the second half of a cooperative
// rebalance, of which the first took partitions away: the same members, and more of
// the partitions assigned.
func (w *pollWalk) second(fresh map[string]*Member, owners map[TopicPartition]holding) bool {
	if len(w.Steps) == 0 || w.Steps[len(w.Steps)-1].ServerSide || !maps.EqualFunc(fresh, w.Members, sameMember) || len(owners) <= len(w.owner) {
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
func (w *pollWalk) swapsOnly(fresh map[string]*Member) []Replacement {
	if w.restIn || len(fresh) != len(w.Members) {
		return nil
	}
	var out []Replacement
	for _, m := range ByID(fresh) {
		if w.Members[m.ID] != nil {
			continue
		}
		old := w.holder(m.InstanceID, fresh)
		if old == nil {
			return nil
		}
		out = append(out, Replacement{Old: old, New: m, Held: map[TopicPartition]int{}})
	}
	return out
}

// settle notes when a KIP-848 group has converged.
func (w *pollWalk) settle(o *inspect.Observation) {
	if len(w.Steps) == 0 || o.State != "Stable" {
		return
	}
	if s := w.Steps[len(w.Steps)-1]; s.ServerSide && s.Converged.IsZero() && len(s.Replaced) == 0 {
		s.Converged = o.From.Time
	}
}

// Inactive reports a state whose answer lists no members although the group has some,
// or that of a group that does not exist.
func Inactive(state string) bool { return state == "Dead" || state == "" }
