package membership

import (
	"maps"
	"slices"
	"time"
)

// Step is one rebalance, or one change of a static member's process without one, as
// it was read. Positions count the records of the group from 0. A Step may grow until
// the next begins: by the second half of a cooperative rebalance, by partitions that
// change hands and by its convergence. Whoever reads it must not change it.
type Step struct {
	ID    string    // of its first record, "24:1228", or of its poll
	Pos   int       // position of its last record
	First int       // position of its first record: more than one where a cooperative rebalance has two halves
	At    time.Time // of its first record
	EndAt time.Time // of its last record
	// StateTime is the end of the join phase, of a classic group; zero unknown.
	StateTime time.Time
	Polled    bool      // seen by polls alone
	LastRest  time.Time // of a polled one: the last poll before it; zero none

	Generation         int32 // classic generation or group epoch, after it
	PreviousGeneration *int32
	Generations        []int32 // all that it went through
	Skipped            int32   // generations that never reached the log
	Compacted          bool    // generations are missing where the log is compacted
	ServerSide         bool    // KIP-848, KIP-932 or KIP-1071: Generation is the group epoch
	Base               bool    // what was before is unknown

	Before, After map[string]*Member // by member id
	Joined        []*Member
	Left          []*Departure
	Replaced      []Replacement

	Eager    bool // the assignor is known to take all partitions away while it rebalances
	Empty    bool // nobody is left
	Deleted  bool // the group is
	Migrated bool // from the classic protocol to the consumer protocol, or back
	// ProtocolFrom and ProtocolTo are the assignors before and after it, or the
	// protocols where it is Migrated; "" unknown.
	ProtocolFrom, ProtocolTo string

	Subscriptions []string         // who changed its subscription, and how
	Doubt         string           // who joined or else changed its subscription
	Grown         []TopicPartition // partitions that nobody had before
	Topics        string           // KIP-848: what changed in the topics

	Moved         int       // partitions with another owner than before
	Assigned      int       // partitions with an owner after it
	Converged     time.Time // KIP-848: when every member had reached the epoch; zero not yet
	ConvergedLast string    // name of the member that did so last

	// Surviving is what each member that stays held when the step began, of at most
	// fewParts partitions, with the position since which it held them; only where
	// somebody left.
	Surviving map[string]map[TopicPartition]int

	unassigned map[TopicPartition]bool
	worked     map[string]time.Time // last commit before it, by member id
}

// Departure is a member that went in a Step.
type Departure struct {
	Member *Member
	Pos    int                    // first record without it
	Held   map[TopicPartition]int // its partitions, with the position since which it held them
	Swap   *Member                // another process of the same client that came in the same record; nil none
	// Between bounds when it went, by what the records or polls that show it leave
	// possible; the first is zero where nothing was read before.
	Between [2]time.Time
}

// Replacement is a static member whose place another process took.
type Replacement struct {
	Old, New *Member
	Held     map[TopicPartition]int
}

// Kind says what a Change is.
type Kind int

// The kinds.
const (
	// Rebalanced: a rebalance, which Step is.
	Rebalanced Kind = iota
	// Continued: the second half of a cooperative rebalance, which Step began with.
	Continued
	// Swapped: static members were replaced without a rebalance; Step has them.
	Swapped
	// Deleted: the group is; Step says so. An upgrade begins with the same record.
	Deleted
	// Created: the first JoinGroup made the group; nobody is in it.
	Created
	// Away: a static member, Who, said that it goes for a while.
	Away
	// Converged: every member has reached the epoch of Step; Who did last.
	Converged
	// Edited: members, their settings or what a pattern matches changed without a
	// rebalance; there is no Step.
	Edited
)

// Change is what one record or poll changed in a group.
type Change struct {
	Kind Kind
	ID   string    // of the record or poll that shows it
	At   time.Time // its time
	Step *Step
	Who  *Member
	// Instead is an earlier Step that turned out to be a part of this one: the record
	// that deletes a group also begins its upgrade.
	Instead *Step

	Joined   []*Member    // of Edited
	Left     []*Departure // of Edited
	Edits    []Edit
	Patterns []Pattern
	Before   map[string]*Member // by member id, of what has Edits
	After    map[string]*Member
}

// Edit is a member that stayed and is not what it was: its timeouts, subscription or
// assignor.
type Edit struct{ Old, New *Member }

// Pattern is a subscribed pattern that matches other topics than before.
type Pattern struct {
	Regex    string
	From, To []string
}

// fewParts is how many partitions of a survivor are looked at for its pace.
const fewParts = 8

// someOf keeps the first fewParts partitions, so that the choice is always the same.
func someOf(held map[TopicPartition]int) map[TopicPartition]int {
	if len(held) <= fewParts {
		return held
	}
	keys := slices.SortedFunc(maps.Keys(held), Compare)
	out := make(map[TopicPartition]int, fewParts)
	for _, k := range keys[:fewParts] {
		out[k] = held[k]
	}
	return out
}

// pairSwaps finds dynamic members that were replaced by the same client on the
// same host in one record. Where several share client id and host the pairs
// cannot be told, only their number.
func pairSwaps(s *Step) {
	used := map[string]bool{}
	for _, d := range s.Left {
		if d.Swap != nil {
			used[d.Swap.ID] = true
		}
	}
	for _, d := range s.Left {
		if d.Swap != nil {
			continue
		}
		for _, m := range s.Joined {
			if !used[m.ID] && SameClient(d.Member, m) {
				d.Swap, used[m.ID] = m, true
				break
			}
		}
	}
}
