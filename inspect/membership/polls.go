package membership

import (
	"maps"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
)

// Inactive reports a state whose answer lists no members although the group has some,
// or that of a group that does not exist.
func Inactive(state string) bool { return state == "Dead" || state == "" }

// Restless are the states in which a classic group stands still.
var Restless = []string{"PreparingRebalance", "CompletingRebalance"}

// Rebalancing reports a state in which a classic group stands still.
func Rebalancing(state string) bool { return slices.Contains(Restless, state) }

func atRest(state string) bool { return state == "Stable" || state == "Empty" }

// Poll takes an observation, a run of polls that saw the same, in the order of time.
// Where no records come (ByPolls) it tells the membership; else that a KIP-848 group
// has converged, where no record did.
//
// Without records nobody's timeout is known, and a classic generation is a lower bound.
func (t *Group) Poll(o *inspect.Observation) []Change {
	if o.Error != "" {
		return nil
	}
	wasStable := t.stable
	t.stable = o.State == "Stable"
	if t.ByPolls {
		t.miss(o)
	}
	switch {
	case Inactive(o.State):
		return t.gone(o)
	case Rebalancing(o.State):
		t.unrest = true
		return nil
	case !t.ByPolls:
		t.restAt, t.unrest = o.To.Time, false
		return t.settle(o, wasStable) // the log tells the moment, and has had time to
	case t.restAt.IsZero() && !t.known:
		t.begin(o)
		return nil
	case t.movedOn(o):
		if t.Type == inspect.UnknownType { // records were awaited, and never came
			t.classify(o)
		}
		return t.pollStep(o)
	}
	t.restAt = o.To.Time
	t.reassign(o)
	return t.settle(o, true)
}

// miss notes which members an observation is the first to show no more: what was committed
// since the one before it may be the next owner's.
func (t *Group) miss(o *inspect.Observation) {
	if Inactive(o.State) {
		return
	}
	here := make(map[string]bool, len(o.Members))
	for i := range o.Members {
		here[o.Members[i].MemberID] = true
	}
	for id := range t.Members {
		if _, gone := t.missed[id]; here[id] {
			delete(t.missed, id)
		} else if !gone {
			if t.missed == nil {
				t.missed = map[string]int{}
			}
			t.missed[id] = t.sighted
		}
	}
}

// reassign takes partitions that changed hands without a rebalance of its own: under
// KIP-848 they do so after the epoch that gives them away.
func (t *Group) reassign(o *inspect.Observation) {
	fresh := t.Sighted(o)
	owners := ownersIn(fresh)
	if len(owners) == len(t.owner) {
		changed := false
		for k, id := range owners {
			changed = changed || t.owner[k].member != id
		}
		if !changed {
			return
		}
	}
	t.Members = fresh
	t.hand(owners)
}

// hand makes members the owners of partitions. Who keeps one has had it all along.
func (t *Group) hand(owners map[TopicPartition]string) {
	next := make(map[TopicPartition]holding, len(owners))
	for k, id := range owners {
		if next[k] = t.owner[k]; next[k].member != id {
			next[k] = holding{member: id, from: t.pos - 1}
		}
	}
	t.owner = next
}

// begin takes the first sight of the group: what it is now is no news.
func (t *Group) begin(o *inspect.Observation) {
	t.classify(o)
	t.known = true
	t.takePoll(o, t.Sighted(o), t.bound(o))
}

// classify takes the type of the group from what a poll saw.
func (t *Group) classify(o *inspect.Observation) {
	if t.Type = inspect.Classic; o.Epoch != nil {
		t.Type = inspect.Consumer
		if s := t.snapshot; s != nil && (s.Type == inspect.Share || s.Type == inspect.Streams) {
			t.Type = s.Type
		}
	}
}

// takePoll makes what a poll saw the state of the group.
func (t *Group) takePoll(o *inspect.Observation, fresh map[string]*Member, generation int32) {
	t.Members, t.restAt, t.unrest, t.changed = fresh, o.To.Time, false, o.To.Time
	t.gen, t.has, t.genPos, t.genOf = generation, true, -1, nil
	t.hand(ownersIn(fresh))
	t.missed = nil
	for _, m := range fresh {
		t.remember(m)
	}
}

// gone takes the sight of a group that does not exist.
func (t *Group) gone(o *inspect.Observation) []Change {
	if !t.ByPolls || t.restAt.IsZero() {
		return nil
	}
	s := t.openPoll(o, map[string]*Member{})
	s.Deleted, s.Empty = true, true
	t.restAt, t.gen, t.has, t.known, t.converging = time.Time{}, 0, false, false, nil
	t.Members, t.owner = map[string]*Member{}, map[TopicPartition]holding{}
	return t.add(Deleted, s)
}

