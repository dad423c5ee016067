package inspect

// Basis says whether a cause is somebody's word or kgdiag's inference.
type Basis string

// The two bases.
const (
	Inferred Basis = "inferred"
	Stated   Basis = "stated" // by a log line, or by a record that names it
)

// Returned says whether the departed member came back, and as what.
type Returned string

// The returns; "" means that the question does not arise.
const (
	ReturnedNo          Returned = "no"
	ReturnedSameProcess Returned = "same_process"
	ReturnedNewProcess  Returned = "new_process"
	ReturnedUnknown     Returned = "unknown" // came back; pause, crash under a supervisor and cut network look alike
)

// Timeline is the rebalance history of one group, oldest first.
type Timeline struct {
	Group         string      `json:"group"`
	Type          GroupType   `json:"type"`
	CompleteSince Time        `json:"complete_since"`
	Rebalances    []Rebalance `json:"rebalances"`
	// Spans are the lives of the members, for the lane chart.
	Spans []Span `json:"spans,omitempty"`
	// Pauses are the longest silences of members that stayed in the group, longest
	// first, at most 20: what a shorter poll interval would have cost.
	Pauses []Pause `json:"pauses,omitempty"`
}

// Pause is a stretch in which a member committed nothing although records waited,
// and after which it went on. It bounds from below the time between two polls
// of clients that commit after processing.
type Pause struct {
	Lane     string `json:"lane"`
	MemberID string `json:"member_id"`
	ClientID string `json:"client_id"`
	From     Time   `json:"from"`
	To       Time   `json:"to"`
	Length   Millis `json:"length_ms"`
}

