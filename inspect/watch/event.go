package watch

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
)

// Kind is what an Event tells.
type Kind string

// The kinds; names in JSON, so only ever added to.
const (
	GroupWaiting     Kind = "waiting"           // the group does not exist yet
	GroupAppeared    Kind = "appeared"          // it does now
	GroupDeleted     Kind = "deleted"           //
	RebalanceStarted Kind = "rebalance_started" // first poll that saw the group not Stable
	RebalanceDone    Kind = "rebalance"         // a generation or an epoch
	MemberJoined     Kind = "member_joined"     // seen by a poll in the course of a rebalance, or without a new epoch
	MemberLeft       Kind = "member_left"       // likewise
	MemberReplaced   Kind = "member_replaced"   // a static member's new process, in the same generation
	SettingsChanged  Kind = "settings_changed"  // timeouts, subscription, … without a new generation
	StateChanged     Kind = "state"             // another change of state
	Converged        Kind = "converged"         // KIP-848: every member has reached the target epoch
	CoordinatorMoved Kind = "coordinator_moved"
	SourceLost       Kind = "source_lost"   // the coordinator, or the log, does not answer
	SourceBack       Kind = "source_back"   // it does again
	MemberSilent     Kind = "silent"        // no commit while lag grows
	MemberAtRisk     Kind = "at_risk"       // silent for half of the time that its rebalance timeout gives it
	MemberSpoke      Kind = "commits_again" // a silent member commits
	CauseFound       Kind = "cause"         // why; refines the events of its incident
	CauseSoFar       Kind = "cause_so_far"  // likewise of a departure whose rebalance is still under way: no Record, never of high confidence
	ClockOff         Kind = "clock_off"     // a broker's clock and this machine's differ: Why says by how much, and what shows it
)

// Source says where an event was seen.
type Source string

// The sources.
const (
	FromLog  Source = "log"  // __consumer_offsets
	FromPoll Source = "poll" // describe
	FromBoth Source = "log+poll"
)

// Event is one thing that happened to one group. Fields that do not belong to its
// kind are absent.
type Event struct {
	Type Kind         `json:"type"`
	ID   string       `json:"id"`   // unique within a run, in order
	Time inspect.Time `json:"time"` // of the record, or of the poll that saw it
	// Group is "" for what concerns several.
	Group  string   `json:"group"`
	Groups []string `json:"groups,omitempty"` // the several
	Source Source   `json:"source"`
	// PollEvery is the time between two polls when a poll saw it: how exact Time is.
	PollEvery *inspect.Millis `json:"poll_every_ms,omitempty"`
	// Past is set for what happened before the watch began.
	Past bool `json:"past,omitempty"`
	// Incident joins the events of one story: a rebalance from its first sign to its
	// record and cause, the return of a member to its departure, the two steps of a
	// cooperative rebalance. 0 none.
	Incident int `json:"incident,omitempty"`
	// Record is partition and offset of the record, "31:123456".
	Record string `json:"record,omitempty"`

	Generation         *int32 `json:"generation,omitempty"` // or the group epoch, with Epoch
	PreviousGeneration *int32 `json:"previous_generation,omitempty"`
	GenerationBasis    string `json:"generation_basis,omitempty"` // "record" | "lower_bound" | "epoch"
	Skipped            int32  `json:"skipped,omitempty"`          // join rounds that ended without a sync
	Cooperative        bool   `json:"cooperative,omitempty"`      // second step of a cooperative rebalance

	State         string `json:"state,omitempty"`
	PreviousState string `json:"previous_state,omitempty"`

	Members  *int     `json:"members,omitempty"` // after it
	Joined   []Who    `json:"joined,omitempty"`
	Left     []Who    `json:"left,omitempty"`
	Replaced []Swap   `json:"replaced,omitempty"`
	Changes  []Change `json:"changes,omitempty"`
	Moved    int      `json:"moved,omitempty"`    // partitions that changed hands
	Assigned int      `json:"assigned,omitempty"` // all that are assigned

	// Stopped and StoppedAtMost bound how long a rebalance kept members that stayed from
	// their partitions, with StoppedBasis and Rebalancing, as in inspect.Rebalance.
	Stopped       *inspect.Millis `json:"stopped_ms,omitempty"`
	StoppedAtMost *inspect.Millis `json:"stopped_at_most_ms,omitempty"`
	StoppedBasis  string          `json:"stopped_basis,omitempty"` // "observed" | "at_least" | "at_most" | "estimated"
	Rebalancing   *inspect.Millis `json:"rebalancing_ms,omitempty"`
	Converged     *inspect.Millis `json:"converged_ms,omitempty"`
	Last          string          `json:"last,omitempty"` // the member that converged last

	Coordinator         *int32 `json:"coordinator,omitempty"`
	PreviousCoordinator *int32 `json:"previous_coordinator,omitempty"`

	Member string          `json:"member,omitempty"`    // label of the member it is about
	Who    *Who            `json:"who,omitempty"`       // the same member
	Silent *inspect.Millis `json:"silent_ms,omitempty"` // since its last commit
	Limit  *inspect.Millis `json:"limit_ms,omitempty"`  // its rebalance timeout
	OutAt  inspect.Time    `json:"out_at,omitzero"`     // when it will be put out, about
	// Assumed is the setting behind Limit with where it is from, where none was read.
	Assumed string `json:"assumed,omitempty"`
	// Partitions is how many partitions a silent member does not consume.
	Partitions int `json:"partitions,omitempty"`

	// Happened is when the rebalance was that a cause is about; Time is when it was found.
	Happened   inspect.Time       `json:"happened,omitzero"`
	Cause      inspect.Cause      `json:"cause,omitempty"`
	Confidence inspect.Confidence `json:"confidence,omitempty"`
	Basis      inspect.Basis      `json:"basis,omitempty"`
	// Evictions is how many members were evicted, or had to leave, in the rebalance of a cause.
	Evictions int              `json:"evictions,omitempty"`
	Returned  inspect.Returned `json:"returned,omitempty"`
	Evidence  []string         `json:"evidence,omitempty"`
	Rivals    []inspect.Rival  `json:"rivals,omitempty"`
	// Stall is the longest time between two polls that the evidence shows, BackAfter
	// the time from the last commit to the return.
	Stall     *inspect.Millis `json:"stall_ms,omitempty"`
	BackAfter *inspect.Millis `json:"back_after_ms,omitempty"`

	Why     string   `json:"why,omitempty"`     // of a lost source, or a remark
	Nearest []string `json:"nearest,omitempty"` // ids that a missing group may be a misspelling of
}

