package membership

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// Pause bounds how long a rebalance kept the members that stay from their partitions:
// of the one that waited longest, from when it gave them up until the record that gave
// them out again. A member gives them up when it rejoins, which no record tells, and
// which may be long after the rebalance began: it works on until its next poll.
type Pause struct {
	// Least and Most are nil where nothing bounds it.
	Least, Most *inspect.Millis
	// Basis is "observed" where polls bound it; "at_least" where records alone do, or
	// "at_most" where those bound it from above alone; "estimated" where the protocol
	// pauses nobody; and empty where nothing is known.
	Basis string
	// Rebalancing is for how long polls saw the group rebalance; nil where none did.
	Rebalancing *inspect.Millis
}

// Paused bounds the pause of a step's rebalance.
//
// Only an eager assignor pauses members: with a cooperative one, and under KIP-848,
// they go on with what they keep. The least is the time from the end of the join
// phase, by when all had rejoined, to the record. The most is the time since the
// earliest of the members' last commits, as a member commits only what it holds, or
// since the last poll that saw the group at rest.
func (s *Step) Paused(polls Polls) Pause {
	switch {
	case s.Deleted || len(s.Replaced) > 0 && len(s.Left) == 0 || s.ProtocolTo == "" && !s.ServerSide:
		return Pause{}
	case s.ServerSide || !s.Eager && !s.Base:
		return Pause{Least: inspect.Ms(0), Most: inspect.Ms(0), Basis: "estimated"}
	case !s.Eager:
		return Pause{}
	}
	return s.eagerPause(polls)
}

// eagerPause bounds the pause of a rebalance for which every member gives up all that
// it has.
func (s *Step) eagerPause(polls Polls) Pause {
	var p Pause
	rest, from, to := polls.Rebalancing(s)
	seen := !from.IsZero() && from.Before(s.EndAt)
	if seen {
		p.Rebalancing = inspect.Ms(s.EndAt.Sub(from))
	}
	if s.Base || len(s.stayed()) == 0 {
		return p // nobody is known to have had partitions to give up
	}
	if !s.StateTime.IsZero() && !s.StateTime.After(s.EndAt) {
		p.Least, p.Basis = inspect.Ms(s.EndAt.Sub(s.StateTime)), "at_least"
	}
	if p.Most = s.sinceWork(); p.Most != nil && p.Least == nil {
		p.Basis = "at_most"
	}
	// Polls that saw it go on after its record were timed by a clock that differs.
	if (seen || s.Polled) && !rest.IsZero() && !rest.After(s.EndAt) && !to.After(s.EndAt) {
		if within := s.EndAt.Sub(rest); p.Most == nil || within < p.Most.Duration() {
			p.Most = inspect.Ms(within)
		}
		p.Basis = "observed"
	}
	if p.Least != nil && p.Most != nil && *p.Most < *p.Least {
		p.Most = p.Least // the clocks of one broker, read at two moments
	}
	return p
}

// stayed are the members that were there before the step and are after it.
func (s *Step) stayed() []*Member {
	var out []*Member
	for _, m := range ByID(s.After) {
		if s.Before[m.ID] != nil {
			out = append(out, m)
		}
	}
	return out
}

// sinceWork is the longest that a member that stayed can have been without partitions,
// by its last commit; nil where that is not known, or bounds it no better than the
// rebalance timeout, after which the coordinator waits for nobody.
func (s *Step) sinceWork() *inspect.Millis {
	var most, limit time.Duration
	for _, m := range s.stayed() {
		at, ok := s.worked[m.ID]
		if !ok {
			return nil
		}
		most = max(most, s.EndAt.Sub(at))
		limit = max(limit, inspect.Or(m.Rebalance, 0))
	}
	if limit > 0 && most > limit {
		return nil
	}
	return inspect.Ms(most)
}

// committed notes that the owner of a partition worked at a record's time.
func (t *Group) committed(r *inspect.Record) {
	h, ok := t.owner[TopicPartition{r.Topic, r.TopicPartition}]
	if !ok || r.Commit == nil || r.Polled() { // no record of the group comes where commits are polled
		return
	}
	if t.worked == nil {
		t.worked = map[string]time.Time{}
	}
	t.worked[h.member] = r.Time.Time
}

// restarted is what is known of when members worked once a record has given them
// partitions: they do from then on.
func restarted(r *inspect.Record, fresh map[string]*Member) map[string]time.Time {
	out := make(map[string]time.Time, len(fresh))
	for id := range fresh {
		out[id] = r.Time.Time
	}
	return out
}
