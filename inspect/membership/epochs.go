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
	first  int // record; -1 none
	at     time.Time
	joined []*Member
	left   []*Departure
	subs   []string
	topics string
	doubt  string
}

func (p *pending) open() bool {
	return len(p.joined)+len(p.left)+len(p.subs) > 0 || p.topics != "" || p.doubt != ""
}

// batchGap is the most that two records of one coordinator write lie apart.
const batchGap = 50 * time.Millisecond

// epochRecord takes a record of a consumer, share or streams group.
func (t *Group) epochRecord(i int, r *inspect.Record) {
	if t.pend.open() && r.Time.Sub(t.pend.at) > batchGap {
		t.flush()
	}
	switch r.Type {
	case inspect.RecConsumerMember, inspect.RecShareMember, inspect.RecStreamsMember:
		t.memberRecord(i, r)
	case inspect.RecConsumerGroupMetadata, inspect.RecShareGroupMetadata, inspect.RecStreamsGroupMetadata:
		t.epoch(i, r)
	case inspect.RecConsumerTargetMember, inspect.RecShareTargetMember, inspect.RecStreamsTargetMember:
		t.targetRecord(r)
	case inspect.RecConsumerCurrentAssignment, inspect.RecShareCurrentAssignment, inspect.RecStreamsCurrentAssignment:
		t.currentRecord(i, r)
	case inspect.RecConsumerRegularExpression:
		t.regexRecord(i, r)
	case inspect.RecConsumerPartitionMetadata:
		t.topicsRecord(i, r)
	case inspect.RecShareStatePartitions:
		if !r.Tombstone && r.ShareInit != nil {
			t.note(i, r).topics = "share partitions were initialised"
		}
	}
}

