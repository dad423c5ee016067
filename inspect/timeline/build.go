package timeline

import (
	"cmp"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
)

// Options tune Build; the zero Options is ready to use.
type Options struct {
	// Family guesses the client library of a member; nil means family.Guess.
	Family func(family.Evidence) inspect.ClientGuess
}

// Build rebuilds the timelines of all groups that the Case holds records or
// observations of, ordered by group id. It does not change the Case. Records may
// come in any order; a record that was read twice counts once.
func Build(c *inspect.Case, opts Options) []inspect.Timeline {
	in := split(c)
	out := make([]inspect.Timeline, 0, len(in))
	for _, g := range in {
		out = append(out, BuildGroup(*g, opts))
	}
	return out
}

// Input is everything known about one group.
type Input struct {
	Group        string
	Records      []*inspect.Record
	Observations []inspect.Observation
	Events       []inspect.LogEvent // of this group, or of no group that they name
	Snapshot     *inspect.Group     // null where the group was not described
	Logs         []inspect.PartitionLog
	End          inspect.Time // until when the log was read; zero: the newest record
}

// split sorts the facts of a Case by group.
func split(c *inspect.Case) []*Input {
	byID := map[string]*Input{}
	get := func(id string) *Input {
		in := byID[id]
		if in == nil {
			in = &Input{Group: id, Logs: c.Logs, End: readUntil(c)}
			byID[id] = in
		}
		return in
	}
	for i := range c.Records {
		in := get(c.Records[i].Group)
		in.Records = append(in.Records, &c.Records[i])
	}
	for i := range c.Observations {
		in := get(c.Observations[i].Group)
		in.Observations = append(in.Observations, c.Observations[i])
	}
	for i := range c.Groups {
		get(c.Groups[i].ID).Snapshot = &c.Groups[i]
	}
	out := make([]*Input, 0, len(byID))
	for _, in := range byID {
		out = append(out, in)
	}
	slices.SortFunc(out, func(a, b *Input) int { return cmp.Compare(a.Group, b.Group) })
	for _, ev := range c.LogEvents {
		for _, in := range out {
			if ev.Group == "" || ev.Group == in.Group {
				in.Events = append(in.Events, ev)
			}
		}
	}
	return out
}

// readUntil is the moment up to which the log of a Case was read.
func readUntil(c *inspect.Case) inspect.Time {
	if !c.Window.To.IsZero() {
		return c.Window.To
	}
	var end inspect.Time
	for i := range c.Records {
		if c.Records[i].Time.After(end.Time) {
			end = c.Records[i].Time
		}
	}
	return end
}

// BuildGroup rebuilds the timeline of one group.
func BuildGroup(in Input, opts Options) inspect.Timeline {
	t := newTrack(in, opts)
	t.walk()
	t.observed()
	t.leaves = map[string][]time.Time{}
	for i, s := range t.steps {
		s.index = i
		for _, d := range s.left {
			t.leaves[d.m.id] = append(t.leaves[d.m.id], s.at)
		}
	}
	for _, s := range t.steps {
		t.findReturns(s)
	}
	t.returns = map[arrival]*departure{}
	for _, s := range t.steps {
		for _, d := range s.left {
			if d.ret != nil {
				t.returns[arrival{d.ret.step, d.ret.m.id}] = d
			}
		}
	}
	for _, s := range t.steps {
		t.judgeStep(s)
	}
	t.secondLook()
	return t.timeline()
}

// track is the working state of one group.
type track struct {
	in      Input
	opts    Options
	recs    []*inspect.Record // of this group, in order
	commits map[tp][]commit
	names   map[string]string   // topic id to name
	tasks   map[string][]string // streams subtopology to its source topics
	end     time.Time
	limits  inspect.Limits

	steps   []*step
	members map[string]*member // the group now, as the walk has read it
	kept    bool               // a step holds the map members
	known   bool               // members is the whole group, not what a window happened to show
	owner   map[tp]holding
	gen     int32
	genPos  int // record that gen was read from; -1 none
	kind    inspect.GroupType
	proto   string // selected assignor
	deleted *step  // the last step, where it is a tombstone of type 2 or 3 that an upgrade may explain
	pend    pending
	hash    int64
	hashOK  bool
	regex   map[string][]string
	partsOf map[string]int32 // type 4: partitions by topic
	seen    map[string]*member
	returns map[arrival]*departure // who came back in which step
	leaves  map[string][]time.Time // KIP-848: when a member id left, oldest first
}

// arrival is a member that joined in a step.
type arrival struct {
	step   *step
	member string
}

// fewParts is how many partitions of a survivor are looked at for its pace.
const fewParts = 8

// tp is a topic partition.
type tp struct {
	topic string
	part  int32
}

// holding says who owns a partition, and since which record.
type holding struct {
	member string
	from   int
}

// commit is an offset commit in the order of the group's records.
type commit struct {
	pos    int
	at     time.Time
	offset int64
	thin   bool // commits before it were left out
}

