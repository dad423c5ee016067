package membership

import (
	"maps"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
)

// Group is the membership of one group, as far as it was read. It takes records, or
// polls where no records can be had, one after the other, and gives what each
// changes. Not safe for concurrent use.
type Group struct {
	Type     inspect.GroupType
	Members  map[string]*Member // now, by member id
	Leader   string             // member id of a classic group's leader; "" unknown
	Assignor string             // selected assignor of a classic group; "" unknown
	// ByPolls says that no records come, so that polls alone tell the membership.
	ByPolls bool

	opts     Options
	snapshot *inspect.Group
	pos      int  // of the next record
	kept     bool // a step holds the map Members
	known    bool // Members is the whole group, not what a window happened to show
	owner    map[TopicPartition]holding
	freed    map[TopicPartition]bool // ever taken from an owner and given to nobody
	last     *Step                   // the newest; nil none
	worked   map[string]time.Time    // last commit on a partition that it holds, by member id
	seen     map[string]*Member      // all there ever were, as they were last seen; nil: not kept

	gen     int32
	has     bool            // gen is the generation or epoch of the group; else there is none
	genPos  int             // record that gen was read from; -1 none
	genOf   *inspect.Record // the same record
	changed time.Time       // of the newest record or snapshot that told the membership
	deleted *Step           // the last step, where it is a tombstone of type 2 or 3 that an upgrade may explain

	// Of server-side assignment.
	pend       pending
	converging *Step // of the epoch that members are on the way to; nil none
	// Of share groups: no target was written since the newest epoch; partitions were
	// initialised since.
	unassigned  bool
	initialised bool
	hash        int64
	hashOK      bool
	regex       map[string][]string
	partsOf     map[string]int32    // type 4: partitions by topic
	names       map[string]string   // topic id to name
	tasks       map[string][]string // streams subtopology to its source topics

	// Of polls.
	restAt  time.Time      // of the last that saw the group at rest, or of KIP-848 the last; zero none
	unrest  bool           // a rebalance was seen since
	stable  bool           // the last saw the group Stable
	sighted int            // position of the first commit after the last sight of the group
	missed  map[string]int // members that are not seen any more, with the record from which on
}

// Options are what a Group may rely on; the zero Options is ready to use.
type Options struct {
	// Family guesses the client library of a member; nil means family.Guess.
	Family func(family.Evidence) inspect.ClientGuess
	// Logs say since when the offsets log is complete; nil means always.
	Logs []inspect.PartitionLog
}

// holding says who owns a partition, and since which record.
type holding struct {
	member string
	from   int
}

// New makes a Group of which nothing was read.
func New(opts Options) *Group {
	return &Group{opts: opts, Members: map[string]*Member{}, owner: map[TopicPartition]holding{}, freed: map[TopicPartition]bool{},
		genPos: -1, regex: map[string][]string{}, partsOf: map[string]int32{}, names: map[string]string{}, tasks: map[string][]string{}}
}

// Start tells what the group is before anything happens to it. Records at or below
// the snapshot's generation then tell nothing new.
func (t *Group) Start(s *inspect.Group) {
	t.snapshot, t.Type, t.Assignor, t.Leader, t.changed, t.known = s, s.Type, s.Assignor, s.Leader, s.StateSince.Time, true
	switch {
	case s.Epoch != nil:
		t.gen, t.has = *s.Epoch, true
	case s.Generation != nil && (s.GenerationBasis == "record" || t.ByPolls): // a bound would hide records
		t.gen, t.has = *s.Generation, true
	}
	for _, m := range t.described() {
		m.ServerSide = s.Type != inspect.Classic && s.Type != inspect.UnknownType
		t.remember(m)
		t.Members[m.ID] = m
		for _, k := range m.Assigned {
			t.owner[k] = holding{member: m.ID, from: -1}
		}
	}
	if atRest(s.State) {
		t.restAt = s.At.Time
	}
}

// fromSnapshot is a member as it was described.
func fromSnapshot(s *inspect.Member, limits inspect.Limits) *Member {
	m := &Member{ID: s.MemberID, ClientID: s.ClientID, Host: s.Host, InstanceID: s.InstanceID, Session: s.Session, Rebalance: s.Rebalance,
		Topics: slices.Sorted(slices.Values(s.Topics)), TopicRegex: s.TopicRegex, Client: s.Client, Assigned: partitionsOf(s.Assignment)}
	if s.Epoch != nil {
		m.Epoch = *s.Epoch
	}
	if m.Session == nil {
		m.Session = limits.Session
	}
	return m
}

// Describe tells what was described of the group in the meantime: the timeouts of a
// KIP-848 group are on no record, and the assignor in no poll.
func (t *Group) Describe(s *inspect.Group) { t.snapshot = s }

// Record takes the next record, in the order of the group's offsets partition.
func (t *Group) Record(r *inspect.Record) []Change {
	i := t.pos
	t.pos++
	t.learn(r)
	switch r.Type {
	case inspect.RecLegacyOffsetCommit, inspect.RecOffsetCommit:
		t.committed(r)
		return nil
	case inspect.RecGroupMetadata:
		return append(t.Flush(), t.classic(i, r)...)
	}
	var out []Change
	if t.pend.open() && r.Time.Sub(t.pend.at) > batchGap {
		out = t.Flush()
	}
	return append(out, t.epochRecord(i, r)...)
}

// Generation is the classic generation or group epoch; ok is false where there is
// none, or none is known.
func (t *Group) Generation() (n int32, ok bool) { return t.gen, t.has }