// note opens the pending batch.
func (t *Group) note(i int, r *inspect.Record) *pending {
	if !t.pend.open() {
		t.pend = pending{first: i}
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
	kind := typeOf(r.Type)
	m := &Member{ID: r.Member, ClientID: mm.ClientID, Host: mm.Host, InstanceID: mm.InstanceID, Rebalance: mm.Rebalance,
		Session: mm.Session, Topics: slices.Sorted(slices.Values(mm.Topics)), TopicRegex: mm.Regex, ServerSide: mm.Session == nil, Since: r.Time.Time}
	m.Client = t.guess(family.Evidence{Group: r.Group, Type: kind, MemberID: m.ID, ClientID: m.ClientID, InstanceID: m.InstanceID,
		Assignors: mm.Assignors, Session: m.Session, Rebalance: m.Rebalance})
	if m.Session == nil {
		m.Session = t.limits.Session
	}
	old := t.Members[m.ID]
	if old == nil {
		p := t.note(i, r)
		p.joined = append(p.joined, m)
		t.setMember(m)
		return
	}
	m.Since, m.Epoch, m.State, m.StateAt, m.target, m.Assigned = old.Since, old.Epoch, old.State, old.StateAt, old.target, old.Assigned
	switch {
	case old.doubtful:
		t.note(i, r).doubt = m.Name() + " joined, or changed its subscription: what would tell is compacted away"
	case old.unread:
		p := t.note(i, r)
		p.subs = append(p.subs, m.Name()+" now reads "+reads(m)+"; what it read before was not read")
	case old.ClientID != "" && (!slices.Equal(old.Topics, m.Topics) || old.TopicRegex != m.TopicRegex):
		p := t.note(i, r)
		p.subs = append(p.subs, m.Name()+" now reads "+reads(m)+", before "+reads(old))
	}
	t.setMember(m)
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

// setMember replaces a member without touching the maps that steps keep.
func (t *Group) setMember(m *Member) {
	t.unshare()
	t.Members[m.ID] = m
	t.Seen[m.ID] = m
}

// unshare copies the members where a step has kept them.
func (t *Group) unshare() {
	if t.kept {
		t.Members = maps.Clone(t.Members)
		t.kept = false
	}
}

// leave takes the first tombstone of a member: 8, 7 and 5 are written in one batch.
func (t *Group) leave(i int, r *inspect.Record) {
	m := t.Members[r.Member]
	if m == nil {
		return // the second and third tombstone of one departure
	}
	p := t.note(i, r)
	p.left = append(p.left, &Departure{Member: m, Pos: i, Held: t.holdings(m.ID)})
	t.unshare()
	delete(t.Members, m.ID)
	for k, h := range t.owner {
		if h.member == m.ID {
			delete(t.owner, k)
		}
	}
}

// epoch takes types 3, 11 and 17: a rebalance was triggered.
func (t *Group) epoch(i int, r *inspect.Record) {
	if r.Tombstone {
		t.deleteEpochs(i, r)
		return
	}
	if r.Epoch == nil {
		return
	}
	first := t.genPos < 0
	base := !t.known && r.Epoch.Epoch > 1
	t.known = true
	s := t.epochStep(i, r, first)
	s.Generation, s.Generations = r.Epoch.Epoch, []int32{r.Epoch.Epoch}
	s.Base = base && s.Doubt == "" && len(s.Joined)+len(s.Left)+len(s.Subscriptions) == 0
	switch {
	case t.deleted != nil && r.Time.Sub(t.deleted.At) <= time.Second:
		t.upgrade(s)
	case s.Topics == "" && s.Doubt == "" && len(s.Joined)+len(s.Left)+len(s.Subscriptions) == 0 && t.hashOK && t.hash != r.Epoch.MetadataHash:
		s.Topics = "the hash of the subscribed topics changed: partitions were added, or a topic came or went"
	}
	t.hash, t.hashOK = r.Epoch.MetadataHash, true
	t.gen, t.genPos = r.Epoch.Epoch, i
	t.Type = typeOf(r.Type)
	t.deleted = nil
	t.Steps = append(t.Steps, s)
	t.pend = pending{}
}

// epochStep makes a step of the pending batch and this record.
func (t *Group) epochStep(i int, r *inspect.Record, first bool) *Step {
	s := t.openStep(i, r)
	s.ServerSide = true
	s.Joined, s.Left, s.Subscriptions, s.Topics = t.pend.joined, t.pend.left, t.pend.subs, t.pend.topics
	s.Doubt = t.pend.doubt
	s.After, t.kept = t.Members, true
	s.Before = maps.Clone(t.Members)
	for _, m := range s.Joined {
		delete(s.Before, m.ID)
	}
	for _, d := range s.Left {
		s.Before[d.Member.ID] = d.Member
	}
	if !first {
		prev := t.gen
		s.PreviousGeneration = &prev
	}
	s.Empty = len(s.After) == 0
	pairSwaps(s)
	return s
}

// upgrade turns the deletion of the classic group into one change of protocol.
func (t *Group) upgrade(s *Step) {
	d := t.deleted
	s.Migrated, s.ProtocolFrom, s.ProtocolTo = true, string(inspect.Classic), string(inspect.Consumer)
	s.ID, s.First, s.PreviousGeneration = d.ID, d.First, d.PreviousGeneration
	s.Before = d.Before
	s.Joined, s.Left = nil, nil
	for _, m := range ByID(s.After) {
		if s.Before[m.ID] == nil {
			s.Joined = append(s.Joined, m)
		}
	}
	t.Steps = slices.DeleteFunc(t.Steps, func(o *Step) bool { return o == d })
}

// deleteEpochs takes the tombstone of the group's epoch.
func (t *Group) deleteEpochs(i int, r *inspect.Record) {
	s := t.openStep(i, r)
	s.ServerSide, s.Deleted, s.Empty = true, true, true
	s.Generation, s.Generations = t.gen, []int32{t.gen}
	if t.genPos >= 0 {
		prev := t.gen
		s.PreviousGeneration = &prev
	}
	for _, d := range t.pend.left {
		s.Before = map[string]*Member{d.Member.ID: d.Member}
	}
	t.pend = pending{}
	t.Steps = append(t.Steps, s)
	t.genPos, t.hashOK = -1, false
	t.owner = map[TopicPartition]holding{}
}

// flush closes a batch that no new epoch followed: a static member's place was
// taken (KIP-848 writes the new id and the old tombstones, and no epoch).
func (t *Group) flush() {
	p := t.pend
	t.pend = pending{}
	if len(p.joined) == 0 || len(p.left) == 0 {
		return
	}
	r := t.Records[p.first]
	var swaps []Replacement
	for _, m := range p.joined {
		for _, d := range p.left {
			if m.Static() && m.Instance() == d.Member.Instance() {
				swaps = append(swaps, Replacement{Old: d.Member, New: m, Held: d.Held})
			}
		}
	}
	if len(swaps) == 0 {
		return
	}
	s := &Step{Pos: p.first, First: p.first, At: r.Time.Time, EndAt: r.Time.Time, ServerSide: true, ID: r.ID(),
		Generation: t.gen, Generations: []int32{t.gen}, Before: maps.Clone(t.Members), After: t.Members, Replaced: swaps, Assigned: len(t.owner)}
	t.kept = true
	for _, sw := range swaps {
		delete(s.Before, sw.New.ID)
		s.Before[sw.Old.ID] = sw.Old
		for k, from := range sw.Held {
			if _, ok := t.owner[k]; !ok {
				t.owner[k] = holding{sw.New.ID, from}
			}
		}
	}
	if t.genPos >= 0 {
		prev := t.gen
		s.PreviousGeneration = &prev
	}
	t.Steps = append(t.Steps, s)
}

// targetRecord takes types 7, 13 and 21.
func (t *Group) targetRecord(r *inspect.Record) {
	m := t.Members[r.Member]
	if m == nil || r.Tombstone || r.TargetFor == nil {
		return
	}
	next := *m
	next.target = t.expand(r.TargetFor.Active)
	t.setMember(&next)
}

// currentRecord takes types 8, 14 and 22.
func (t *Group) currentRecord(i int, r *inspect.Record) {
	if r.Tombstone {
		t.leave(i, r)
		return
	}
	m := t.Members[r.Member]
	if m == nil || r.Current == nil {
		return
	}
	next := *m
	if r.Current.Epoch == inspect.StaticLeaveEpoch {
		next.StaticLeft, next.StaticLeftPos = r.Time.Time, i
		t.setMember(&next)
		return
	}
	if next.State != r.Current.State || next.Epoch != r.Current.Epoch {
		next.StateAt = r.Time.Time
	}
	next.Epoch, next.State, next.StaticLeft = r.Current.Epoch, r.Current.State, time.Time{}
	next.Assigned = append(t.expand(r.Current.Assigned.Active), t.expand(r.Current.Revoking.Active)...)
	t.setMember(&next)
	t.own(&next, i)
	t.converge(r)
}

// own updates who owns what after a member's current assignment changed.
func (t *Group) own(m *Member, i int) {
	has := map[TopicPartition]bool{}
	for _, k := range m.Assigned {
		has[k] = true
		if h, ok := t.owner[k]; !ok || h.member != m.ID {
			t.owner[k] = holding{m.ID, i}
			if n := len(t.Steps); n > 0 && t.Steps[n-1].ServerSide && ok {
				t.Steps[n-1].Moved++
			} else if n > 0 && t.Steps[n-1].ServerSide && len(t.Steps[n-1].Before) > 0 {
				t.Steps[n-1].Moved++
			}
		}
	}
	for k, h := range t.owner {
		if h.member == m.ID && !has[k] {
			delete(t.owner, k)
		}
	}
	if n := len(t.Steps); n > 0 && t.Steps[n-1].ServerSide {
		t.Steps[n-1].Assigned = max(t.Steps[n-1].Assigned, len(t.owner))
	}
}

// converge notes when every live member has reached the newest epoch.
func (t *Group) converge(r *inspect.Record) {
	if len(t.Steps) == 0 || t.pend.open() {
		return
	}
	s := t.Steps[len(t.Steps)-1]
	if !s.ServerSide || s.Deleted || !s.Converged.IsZero() || len(s.Replaced) > 0 {
		return
	}
	for _, m := range t.Members {
		if m.Epoch < t.gen || m.State != inspect.MemberStable {
			return
		}
	}
	s.Converged = r.Time.Time
	if m := t.Members[r.Member]; m != nil {
		s.ConvergedLast = m.Name()
	}
}

// finishConvergence: a group without members has nothing to converge.
func (t *Group) finishConvergence() {
	for _, s := range t.Steps {
		if s.ServerSide && s.Empty && s.Converged.IsZero() {
			s.Converged = s.At
		}
	}
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
