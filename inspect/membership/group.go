package membership

import (
	"cmp"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
)

// Input is what the membership of one group is read from.
type Input struct {
	Records      []*inspect.Record // in any order; a record that was read twice counts once
	Observations []inspect.Observation
	Snapshot     *inspect.Group // nil where the group was not described
	Logs         []inspect.PartitionLog
	// Family guesses the client library of a member; nil means family.Guess.
	Family func(family.Evidence) inspect.ClientGuess
}

// Group is the membership of one group as it was read.
type Group struct {
	Type    inspect.GroupType
	Records []*inspect.Record  // in order; positions count these
	Steps   []*Step            // oldest first
	Members map[string]*Member // at the end, by member id
	Seen    map[string]*Member // all there ever were, as they were last seen
	Until   time.Time          // of the newest record or poll that was read

	in      Input
	names   map[string]string   // topic id to name
	tasks   map[string][]string // streams subtopology to its source topics
	limits  inspect.Limits
	kept    bool // a step holds the map Members
	known   bool // Members is the whole group, not what a window happened to show
	owner   map[TopicPartition]holding
	gen     int32
	genPos  int    // record that gen was read from; -1 none
	proto   string // selected assignor
	deleted *Step  // the last step, where it is a tombstone of type 2 or 3 that an upgrade may explain
	pend    pending
	hash    int64
	hashOK  bool
	regex   map[string][]string
	partsOf map[string]int32 // type 4: partitions by topic
}

// holding says who owns a partition, and since which record.
type holding struct {
	member string
	from   int
}

// Read reads the membership of a group out of its records or, where nothing was read
// of the offsets topic, out of the polls: on a cluster that hides it, what a watch
// kept is all the history there is.
func Read(in Input) *Group {
	t := &Group{in: in, names: map[string]string{}, tasks: map[string][]string{}, Members: map[string]*Member{},
		owner: map[TopicPartition]holding{}, genPos: -1, regex: map[string][]string{}, partsOf: map[string]int32{}, Seen: map[string]*Member{}}
	t.Records = ordered(in.Records)
	for _, r := range t.Records {
		if r.Time.After(t.Until) {
			t.Until = r.Time.Time
		}
	}
	if in.Snapshot != nil {
		t.limits = in.Snapshot.Limits
	}
	t.learnTopics()
	t.learnMembers()
	t.walk()
	t.observed()
	return t
}

// walk reads the records in order and cuts them into steps.
func (t *Group) walk() {
	for i, r := range t.Records {
		switch r.Type {
		case inspect.RecLegacyOffsetCommit, inspect.RecOffsetCommit:
		case inspect.RecGroupMetadata:
			t.flush()
			t.classic(i, r)
		default:
			t.epochRecord(i, r)
		}
	}
	t.flush()
	t.finishConvergence()
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