// member is a member as the records describe it.
type member struct {
	id, clientID, host string
	instance           *string
	session, rebalance *inspect.Millis
	topics             []string
	regex              string
	guess              inspect.ClientGuess
	server             bool      // heartbeats under KIP-848, KIP-932 or KIP-1071
	since              time.Time // record that first named it; zero where it was there before
	assigned           []tp      // classic: in the newest record
	// KIP-848
	epoch      int32
	state      int8
	stateAt    time.Time
	staticLeft time.Time // of the record with epoch -2; zero none
	leftPos    int
	target     []tp
	unread     bool // it was there, or may have been, before the first record that names it
	doubtful   bool // unread, and what would tell whether that record is its join is compacted away
}

func (m *member) static() bool { return m.instance != nil && *m.instance != "" }

// lane names the member for people: its instance id, else its client id.
func (m *member) lane() string {
	switch {
	case m.static():
		return *m.instance
	case m.clientID != "":
		return m.clientID
	}
	return m.id
}

// step is one rebalance while it is being worked out.
type step struct {
	pos, first    int // last and first record
	at            time.Time
	endAt         time.Time // of the last folded record
	gen           int32
	prevGen       *int32
	gens          []int32
	skipped       int32
	compacted     bool // generations are missing where the log is compacted
	stateTime     time.Time
	server        bool
	base          bool // what was before is unknown
	after         map[string]*member
	before        map[string]*member
	joined        []*member
	left          []*departure
	replaced      []replacement
	eager         bool
	empty         bool
	deleted       bool
	upgraded      bool // classic to consumer, or back
	protoFrom     string
	protoTo       string
	subs          []string // lanes whose subscription changed, with what
	doubt         string   // who joined or else changed its subscription
	grown         []tp     // partitions that nobody had before
	topicNews     string   // KIP-848: what changed in the topics
	unassigned    map[tp]bool
	moved, total  int
	converged     time.Time
	lastConverged string
	id            string
	index         int       // among the steps
	polled        bool      // seen by polls alone
	lastRest      time.Time // of a polled one: the last poll before it
	// surviving is what each member that stays held when the step began, of at most
	// fewParts partitions, with the record since which it held them; only where
	// somebody left.
	surviving map[string]map[tp]int

	// the verdict
	out inspect.Rebalance
}

// departure is a member that went in a step.
type departure struct {
	m     *member
	pos   int // first record without it
	held  map[tp]int
	step  *step
	swap  *member // another process of the same client that came in the same record
	ret   *comeback
	early *comeback // KIP-848: joined before this one was put out
	ev    *evidence
	v     verdict
}

// comeback is the return of a departed member.
type comeback struct {
	step      *step
	m         *member
	by        string // "instance", "member", "client"
	ambiguous bool   // several members share the client id and host
	newHost   bool
}

// replacement is a static member whose place another process took.
type replacement struct {
	old, new *member
	held     map[tp]int
	conf     inspect.Confidence
	fenced   bool
	// KIP-848: a static client that overran says that it goes for a while, just as one
	// that is stopped does, and comes back.
	overran    bool
	mayOverran bool
	why        string
}

func newTrack(in Input, opts Options) *track {
	t := &track{in: in, opts: opts, commits: map[tp][]commit{}, names: map[string]string{},
		tasks: map[string][]string{}, members: map[string]*member{}, owner: map[tp]holding{},
		genPos: -1, regex: map[string][]string{}, partsOf: map[string]int32{}, seen: map[string]*member{}}
	t.recs = ordered(in.Records)
	t.end = in.End.Time
	for _, r := range t.recs {
		if r.Time.After(t.end) {
			t.end = r.Time.Time
		}
	}
	if in.Snapshot != nil {
		t.limits = in.Snapshot.Limits
	}
	t.learnTopics()
	t.learnMembers()
	for i, r := range t.recs {
		if r.Commit == nil || r.Type > inspect.RecOffsetCommit {
			continue
		}
		k := tp{r.Topic, r.TopicPartition}
		t.commits[k] = append(t.commits[k], commit{pos: i, at: r.Time.Time, offset: r.Commit.Offset, thin: r.Commit.Thinned > 0})
	}
	return t
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

// learnTopics collects the names of topic ids and the source topics of
// subtopologies, which assignments hold instead of names.
func (t *track) learnTopics() {
	var ids []string
	var subs = map[string]bool{}
	for _, r := range t.recs {
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
func (t *track) learnMembers() {
	first := map[string]bool{}
	old := []string{}
	epochs := false
	for _, r := range t.recs {
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
		t.members[id], t.seen[id] = m, m
	}
}

// unreadMembers are those whose first record names them as a join does, and is none:
// a changed subscription is written alike. The first current assignment tells, whose
// previous epoch is 0 for a new member alone. Where it was not written with the
// record, an earlier one may be compacted away: then the member is doubtful (true).
func (t *track) unreadMembers() map[string]bool {
	out := map[string]bool{}
	named, held := map[string]*inspect.Record{}, map[string]bool{}
	var gone []time.Time
	for _, r := range t.recs {
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
func (t *track) expand(in []inspect.TopicIDPartitions) []tp {
	var out []tp
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
				out = append(out, tp{topic, p})
			}
		}
	}
	return out
}