// remember keeps members for when they come again.
func (t *Group) remember(ms ...*Member) {
	if t.seen == nil {
		return
	}
	for _, m := range ms {
		t.seen[m.ID] = m
	}
}

// guess names the client library of a member.
func (t *Group) guess(e family.Evidence) inspect.ClientGuess {
	if t.opts.Family == nil {
		return family.Guess(e)
	}
	return t.opts.Family(e)
}

// openStep starts a step at a record.
func (t *Group) openStep(i int, r *inspect.Record) *Step {
	t.kept = true
	s := &Step{ID: r.ID(), Pos: i, First: i, At: r.Time.Time, EndAt: r.Time.Time, Base: !t.known,
		Generation: t.gen, Generations: []int32{t.gen}, Before: t.Members, After: map[string]*Member{}}
	if t.has {
		previous := t.gen
		s.PreviousGeneration = &previous
	}
	return s
}

// add makes a step the last, and a change of it.
func (t *Group) add(k Kind, s *Step) []Change {
	t.last = s
	return []Change{{Kind: k, ID: s.ID, At: s.At, Step: s, Before: s.Before, After: s.After}}
}

// setMember replaces a member without touching the maps that steps keep.
func (t *Group) setMember(m *Member) {
	t.unshare()
	t.Members[m.ID] = m
	t.remember(m)
}

// unshare copies the members where a step has kept them.
func (t *Group) unshare() {
	if t.kept {
		t.Members = maps.Clone(t.Members)
		t.kept = false
	}
}

// holdings are the partitions of a member, with the record since which it has them.
func (t *Group) holdings(id string) map[TopicPartition]int {
	out := map[TopicPartition]int{}
	for k, h := range t.owner {
		if h.member == id {
			out[k] = h.from
		}
	}
	return out
}

// holder is the member that holds an instance id and is not in the new membership.
func (t *Group) holder(m *Member, fresh map[string]*Member) *Member {
	if !m.Static() {
		return nil
	}
	for id, old := range t.Members {
		if fresh[id] == nil && old.Instance() == m.Instance() {
			return old
		}
	}
	return nil
}

// swapsOnly are the static members whose place another process took, where nothing
// else changed: no rebalance follows then. nil otherwise.
func (t *Group) swapsOnly(fresh map[string]*Member) []Replacement {
	if len(fresh) != len(t.Members) {
		return nil
	}
	var out []Replacement
	for _, m := range ByID(fresh) {
		if t.Members[m.ID] != nil {
			continue
		}
		old := t.holder(m, fresh)
		if old == nil {
			return nil
		}
		out = append(out, Replacement{Old: old, New: m, Held: t.holdings(old.ID)})
	}
	return out
}

// diff fills in who came, who went and who took whose place; between bounds when.
func (t *Group) diff(s *Step, i int, between [2]time.Time) {
	leave := func(m, swap *Member) {
		s.Left = append(s.Left, &Departure{Member: m, Pos: i, Held: t.holdings(m.ID), Swap: swap, Between: between})
	}
	taken := map[string]bool{}
	var swaps []Replacement
	for _, m := range ByID(s.After) {
		if s.Before[m.ID] != nil {
			continue
		}
		if old := t.holder(m, s.After); old != nil && !taken[old.ID] {
			taken[old.ID] = true
			swaps = append(swaps, Replacement{Old: old, New: m})
			continue
		}
		s.Joined = append(s.Joined, m)
	}
	for _, m := range ByID(s.Before) {
		if s.After[m.ID] == nil && !taken[m.ID] {
			leave(m, nil)
		}
	}
	// A static member whose generation changed with it was not swapped in place: it
	// came back while its departure was being rebalanced.
	for _, sw := range swaps {
		leave(sw.Old, sw.New)
		s.Joined = append(s.Joined, sw.New)
	}
	pairSwaps(s)
	if len(s.Left) > 0 {
		t.surviving(s)
	}
}

// surviving notes what the members that stay held.
func (t *Group) surviving(s *Step) {
	s.Surviving = map[string]map[TopicPartition]int{}
	for k, h := range t.owner {
		if s.After[h.member] == nil || s.Before[h.member] == nil {
			continue
		}
		held := s.Surviving[h.member]
		if held == nil {
			held = map[TopicPartition]int{}
			s.Surviving[h.member] = held
		}
		held[k] = h.from
	}
	for id, held := range s.Surviving {
		s.Surviving[id] = someOf(held)
	}
}

// partitionsOf lists the partitions of an assignment.
func partitionsOf(in []inspect.TopicPartitions) []TopicPartition {
	var out []TopicPartition
	for _, a := range in {
		for _, p := range a.Partitions {
			out = append(out, TopicPartition{a.Topic, p})
		}
	}
	return out
}

// ownersIn says who owns what.
func ownersIn(members map[string]*Member) map[TopicPartition]string {
	out := map[TopicPartition]string{}
	for id, m := range members {
		for _, k := range m.Assigned {
			out[k] = id
		}
	}
	return out
}

// Edits are the members that stayed and are not what they were.
func edits(before, after map[string]*Member) []Edit {
	var out []Edit
	for _, m := range ByID(after) {
		if old := before[m.ID]; old != nil && edited(old, m) {
			out = append(out, Edit{old, m})
		}
	}
	return out
}

// edited compares what a user sets of a member.
func edited(a, b *Member) bool {
	return a.TopicRegex != b.TopicRegex || a.Assignor != b.Assignor || !slices.Equal(a.Topics, b.Topics) ||
		!same(a.Session, b.Session) || !same(a.Rebalance, b.Rebalance)
}
