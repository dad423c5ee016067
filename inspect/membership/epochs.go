package membership

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
)

// pending collects what the records before a new epoch say of its reason: the
// coordinator writes them in one batch.
type pending struct {
	first    int // position of its first record
	rec      *inspect.Record
	at       time.Time // of its newest record
	joined   []*Member
	left     []*Departure
	edits    []Edit
	patterns []Pattern
	subs     []string
	topics   string
	doubt    string
}

func (p *pending) open() bool { return p.rec != nil }

// batchGap is the most that two records of one coordinator write lie apart.
const batchGap = 50 * time.Millisecond

// Waiting reports whether something was read that may belong to an epoch which the
// next record holds. The coordinator writes both at once: where none comes, Flush.
func (t *Group) Waiting() bool { return t.pend.open() }

// epochRecord takes a record of a consumer, share or streams group.
func (t *Group) epochRecord(i int, r *inspect.Record) []Change {
	switch r.Type {
	case inspect.RecConsumerMember, inspect.RecShareMember, inspect.RecStreamsMember:
		t.memberRecord(i, r)
	case inspect.RecConsumerGroupMetadata, inspect.RecShareGroupMetadata, inspect.RecStreamsGroupMetadata:
		return t.epoch(i, r)
	case inspect.RecConsumerCurrentAssignment, inspect.RecShareCurrentAssignment, inspect.RecStreamsCurrentAssignment:
		return t.currentRecord(i, r)
	case inspect.RecConsumerTargetMember, inspect.RecShareTargetMember, inspect.RecStreamsTargetMember:
	case inspect.RecShareTargetMetadata:
		t.unassigned = false
	case inspect.RecConsumerRegularExpression:
		t.regexRecord(i, r)
	case inspect.RecConsumerPartitionMetadata:
		t.topicsRecord(i, r)
	case inspect.RecShareStatePartitions:
		if !r.Tombstone && r.ShareInit != nil {
			t.initialised = t.initialised || len(r.ShareInit.Initialized) > 0
		}
	}
	return nil
}

// note opens the pending batch.
func (t *Group) note(i int, r *inspect.Record) *pending {
	if !t.pend.open() {
		t.pend = pending{first: i, rec: r}
	}
	t.pend.at = r.Time.Time
	return &t.pend
}

// typeOf is the group type that a record belongs to.
func typeOf(rt inspect.RecordType) inspect.GroupType {
	switch {
	case rt >= inspect.RecShareMember && rt <= inspect.RecShareStatePartitions:
		return inspect.Share
	case rt >= inspect.RecStreamsGroupMetadata:
		return inspect.Streams
	}
	return inspect.Consumer
}

// limits are the group's own timeouts, as it was described.
func (t *Group) limits() inspect.Limits {
	if t.snapshot == nil {
		return inspect.Limits{}
	}
	return t.snapshot.Limits
}

// memberRecord takes types 5, 10 and 19: a join, a changed subscription, or the end.
func (t *Group) memberRecord(i int, r *inspect.Record) {
	if r.Tombstone {
		t.leave(i, r)
		return
	}
	if r.MemberOf == nil {
		return
	}
	mm := r.MemberOf
	m := &Member{ID: r.Member, ClientID: mm.ClientID, Host: mm.Host, InstanceID: mm.InstanceID, Rebalance: mm.Rebalance, Session: mm.Session,
		Topics: slices.Sorted(slices.Values(mm.Topics)), TopicRegex: mm.Regex, Assignor: text(mm.Assignor), ServerSide: mm.Session == nil, Since: r.Time.Time}
	m.Client = t.guess(family.Evidence{Group: r.Group, Type: typeOf(r.Type), MemberID: m.ID, ClientID: m.ClientID, InstanceID: m.InstanceID,
		Assignors: mm.Assignors, Session: m.Session, Rebalance: m.Rebalance})
	if m.Session == nil {
		m.Session = t.limits().Session
	}
	old := t.Members[m.ID]
	if old == nil {
		p := t.note(i, r)
		p.joined = append(p.joined, m)
		t.setMember(m)
		return
	}
	m.Since, m.Epoch, m.State, m.StateAt, m.Assigned = old.Since, old.Epoch, old.State, old.StateAt, old.Assigned
	t.noteEdit(i, r, old, m)
	t.setMember(m)
}

