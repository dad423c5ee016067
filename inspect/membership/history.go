package membership

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// Input is what the history of one group's membership is read from.
type Input struct {
	Options
	Records      []*inspect.Record // in any order; a record that was read twice counts once
	Observations []inspect.Observation
	Snapshot     *inspect.Group // nil where the group was not described
}

// History is a Group of which all was read.
type History struct {
	*Group
	Records []*inspect.Record  // in order; positions count these
	Steps   []*Step            // oldest first
	Seen    map[string]*Member // all members there ever were, as they were last seen
	Until   time.Time          // of the newest record or poll
}

// Read reads the membership of a group out of its records or, where nothing was read
// of the offsets topic, out of the polls: on a cluster that hides it, what a watch
// kept is all the history there is.
func Read(in Input) *History {
	t := New(in.Options)
	t.seen, t.snapshot = map[string]*Member{}, in.Snapshot
	records, polled := fromLog(in.Records)
	h := &History{Group: t, Records: ordered(records), Seen: t.seen}
	t.nameTopics(h.Records)
	t.recall(h.Records)
	for _, r := range h.Records {
		h.keep(t.Record(r), r.Time.Time)
	}
	h.keep(t.Flush(), time.Time{})
	if len(h.Records) > 0 || len(in.Logs) > 0 {
		return h
	}
	h.byPolls(in, ordered(polled))
	return h
}

// fromLog tells records of the log from commits that polls saw.
func fromLog(all []*inspect.Record) (records, polled []*inspect.Record) {
	for _, r := range all {
		if r.Polled() {
			polled = append(polled, r)
		} else {
			records = append(records, r)
		}
	}
	return records, polled
}

// byPolls reads the membership out of polls alone, and puts the commits that polls saw
// where they belong: before the first sight of the group that is later than theirs.
func (h *History) byPolls(in Input, commits []*inspect.Record) {
	t := h.Group
	t.ByPolls, h.Records = true, commits
	if s := in.Snapshot; s != nil && len(in.Observations) > 0 && !s.At.IsZero() && !s.At.After(in.Observations[0].From.Time) && atRest(s.State) {
		t.Start(s) // a rebalance that the first poll saw under way began after it
	}
	until := func(ok func(*inspect.Record) bool) {
		for t.pos < len(commits) && ok(commits[t.pos]) {
			r := commits[t.pos]
			h.keep(t.Record(r), r.Time.Time)
		}
	}
	var last time.Time // when the group was last seen
	for i := range in.Observations {
		o := &in.Observations[i]
		if o.Error == "" {
			until(func(r *inspect.Record) bool { return !r.Time.After(last) })
			t.sighted, last = t.pos, o.To.Time
			until(func(r *inspect.Record) bool { return !r.Time.After(o.From.Time) })
		}
		h.keep(t.Poll(o), o.To.Time)
	}
	until(func(*inspect.Record) bool { return true })
}

// keep appends the steps of changes that were read at a time.
func (h *History) keep(changes []Change, at time.Time) {
	if at.After(h.Until) {
		h.Until = at
	}
	for _, c := range changes {
		if c.Instead != nil {
			h.Steps = slices.DeleteFunc(h.Steps, func(s *Step) bool { return s == c.Instead })
		}
		switch c.Kind {
		case Rebalanced, Swapped, Deleted:
			h.Steps = append(h.Steps, c.Step)
		}
	}
}