// bound is the group epoch, or the least that a classic generation can be.
func (t *Group) bound(o *inspect.Observation) int32 {
	switch {
	case o.Epoch != nil:
		return *o.Epoch
	case o.GenerationBound != nil:
		return max(t.gen, *o.GenerationBound)
	}
	return t.gen
}

// movedOn reports whether the group rebalanced since it was last seen at rest.
func (t *Group) movedOn(o *inspect.Observation) bool {
	if t.unrest || t.has && t.bound(o) > t.gen || len(o.Members) != len(t.Members) {
		return true
	}
	for i := range o.Members {
		if t.Members[o.Members[i].MemberID] == nil {
			return true
		}
	}
	return false
}

// Sighted are the members that an observation shows, with what else is known of them.
func (t *Group) Sighted(o *inspect.Observation) map[string]*Member {
	out := make(map[string]*Member, len(o.Members))
	for i := range o.Members {
		om := &o.Members[i]
		old := t.Members[om.MemberID]
		if old == nil {
			old = t.seen[om.MemberID]
		}
		if old == nil { // since the last poll, or it may have been there for long
			old = &Member{Since: t.restAt, Client: t.guess(family.Evidence{Group: o.Group, Type: t.Type,
				MemberID: om.MemberID, ClientID: om.ClientID, InstanceID: om.InstanceID})}
			if o.Epoch != nil {
				old.Session = t.limits().Session
			}
		}
		m := *old
		m.ID, m.ClientID, m.Host, m.InstanceID, m.ServerSide = om.MemberID, om.ClientID, om.Host, om.InstanceID, o.Epoch != nil
		m.Assigned = partitionsOf(om.Assignment)
		if om.Epoch != nil {
			m.Epoch = *om.Epoch
		}
		out[m.ID] = &m
	}
	return out
}

// openPoll starts a step at an observation.
func (t *Group) openPoll(o *inspect.Observation, after map[string]*Member) *Step {
	previous := t.gen
	return &Step{Pos: t.pos, First: t.pos, At: o.From.Time, EndAt: o.From.Time, Polled: true, LastRest: t.restAt, ID: o.ID(), ServerSide: o.Epoch != nil,
		Generation: t.gen, Generations: []int32{t.gen}, PreviousGeneration: &previous, Before: t.Members, After: after, Assigned: len(t.owner)}
}

// pollStep takes an observation after a rebalance.
func (t *Group) pollStep(o *inspect.Observation) []Change {
	fresh := t.Sighted(o)
	owners := ownersIn(fresh)
	if t.secondHalf(fresh, owners) {
		c := Change{Kind: Continued, ID: o.ID(), At: o.From.Time, Step: t.last, Before: t.Members, After: fresh}
		t.takePoll(o, fresh, t.bound(o))
		return []Change{c}
	}
	s := t.openPoll(o, fresh)
	s.Generation = t.bound(o)
	kind := Rebalanced
	if swaps := t.swapsOnly(fresh); len(swaps) > 0 && !t.unrest && s.Generation == t.gen {
		kind, s.Replaced = Swapped, swaps
	} else {
		if o.Epoch == nil && s.Generation == t.gen {
			s.Generation++
		}
		t.diff(s, t.pos, [2]time.Time{t.restAt, o.From.Time})
		for _, l := range s.Left {
			if pos, ok := t.missed[l.Member.ID]; ok {
				l.Pos = pos
			}
		}
	}
	s.Generations, s.Empty, s.Assigned = []int32{s.Generation}, len(fresh) == 0, len(owners)
	if t.snapshot != nil && !s.ServerSide {
		if s.ProtocolFrom = t.snapshot.Assignor; !s.Empty {
			s.ProtocolTo, s.Eager = s.ProtocolFrom, eager(s.ProtocolFrom)
		}
	}
	for k, id := range owners {
		if was, had := t.owner[k]; had && was.member != id {
			s.Moved++
		}
	}
	t.takePoll(o, fresh, s.Generation)
	if s.ServerSide && kind == Rebalanced {
		t.converging = s
		t.settle(o, true) // with the step, not after it
	}
	return t.add(kind, s)
}

// secondHalf reports whether an observation shows the second half of a cooperative
// rebalance, of which the first took partitions away: the same members, and more of
// the partitions assigned.
func (t *Group) secondHalf(fresh map[string]*Member, owners map[TopicPartition]string) bool {
	if t.last == nil || t.last.ServerSide || t.last.Deleted || !maps.EqualFunc(fresh, t.Members, sameMember) || len(owners) <= len(t.owner) {
		return false
	}
	for k, h := range t.owner {
		if owners[k] != h.member {
			return false
		}
	}
	return true
}

// settle notes when a KIP-848 group has converged, where it was Stable before, too, or
// that does not matter.
func (t *Group) settle(o *inspect.Observation, before bool) []Change {
	if t.converging == nil || !before || o.State != "Stable" || o.Epoch == nil || *o.Epoch < t.gen {
		return nil
	}
	return t.converged(o.ID(), o.From.Time, nil)
}