// noteEdit notes that a member is not what it was, or may not be.
func (t *Group) noteEdit(i int, r *inspect.Record, old, m *Member) {
	switch {
	case old.doubtful:
		t.note(i, r).doubt = m.Name() + " joined, or changed its subscription: the records that would show which are compacted away"
		return
	case old.unread:
		p := t.note(i, r)
		p.subs = append(p.subs, m.Name()+" now reads "+reads(m)+"; what it read before was not read")
		return
	case old.ClientID == "" || !edited(old, m):
		return
	}
	p := t.note(i, r)
	p.edits = append(p.edits, Edit{old, m})
	if !slices.Equal(old.Topics, m.Topics) || old.TopicRegex != m.TopicRegex {
		p.subs = append(p.subs, m.Name()+" now reads "+reads(m)+", before "+reads(old))
	}
}

func reads(m *Member) string {
	if m.TopicRegex != "" {
		return strings.Join(append(slices.Clone(m.Topics), "pattern "+m.TopicRegex), ", ")
	}
	if len(m.Topics) == 0 {
		return "nothing"
	}
	return strings.Join(m.Topics, ", ")
}

// leave takes the first tombstone of a member: 8, 7 and 5 are written in one batch.
func (t *Group) leave(i int, r *inspect.Record) {
	m := t.Members[r.Member]
	if m == nil {
		return // the second and third tombstone of one departure
	}
	at := r.Time.Time
	if !m.StaticLeft.IsZero() {
		at = m.StaticLeft
	}
	p := t.note(i, r)
	p.left = append(p.left, &Departure{Member: m, Pos: i, Held: t.holdings(m.ID), Between: [2]time.Time{at, at}})
	t.unshare()
	delete(t.Members, m.ID)
	for k, h := range t.owner {
		if h.member == m.ID {
			delete(t.owner, k)
		}
	}
}

// epoch takes types 3, 11 and 17: a rebalance was triggered.
func (t *Group) epoch(i int, r *inspect.Record) []Change {
	switch {
	case r.Tombstone:
		return t.deleteEpochs(i, r)
	case r.Epoch == nil:
		return nil
	case t.has && t.Type != inspect.Classic && r.Epoch.Epoch <= t.gen: // the snapshot knew it
		t.Type, t.pend = typeOf(r.Type), pending{}
		return nil
	}
	s := t.epochStep(i, r)
	c := Change{Kind: Rebalanced, ID: s.ID, At: s.At, Step: s, Edits: t.pend.edits, Patterns: t.pend.patterns}
	alone := s.Doubt == "" && len(s.Joined)+len(s.Left)+len(s.Subscriptions) == 0
	s.Base = s.Base && r.Epoch.Epoch > 1 && alone
	switch {
	case t.deleted != nil && r.Time.Sub(t.deleted.At) <= time.Second:
		c.Instead = t.upgrade(s)
		c.Edits = edits(s.Before, s.After)
	case s.Topics == "" && alone && t.hashOK && t.hash != r.Epoch.MetadataHash:
		s.Topics = "the hash of the subscribed topics changed: partitions were added, or a topic came or went"
	case alone && typeOf(r.Type) == inspect.Share && t.initialised:
		s.Topics = "share partitions were initialised"
	case alone && t.assigns(r):
		c = Change{Kind: Continued, ID: r.ID(), At: r.Time.Time, Step: t.last}
		s = t.last
		s.Generation, s.Generations, s.Pos, s.EndAt = r.Epoch.Epoch, append(s.Generations, r.Epoch.Epoch), i, r.Time.Time
	}
	if s.Empty { // nothing has to converge
		s.Converged = s.At
	} else {
		t.converging = s
	}
	t.hash, t.hashOK = r.Epoch.MetadataHash, true
	t.gen, t.has, t.genPos, t.genOf, t.known = r.Epoch.Epoch, true, i, r, true
	t.Type, t.changed, t.deleted, t.pend, t.last = typeOf(r.Type), r.Time.Time, nil, pending{}, s
	t.unassigned, t.initialised = t.Type == inspect.Share && !s.Empty, false
	if c.Kind == Continued {
		c.Before, c.After = s.After, t.Members
		return []Change{c}
	}
	c.ID, c.Before, c.After = s.ID, s.Before, s.After
	return []Change{c}
}