// Rebalance is one rebalance, which may span two cooperative generations.
type Rebalance struct {
	ID                 string  `json:"id"` // stable over re-reads: offsets partition and offset of its first record, or of the observation
	Time               Time    `json:"time"`
	Generation         int32   `json:"generation"` // generation, or group epoch
	PreviousGeneration *int32  `json:"previous_generation"`
	GenerationBasis    string  `json:"generation_basis,omitempty"` // "lower_bound" where polls alone saw it, "" exact
	Generations        []int32 `json:"generations,omitempty"`      // all folded into this one
	Skipped            int32   `json:"skipped,omitempty"`          // join rounds that ended without a sync
	StartedAt          Time    `json:"started_at,omitzero"`        // observed live only
	// Stopped is how long the rebalance kept members that stayed from their partitions
	// at least, StoppedAtMost at most, of the one that waited longest; null unknown.
	Stopped       *Millis `json:"stopped_ms"`
	StoppedAtMost *Millis `json:"stopped_at_most_ms"`
	// StoppedBasis is "observed" where polls bound it too; "at_least" where records alone
	// do, or "at_most" where those bound it from above alone; "estimated" where the
	// protocol keeps nobody from working; "" unknown.
	StoppedBasis string `json:"stopped_basis"`
	// Rebalancing is for how long polls saw the group rebalance: members work on
	// meanwhile until they poll and rejoin.
	Rebalancing   *Millis    `json:"rebalancing_ms,omitempty"`
	SyncTime      *Millis    `json:"sync_ms"`      // join phase's end to the record, classic
	Converged     *Millis    `json:"converged_ms"` // KIP-848: epoch to the last member's convergence
	ConvergedLast string     `json:"converged_last,omitempty"`
	Cause         Cause      `json:"cause"`
	Returned      Returned   `json:"returned,omitempty"`
	Confidence    Confidence `json:"confidence"`
	Basis         Basis      `json:"basis"`
	Rivals        []Rival    `json:"rivals"`
	Evidence      []string   `json:"evidence"`
	Members       Change     `json:"members"`
	// Moved counts the partitions that changed hands, Assigned all that were assigned.
	Moved    int `json:"moved"`
	Assigned int `json:"assigned"`
	// Stall is the longest time between two polls that the evidence shows, for
	// poll_interval_exceeded and session_expired with a return.
	Stall *Millis `json:"stall_ms,omitempty"`
	// Interval is the median time between commits that a timer made, which Stall holds
	// once; null where no timer made them.
	Interval *Millis `json:"commit_interval_ms,omitempty"`
	// Step is the median time a record took where every record was committed.
	Step  *Millis  `json:"step_ms,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// Rival is another cause that could have looked like this.
type Rival struct {
	Cause  Cause  `json:"cause"`
	WhyNot string `json:"why_not"` // "" where nothing speaks against it
}

// OpenCauses are the causes of the rivals that nothing speaks against.
func OpenCauses(rivals []Rival) []Cause {
	var out []Cause
	for _, r := range rivals {
		if r.WhyNot == "" {
			out = append(out, r.Cause)
		}
	}
	return out
}

// Change is how the membership changed.
type Change struct {
	Before   int           `json:"before"`
	After    int           `json:"after"`
	Joined   []Join        `json:"joined"`
	Left     []Departure   `json:"left"`
	Replaced []Replacement `json:"replaced"`
}

// Join is a member that came.
type Join struct {
	ClientID   string  `json:"client_id"`
	Host       string  `json:"host"`
	MemberID   string  `json:"member_id"`
	InstanceID *string `json:"instance_id"`
	BackAfter  *Millis `json:"back_after_ms"`  // since its last commit, if it had left before
	Out        *Millis `json:"out_ms"`         // since it was seen to have left; null if it had not
	Back       string  `json:"back,omitempty"` // id of the rebalance in which it had left
}

// Departure is a member that went. When exactly is an interval: a classic record
// is written when the join phase of the survivors ends.
type Departure struct {
	ClientID    string      `json:"client_id"`
	Host        string      `json:"host"`
	MemberID    string      `json:"member_id"`
	InstanceID  *string     `json:"instance_id"`
	Client      ClientGuess `json:"client"`
	LeftBetween [2]Time     `json:"left_between"`
	// Silent is the least and most time from the last commit to the departure, the least
	// without Common; null without commits.
	Silent *[2]Millis `json:"silent_ms"`
	// Common is how much of the silence is left out of its least, as nobody else committed
	// then either: an idle topic, or a broker that paused.
	Common      *Millis `json:"common_silence_ms,omitempty"`
	LastCommit  Time    `json:"last_commit"`
	LastAdvance Time    `json:"last_advance"` // last commit that moved an offset
	Commits     int     `json:"commits"`      // seen on its partitions while it owned them
	Session     *Millis `json:"session_timeout_ms"`
	Rebalance   *Millis `json:"rebalance_timeout_ms"`
	// Assumed are the timeouts that nothing told and that the cause leans on, with where
	// they are from: "session.timeout.ms 45 s (the default of java)".
	Assumed []string `json:"assumed,omitempty"`
	// Process is what the platform's files say of its process; null where none were read.
	Process *ProcessWord `json:"process,omitempty"`
	// Paused is what a log says of the longest pause of its process in the silence.
	Paused     string     `json:"paused,omitempty"`
	Cause      Cause      `json:"cause"`
	Confidence Confidence `json:"confidence"`
	Returned   Returned   `json:"returned"`
	BackAfter  *Millis    `json:"back_after_ms"`     // from the last commit to the return
	Out        *Millis    `json:"out_ms"`            // from when it was seen to have left to the return
	BackAs     string     `json:"back_as,omitempty"` // member id of the return
	BackIn     string     `json:"back_in,omitempty"` // id of the rebalance in which it came back
	// Stall is the longest time between two polls that the departure shows; null
	// where it shows none (no return, no commits, commits inside a batch).
	Stall *Millis `json:"stall_ms,omitempty"`
	// Interval is the median time between commits that a timer made, which Stall holds
	// once; null where no timer made them.
	Interval *Millis `json:"commit_interval_ms,omitempty"`
	// Step is the median time a record took, where every record was committed.
	Step *Millis `json:"step_ms,omitempty"`
	// OthersCoped: the next owner of its partitions worked off what had waited there.
	OthersCoped bool `json:"others_coped,omitempty"`
	// InBatch: it went between the commits of one batch.
	InBatch bool `json:"in_batch,omitempty"`
	// Rivals are the other causes that could have looked like this departure.
	Rivals []Rival `json:"rivals,omitempty"`
	// IdlePartitions stood still from the last commit to their reassignment.
	IdlePartitions []string `json:"idle_partitions"`
	Idle           *Millis  `json:"idle_ms"`
	// Stuck are partitions whose committed offset did not move while it owned them,
	// as "topic-partition offset N": the same record every time.
	Stuck []string `json:"stuck,omitempty"`
}

// Replacement is a member whose place was taken by another in the same record.
type Replacement struct {
	ClientID    string  `json:"client_id"`
	Host        string  `json:"host"`
	OldMemberID string  `json:"old_member_id"`
	NewMemberID string  `json:"new_member_id"`
	InstanceID  *string `json:"instance_id"`
	NewHost     string  `json:"new_host,omitempty"`
}

// Span is a stretch of one member's life for the lane chart.
type Span struct {
	Lane string `json:"lane"` // client id, or instance id, or client id and host where ids are shared
	From Time   `json:"from"`
	To   Time   `json:"to"`
	Kind string `json:"kind"` // "member" | "silent" | "out"
}
