package membership

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// learnTopics collects the names of topic ids and the source topics of
// subtopologies, which assignments hold instead of names.
func (t *Group) learnTopics() {
	var ids []string
	var subs = map[string]bool{}
	for _, r := range t.Records {
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
		case r.Current != nil && r.Type == inspect.RecConsumerCurrentAssignment:
			for _, a := range r.Current.Assigned.Active {
				if !slices.Contains(ids, a.TopicID) {
					ids = append(ids, a.TopicID)
				}
			}
		case r.MemberOf != nil:
			for _, s := range r.MemberOf.Topics {
				subs[s] = true
			}
		}
	}
	// One topic id without a name and one topic without an id belong together.
	var unnamed []string
	for _, id := range ids {
		if name, ok := t.names[id]; ok {
			delete(subs, name)
		} else {
			unnamed = append(unnamed, id)
		}
	}
	if len(unnamed) == 1 && len(subs) == 1 {
		for name := range subs {
			t.names[unnamed[0]] = name
		}
	}
}

// learnMembers finds the members of a KIP-848, share or streams group that were
// there before the first record that was read: their first record is no join.
func (t *Group) learnMembers() {
	first := map[string]bool{}
	old := []string{}
	epochs := false
	for _, r := range t.Records {
		if r.Type == inspect.RecConsumerGroupMetadata || r.Type == inspect.RecShareGroupMetadata || r.Type == inspect.RecStreamsGroupMetadata {
			epochs = true
		}
		if r.Member == "" || first[r.Member] {
			continue
		}
		first[r.Member] = true
		if r.MemberOf == nil {
			old = append(old, r.Member)
		}
	}
	unread := t.unreadMembers()
	for id := range unread {
		old = append(old, id)
	}
	if t.in.Snapshot != nil && epochs {
		for _, m := range t.in.Snapshot.Members {
			if !first[m.MemberID] && m.MemberID != "" && t.in.Snapshot.Type != inspect.Classic {
				old = append(old, m.MemberID)
			}
		}
	}
	for _, id := range old {
		m := t.fromSnapshot(id)
		_, m.unread = unread[id]
		m.doubtful = unread[id]
		t.Members[id], t.Seen[id] = m, m
	}
}

// unreadMembers are those whose first record names them as a join does, and is none:
// a changed subscription is written alike. The first current assignment tells, whose
// previous epoch is 0 for a new member alone. Where it was not written with the
// record, an earlier one may be compacted away: then the member is doubtful (true).
func (t *Group) unreadMembers() map[string]bool {
	out := map[string]bool{}
	named, held := map[string]*inspect.Record{}, map[string]bool{}
	var gone []time.Time
	for _, r := range t.Records {
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

// expand turns the partitions of an assignment by topic id, or the tasks of a
// subtopology, into topic partitions.
func (t *Group) expand(in []inspect.TopicIDPartitions) []TopicPartition {
	var out []TopicPartition
	for _, a := range in {
		topics := t.tasks[a.TopicID]
		if topics == nil {
			name := a.TopicID
			if n, ok := t.names[a.TopicID]; ok {
				name = n
			}
			topics = []string{name}
		}
		for _, topic := range topics {
			for _, p := range a.Partitions {
				out = append(out, TopicPartition{topic, p})
			}
		}
	}
	return out
}

// fromSnapshot is a member that was there before the first record that was read.
// Who it is may be told by a later record of the same id, or by the snapshot.
func (t *Group) fromSnapshot(id string) *Member {
	m := &Member{ID: id, ServerSide: true, Session: t.limits.Session}
	for _, r := range t.Records {
		if r.Member == id && r.MemberOf != nil {
			m.ClientID, m.Host, m.InstanceID, m.Rebalance = r.MemberOf.ClientID, r.MemberOf.Host, r.MemberOf.InstanceID, r.MemberOf.Rebalance
			m.Topics, m.TopicRegex = slices.Sorted(slices.Values(r.MemberOf.Topics)), r.MemberOf.Regex
			return m
		}
	}
	if t.in.Snapshot == nil {
		return m
	}
	for i := range t.in.Snapshot.Members {
		if s := &t.in.Snapshot.Members[i]; s.MemberID == id {
			m.ClientID, m.Host, m.InstanceID, m.Rebalance, m.Client = s.ClientID, s.Host, s.InstanceID, s.Rebalance, s.Client
			m.Topics, m.TopicRegex = slices.Sorted(slices.Values(s.Topics)), s.TopicRegex
		}
	}
	return m
}