// assigns reports whether an epoch of a share group does no more than assign what the
// one before it left to no one: when a member goes, the coordinator writes an epoch and
// no target, and the next heartbeat of whoever stays begins another epoch with the target
// (GroupMetadataManager.shareGroupHeartbeat, initializedAssignmentPending).
func (t *Group) assigns(r *inspect.Record) bool {
	return t.unassigned && t.last != nil && t.last.ServerSide && len(t.last.Left) > 0 && t.gen == t.last.Generation && r.Epoch.Epoch == t.gen+1
}

// epochStep makes a step of the pending batch and this record.
func (t *Group) epochStep(i int, r *inspect.Record) *Step {
	s := t.openStep(i, r)
	s.ServerSide = true
	s.Generation, s.Generations = r.Epoch.Epoch, []int32{r.Epoch.Epoch}
	s.Joined, s.Left, s.Subscriptions, s.Topics, s.Doubt = t.pend.joined, t.pend.left, t.pend.subs, t.pend.topics, t.pend.doubt
	s.After, s.Before = t.Members, t.beforePending()
	s.Empty = len(s.After) == 0
	pairSwaps(s)
	return s
}

// beforePending are the members as they were before the pending batch.
func (t *Group) beforePending() map[string]*Member {
	before := maps.Clone(t.Members)
	for _, m := range t.pend.joined {
		delete(before, m.ID)
	}
	for _, d := range t.pend.left {
		before[d.Member.ID] = d.Member
	}
	return before
}

// upgrade makes the step the change of protocol that the deletion of the classic group
// began with; that is returned.
func (t *Group) upgrade(s *Step) *Step {
	s.Migrated, s.ProtocolFrom, s.ProtocolTo = true, string(inspect.Classic), string(inspect.Consumer)
	d := t.deleted
	s.ID, s.First, s.PreviousGeneration, s.Before = d.ID, d.First, d.PreviousGeneration, d.Before
	s.Joined, s.Left = nil, nil
	for _, m := range ByID(s.After) {
		if s.Before[m.ID] == nil {
			s.Joined = append(s.Joined, m)
		}
	}
	return d
}

// deleteEpochs takes the tombstone of the group's epoch.
func (t *Group) deleteEpochs(i int, r *inspect.Record) []Change {
	s := t.openStep(i, r)
	s.ServerSide, s.Deleted, s.Empty, s.Converged = true, true, true, r.Time.Time
	s.Before = t.beforePending()
	t.pend, t.has, t.genPos, t.genOf, t.hashOK, t.converging = pending{}, false, -1, nil, false, nil
	t.owner = map[TopicPartition]holding{}
	return t.add(Deleted, s)
}

// Flush closes a batch that no new epoch followed: a static member's place was taken
// (KIP-848 writes the new id and the old tombstones, and no epoch), or settings changed.
func (t *Group) Flush() []Change {
	p := t.pend
	if !p.open() {
		return nil
	}
	before := t.beforePending()
	t.pend = pending{}
	at, id := p.rec.Time.Time, p.rec.ID()
	var swaps []Replacement
	for _, m := range p.joined {
		for _, d := range p.left {
			if m.Static() && m.Instance() == d.Member.Instance() {
				swaps = append(swaps, Replacement{Old: d.Member, New: m, Held: d.Held})
			}
		}
	}
	if len(swaps) == 0 {
		return []Change{{Kind: Edited, ID: id, At: at, Joined: p.joined, Left: p.left, Edits: p.edits, Patterns: p.patterns, Before: before, After: t.Members}}
	}
	s := t.openStep(p.first, p.rec)
	s.ServerSide, s.Base, s.Before = true, false, before
	return t.add(Swapped, t.swapStep(s, t.Members, swaps))
}