// ordered sorts records by partition and offset and drops those read twice. A
// group lives on one offsets partition; where it has records on two, because
// partitions were added to the topic, the older partition's come first.
func ordered(in []*inspect.Record) []*inspect.Record {
	recs := slices.Clone(in)
	slices.SortStableFunc(recs, func(a, b *inspect.Record) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
	recs = slices.CompactFunc(recs, func(a, b *inspect.Record) bool {
		return a.Partition == b.Partition && a.Offset == b.Offset
	})
	if len(recs) > 0 && recs[0].Partition != recs[len(recs)-1].Partition {
		slices.SortStableFunc(recs, func(a, b *inspect.Record) int { return a.Time.Compare(b.Time.Time) })
	}
	return recs
}

// Complete reports whether nothing of a group can have been compacted away after the
// record.
func Complete(logs []inspect.PartitionLog, r *inspect.Record) bool {
	for _, l := range logs {
		if l.Partition == r.Partition {
			return r.Offset >= l.CompleteFrom
		}
	}
	return true
}

// learn notes the names of topic ids and the source topics of subtopologies, which
// assignments hold instead of names.
func (t *Group) learn(r *inspect.Record) {
	switch {
	case r.Commit != nil && r.Commit.TopicID != "":
		t.names[r.Commit.TopicID] = r.Topic
	case r.Topics != nil:
		for _, topic := range r.Topics {
			t.names[topic.TopicID] = topic.Topic
		}
	case r.Topology != nil:
		for _, s := range r.Topology.Subtopologies {
			t.tasks[s.ID] = slices.Concat(s.SourceTopics, s.Repartition)
		}
	}
}

// nameTopics learns from all records. One topic id without a name and one topic
// without an id belong together.
func (t *Group) nameTopics(records []*inspect.Record) {
	ids, topics := map[string]bool{}, map[string]bool{}
	for _, r := range records {
		t.learn(r)
		switch {
		case r.Current != nil && r.Type == inspect.RecConsumerCurrentAssignment:
			for _, a := range r.Current.Assigned.Active {
				ids[a.TopicID] = true
			}
		case r.MemberOf != nil:
			for _, s := range r.MemberOf.Topics {
				topics[s] = true
			}
		}
	}
	var unnamed []string
	for id := range ids {
		if name, ok := t.names[id]; ok {
			delete(topics, name)
		} else {
			unnamed = append(unnamed, id)
		}
	}
	if len(unnamed) == 1 && len(topics) == 1 {
		for name := range topics {
			t.names[unnamed[0]] = name
		}
	}
}

// recall finds the members of a KIP-848, share or streams group that were there
// before the first record that was read: their first record is no join.
func (t *Group) recall(records []*inspect.Record) {
	first, named := map[string]*inspect.Record{}, map[string]*inspect.MemberMetadata{}
	epochs := false
	for _, r := range records {
		epochs = epochs || isEpoch(r.Type)
		if first[r.Member] == nil {
			first[r.Member] = r
		}
		if r.MemberOf != nil && named[r.Member] == nil {
			named[r.Member] = r.MemberOf
		}
	}
	described, unread := t.described(), unreadMembers(records)
	if !epochs || t.snapshot == nil || t.snapshot.Type == inspect.Classic {
		maps.DeleteFunc(described, func(id string, _ *Member) bool { return first[id] == nil })
	}
	for id, r := range first {
		if _, old := unread[id]; id != "" && (old || r.MemberOf == nil) {
			t.setMember(recalled(id, described[id], named[id]))
		}
	}
	for id, m := range described {
		if first[id] == nil && id != "" {
			t.setMember(recalled(id, m, nil))
		}
	}
	for id, doubtful := range unread {
		t.Members[id].unread, t.Members[id].doubtful = true, doubtful
	}
	for _, m := range t.Members { // as far as the records go
		m.ServerSide, m.Session = true, t.limits().Session
	}
}

// recalled is a member as its first description in a record names it, else as it was
// described.
func recalled(id string, described *Member, named *inspect.MemberMetadata) *Member {
	m := &Member{ID: id}
	switch {
	case named != nil:
		m.ClientID, m.Host, m.InstanceID, m.Rebalance = named.ClientID, named.Host, named.InstanceID, named.Rebalance
		m.Topics, m.TopicRegex = slices.Sorted(slices.Values(named.Topics)), named.Regex
	case described != nil:
		*m = *described
		m.Assigned, m.Epoch = nil, 0
	}
	return m
}

// described are the members of the snapshot.
func (t *Group) described() map[string]*Member {
	out := map[string]*Member{}
	if t.snapshot != nil {
		for i := range t.snapshot.Members {
			m := fromSnapshot(&t.snapshot.Members[i], t.snapshot.Limits)
			out[m.ID] = m
		}
	}
	return out
}

// isEpoch reports a record that holds a group epoch.
func isEpoch(rt inspect.RecordType) bool {
	return rt == inspect.RecConsumerGroupMetadata || rt == inspect.RecShareGroupMetadata || rt == inspect.RecStreamsGroupMetadata
}

// unreadMembers are those whose first record names them as a join does, and is none:
// a changed subscription is written alike. The first current assignment tells, whose
// previous epoch is 0 for a new member alone. Where it was not written with the
// record, an earlier one may be compacted away: then the member is doubtful (true).
func unreadMembers(records []*inspect.Record) map[string]bool {
	out := map[string]bool{}
	named, held := map[string]*inspect.Record{}, map[string]bool{}
	var gone []time.Time
	for _, r := range records {
		switch {
		case r.Member == "":
		case r.Tombstone:
			gone = append(gone, r.Time.Time)
		case r.MemberOf != nil && r.MemberOf.Session == nil && named[r.Member] == nil: // upgraded members have a session
			named[r.Member] = r
		case named[r.Member] == nil:
			held[r.Member] = true // it had an assignment before
		case r.Current != nil:
			first := named[r.Member]
			named[r.Member] = &inspect.Record{}
			// A member that takes over a static place has the epochs of the one before.
			taken := slices.ContainsFunc(gone, func(at time.Time) bool { return at.Equal(first.Time.Time) })
			if first.MemberOf != nil && r.Current.PreviousEpoch > 0 && !taken {
				out[r.Member] = !held[r.Member] && r.Time.Sub(first.Time.Time) > batchGap
			}
		}
	}
	return out
}
