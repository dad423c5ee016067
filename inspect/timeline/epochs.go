package timeline

import (
	"maps"
	"slices"
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
	joined []*member
	left   []*departure
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
func (t *track) epochRecord(i int, r *inspect.Record) {
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
func (t *track) note(i int, r *inspect.Record) *pending {
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
func (t *track) memberRecord(i int, r *inspect.Record) {
	if r.Tombstone {
		t.leave(i, r)
		return
	}
	if r.MemberOf == nil {
		return
	}
	mm := r.MemberOf
	kind := typeOf(r.Type)
	m := &member{id: r.Member, clientID: mm.ClientID, host: mm.Host, instance: mm.InstanceID, rebalance: mm.Rebalance,
		session: mm.Session, topics: slices.Sorted(slices.Values(mm.Topics)), regex: mm.Regex, server: mm.Session == nil, since: r.Time.Time}
	m.guess = t.guess(family.Evidence{Group: r.Group, Type: kind, MemberID: m.id, ClientID: m.clientID, InstanceID: m.instance,
		Assignors: mm.Assignors, Session: m.session, Rebalance: m.rebalance})
	if m.session == nil {
		m.session = t.limits.Session
	}
	old := t.members[m.id]
	if old == nil {
		p := t.note(i, r)
		p.joined = append(p.joined, m)
		t.setMember(m)
		return
	}
	m.since, m.epoch, m.state, m.stateAt, m.target, m.assigned = old.since, old.epoch, old.state, old.stateAt, old.target, old.assigned
	switch {
	case old.doubtful:
		t.note(i, r).doubt = m.lane() + " joined, or changed its subscription: what would tell is compacted away"
	case old.unread:
		p := t.note(i, r)
		p.subs = append(p.subs, m.lane()+" now reads "+reads(m)+"; what it read before was not read")
	case old.clientID != "" && (!slices.Equal(old.topics, m.topics) || old.regex != m.regex):
		p := t.note(i, r)
		p.subs = append(p.subs, m.lane()+" now reads "+reads(m)+", before "+reads(old))
	}
	t.setMember(m)
}

func reads(m *member) string {
	if m.regex != "" {
		return strings.Join(append(slices.Clone(m.topics), "pattern "+m.regex), ", ")
	}
	if len(m.topics) == 0 {
		return "nothing"
	}
	return strings.Join(m.topics, ", ")
}

// setMember replaces a member without touching the maps that steps keep.
func (t *track) setMember(m *member) {
	t.unshare()
	t.members[m.id] = m
	t.seen[m.id] = m
}

// unshare copies the members where a step has kept them.
func (t *track) unshare() {
	if t.kept {
		t.members = maps.Clone(t.members)
		t.kept = false
	}
}

// leave takes the first tombstone of a member: 8, 7 and 5 are written in one batch.
func (t *track) leave(i int, r *inspect.Record) {
	m := t.members[r.Member]
	if m == nil {
		return // the second and third tombstone of one departure
	}
	p := t.note(i, r)
	p.left = append(p.left, &departure{m: m, pos: i, held: t.holdings(m.id)})
	t.unshare()
	delete(t.members, m.id)
	for k, h := range t.owner {
		if h.member == m.id {
			delete(t.owner, k)
		}
	}
}

// epoch takes types 3, 11 and 17: a rebalance was triggered.
func (t *track) epoch(i int, r *inspect.Record) {
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
	s.gen, s.gens = r.Epoch.Epoch, []int32{r.Epoch.Epoch}
	s.base = base && s.doubt == "" && len(s.joined)+len(s.left)+len(s.subs) == 0
	switch {
	case t.deleted != nil && r.Time.Sub(t.deleted.at) <= time.Second:
		t.upgrade(s)
	case s.topicNews == "" && s.doubt == "" && len(s.joined)+len(s.left)+len(s.subs) == 0 && t.hashOK && t.hash != r.Epoch.MetadataHash:
		s.topicNews = "the hash of the subscribed topics changed: partitions were added, or a topic came or went"
	}
	t.hash, t.hashOK = r.Epoch.MetadataHash, true
	t.gen, t.genPos = r.Epoch.Epoch, i
	t.kind = typeOf(r.Type)
	t.deleted = nil
	t.steps = append(t.steps, s)
	t.pend = pending{}
}

// epochStep makes a step of the pending batch and this record.
func (t *track) epochStep(i int, r *inspect.Record, first bool) *step {
	s := t.openStep(i, r)
	s.server = true
	s.joined, s.left, s.subs, s.topicNews = t.pend.joined, t.pend.left, t.pend.subs, t.pend.topics
	s.doubt = t.pend.doubt
	s.after, t.kept = t.members, true
	s.before = maps.Clone(t.members)
	for _, m := range s.joined {
		delete(s.before, m.id)
	}
	for _, d := range s.left {
		d.step = s
		s.before[d.m.id] = d.m
	}
	if !first {
		prev := t.gen
		s.prevGen = &prev
	}
	s.empty = len(s.after) == 0
	pairSwaps(s)
	return s
}

// upgrade turns the deletion of the classic group into one change of protocol.
func (t *track) upgrade(s *step) {
	d := t.deleted
	s.upgraded, s.protoFrom, s.protoTo = true, string(inspect.Classic), string(inspect.Consumer)
	s.id, s.first, s.prevGen = d.id, d.first, d.prevGen
	s.before = d.before
	s.joined, s.left = nil, nil
	for _, m := range byID(s.after) {
		if s.before[m.id] == nil {
			s.joined = append(s.joined, m)
		}
	}
	t.steps = slices.DeleteFunc(t.steps, func(o *step) bool { return o == d })
}

// deleteEpochs takes the tombstone of the group's epoch.
func (t *track) deleteEpochs(i int, r *inspect.Record) {
	s := t.openStep(i, r)
	s.server, s.deleted, s.empty = true, true, true
	s.gen, s.gens = t.gen, []int32{t.gen}
	if t.genPos >= 0 {
		prev := t.gen
		s.prevGen = &prev
	}
	for _, d := range t.pend.left {
		s.before = map[string]*member{d.m.id: d.m}
	}
	t.pend = pending{}
	t.steps = append(t.steps, s)
	t.genPos, t.hashOK = -1, false
	t.owner = map[tp]holding{}
}

// flush closes a batch that no new epoch followed: a static member's place was
// taken (KIP-848 writes the new id and the old tombstones, and no epoch).
func (t *track) flush() {
	p := t.pend
	t.pend = pending{}
	if len(p.joined) == 0 || len(p.left) == 0 {
		return
	}
	r := t.recs[p.first]
	var swaps []replacement
	for _, m := range p.joined {
		for _, d := range p.left {
			if m.static() && value(m.instance) == value(d.m.instance) {
				swaps = append(swaps, replacement{old: d.m, new: m, held: d.held})
			}
		}
	}
	if len(swaps) == 0 {
		return
	}
	s := &step{pos: p.first, first: p.first, at: r.Time.Time, endAt: r.Time.Time, server: true, id: recordID(r),
		gen: t.gen, gens: []int32{t.gen}, before: maps.Clone(t.members), after: t.members, replaced: swaps, total: len(t.owner)}
	t.kept = true
	for _, sw := range swaps {
		delete(s.before, sw.new.id)
		s.before[sw.old.id] = sw.old
		for k, from := range sw.held {
			if _, ok := t.owner[k]; !ok {
				t.owner[k] = holding{sw.new.id, from}
			}
		}
	}
	if t.genPos >= 0 {
		prev := t.gen
		s.prevGen = &prev
	}
	t.steps = append(t.steps, s)
}

// targetRecord takes types 7, 13 and 21.
func (t *track) targetRecord(r *inspect.Record) {
	m := t.members[r.Member]
	if m == nil || r.Tombstone || r.TargetFor == nil {
		return
	}
	next := *m
	next.target = t.expand(r.TargetFor.Active)
	t.setMember(&next)
}

// currentRecord takes types 8, 14 and 22.
func (t *track) currentRecord(i int, r *inspect.Record) {
	if r.Tombstone {
		t.leave(i, r)
		return
	}
	m := t.members[r.Member]
	if m == nil || r.Current == nil {
		return
	}
	next := *m
	if r.Current.Epoch == inspect.StaticLeaveEpoch {
		next.staticLeft, next.leftPos = r.Time.Time, i
		t.setMember(&next)
		return
	}
	if next.state != r.Current.State || next.epoch != r.Current.Epoch {
		next.stateAt = r.Time.Time
	}
	next.epoch, next.state, next.staticLeft = r.Current.Epoch, r.Current.State, time.Time{}
	next.assigned = append(t.expand(r.Current.Assigned.Active), t.expand(r.Current.Revoking.Active)...)
	t.setMember(&next)
	t.own(&next, i)
	t.converge(r)
}

// fromSnapshot is a member that was there before the first record that was read.
// Who it is may be told by a later record of the same id, or by the snapshot.
func (t *track) fromSnapshot(id string) *member {
	m := &member{id: id, server: true, session: t.limits.Session}
	for _, r := range t.recs {
		if r.Member == id && r.MemberOf != nil {
			m.clientID, m.host, m.instance, m.rebalance = r.MemberOf.ClientID, r.MemberOf.Host, r.MemberOf.InstanceID, r.MemberOf.Rebalance
			m.topics, m.regex = slices.Sorted(slices.Values(r.MemberOf.Topics)), r.MemberOf.Regex
			return m
		}
	}
	if t.in.Snapshot == nil {
		return m
	}
	for i := range t.in.Snapshot.Members {
		if s := &t.in.Snapshot.Members[i]; s.MemberID == id {
			m.clientID, m.host, m.instance, m.rebalance, m.guess = s.ClientID, s.Host, s.InstanceID, s.Rebalance, s.Client
			m.topics, m.regex = slices.Sorted(slices.Values(s.Topics)), s.TopicRegex
		}
	}
	return m
}

// own updates who owns what after a member's current assignment changed.
func (t *track) own(m *member, i int) {
	has := map[tp]bool{}
	for _, k := range m.assigned {
		has[k] = true
		if h, ok := t.owner[k]; !ok || h.member != m.id {
			t.owner[k] = holding{m.id, i}
			if n := len(t.steps); n > 0 && t.steps[n-1].server && ok {
				t.steps[n-1].moved++
			} else if n > 0 && t.steps[n-1].server && len(t.steps[n-1].before) > 0 {
				t.steps[n-1].moved++
			}
		}
	}
	for k, h := range t.owner {
		if h.member == m.id && !has[k] {
			delete(t.owner, k)
		}
	}
	if n := len(t.steps); n > 0 && t.steps[n-1].server {
		t.steps[n-1].total = max(t.steps[n-1].total, len(t.owner))
	}
}

// converge notes when every live member has reached the newest epoch.
func (t *track) converge(r *inspect.Record) {
	if len(t.steps) == 0 || t.pend.open() {
		return
	}
	s := t.steps[len(t.steps)-1]
	if !s.server || s.deleted || !s.converged.IsZero() || len(s.replaced) > 0 {
		return
	}
	for _, m := range t.members {
		if m.epoch < t.gen || m.state != inspect.MemberStable {
			return
		}
	}
	s.converged = r.Time.Time
	if m := t.members[r.Member]; m != nil {
		s.lastConverged = m.lane()
	}
}

// finishConvergence: a group without members has nothing to converge.
func (t *track) finishConvergence() {
	for _, s := range t.steps {
		if s.server && s.empty && s.converged.IsZero() {
			s.converged = s.at
		}
	}
}

// regexRecord takes type 16: what a pattern matches.
func (t *track) regexRecord(i int, r *inspect.Record) {
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
func (t *track) topicsRecord(i int, r *inspect.Record) {
	if r.Tombstone || r.Topics == nil {
		return
	}
	next := map[string]int32{}
	var news []string
	for _, topic := range r.Topics {
		next[topic.Topic] = topic.Partitions
		if was, ok := t.partsOf[topic.Topic]; ok && was != topic.Partitions {
			news = append(news, topic.Topic+" went from "+itoa(was)+" to "+itoa(topic.Partitions)+" partitions")
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