// Who is a member that came or went.
type Who struct {
	Label      string  `json:"label"` // instance id or client id, with the host where that is not enough
	ClientID   string  `json:"client_id"`
	Host       string  `json:"host"`
	MemberID   string  `json:"member_id"`
	InstanceID *string `json:"instance_id"`
	// LeftBetween bounds a departure: a poll bounds it by two polls, a record by the
	// record before it and its own time. Zero for joins.
	LeftBetween *[2]inspect.Time `json:"left_between,omitempty"`
	// BackAfter is the time since the member was seen to go; null if it had not been
	// a member, or where several could have come back (Ambiguous).
	BackAfter *inspect.Millis `json:"back_after_ms,omitempty"`
	Ambiguous bool            `json:"ambiguous,omitempty"` // members share client id and host
}

// Swap is a member whose place another took in the same record.
type Swap struct {
	Label       string  `json:"label"`
	ClientID    string  `json:"client_id"`
	Host        string  `json:"host"`
	OldMemberID string  `json:"old_member_id"`
	NewMemberID string  `json:"new_member_id"`
	InstanceID  *string `json:"instance_id"`
	NewHost     string  `json:"new_host,omitempty"` // where it differs
	Ambiguous   bool    `json:"ambiguous,omitempty"`
}

// Change is a setting that is not what it was.
type Change struct {
	What   string `json:"what"`             // "leader", "assignor", "subscription", "session_timeout", "rebalance_timeout", "assignment", "matched_topics", "protocol", "topics"
	Member string `json:"member,omitempty"` // label; "" the group's
	From   string `json:"from"`
	To     string `json:"to"`
}

// CountsAsRebalance reports whether the event is a rebalance of its own, as the
// summary and --fail-on rebalance count: the second step of a cooperative one and
// the creation of a group are not.
func (e *Event) CountsAsRebalance() bool {
	return e.Type == RebalanceDone && !e.Cooperative && !e.Past
}

// ms is d as optional milliseconds.
func ms(d time.Duration) *inspect.Millis { return inspect.Ms(d) }