// currentRecord takes types 8, 14 and 22.
func (t *Group) currentRecord(i int, r *inspect.Record) []Change {
	if r.Tombstone {
		t.leave(i, r)
		return nil
	}
	m := t.Members[r.Member]
	if m == nil || r.Current == nil {
		return nil
	}
	next := *m
	if r.Current.Epoch == inspect.StaticLeaveEpoch {
		next.StaticLeft, next.StaticLeftPos = r.Time.Time, i
		t.setMember(&next)
		out := t.converge(r.ID(), r.Time.Time, nil)
		if m.StaticLeft.IsZero() {
			out = append([]Change{{Kind: Away, ID: r.ID(), At: r.Time.Time, Who: &next, Before: t.Members, After: t.Members}}, out...)
		}
		return out
	}
	if next.State != r.Current.State || next.Epoch != r.Current.Epoch {
		next.StateAt = r.Time.Time
	}
	next.Epoch, next.State, next.StaticLeft = r.Current.Epoch, r.Current.State, time.Time{}
	next.Assigned = append(t.expand(r.Current.Assigned.Active), t.expand(r.Current.Revoking.Active)...)
	t.setMember(&next)
	t.own(&next, i)
	return t.converge(r.ID(), r.Time.Time, &next)
}

// own updates who owns what after a member's current assignment changed.
func (t *Group) own(m *Member, i int) {
	var s Step // where there is no step to count them, nobody asks
	last := &s
	if t.last != nil && t.last.ServerSide {
		last = t.last
	}
	has := map[TopicPartition]bool{}
	for _, k := range m.Assigned {
		has[k] = true
		h, ok := t.owner[k]
		if ok && h.member == m.ID {
			continue
		}
		t.owner[k] = holding{m.ID, i}
		if ok || len(last.Before) > 0 {
			last.Moved++
		}
	}
	for k, h := range t.owner {
		if h.member == m.ID && !has[k] {
			delete(t.owner, k)
		}
	}
	last.Assigned = max(last.Assigned, len(t.owner))
}

// converge notes when every member has reached the newest epoch. A static member that
// is away has until its session ends to come back: nobody waits for it.
func (t *Group) converge(id string, at time.Time, last *Member) []Change {
	s := t.converging
	if s == nil || t.pend.open() {
		return nil
	}
	for _, m := range t.Members {
		if m.StaticLeft.IsZero() && (m.Epoch < t.gen || m.State != inspect.MemberStable) {
			return nil
		}
	}
	return t.converged(id, at, last)
}

// converged ends the convergence under way.
func (t *Group) converged(id string, at time.Time, last *Member) []Change {
	s := t.converging
	t.converging = nil
	s.Converged = at
	if last != nil {
		s.ConvergedLast = last.Name()
	}
	return []Change{{Kind: Converged, ID: id, At: at, Step: s, Who: last, Before: t.Members, After: t.Members}}
}

// regexRecord takes type 16: what a pattern matches.
func (t *Group) regexRecord(i int, r *inspect.Record) {
	if r.Tombstone || r.Matched == nil {
		delete(t.regex, r.Regex)
		return
	}
	topics := slices.Sorted(slices.Values(r.Matched.Topics))
	old, had := t.regex[r.Regex]
	t.regex[r.Regex] = topics
	if !had || slices.Equal(old, topics) {
		return
	}
	p := t.note(i, r)
	p.topics = "pattern " + r.Regex + " " + changed(old, topics)
	p.patterns = append(p.patterns, Pattern{r.Regex, old, topics})
}

// topicsRecord takes type 4, which brokers up to 4.0 write.
func (t *Group) topicsRecord(i int, r *inspect.Record) {
	if r.Tombstone || r.Topics == nil {
		return
	}
	next := map[string]int32{}
	var news []string
	for _, topic := range r.Topics {
		next[topic.Topic] = topic.Partitions
		if was, ok := t.partsOf[topic.Topic]; ok && was != topic.Partitions {
			news = append(news, topic.Topic+" went from "+strconv.Itoa(int(was))+" to "+strconv.Itoa(int(topic.Partitions))+" partitions")
		}
	}
	t.partsOf = next
	if len(news) > 0 {
		t.note(i, r).topics = strings.Join(news, ", ")
	}
}

// changed says how a sorted list of topics became another.
func changed(old, now []string) string {
	var parts []string
	for _, s := range now {
		if !slices.Contains(old, s) {
			parts = append(parts, "began to match "+s)
		}
	}
	for _, s := range old {
		if !slices.Contains(now, s) {
			parts = append(parts, "no longer matches "+s)
		}
	}
	return strings.Join(parts, ", ")
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
