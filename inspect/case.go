package inspect

// CaseSchema names the format of a case file. Fields are only ever added; a
// change of meaning gets a new number.
const CaseSchema = "kgdiag.case/v1"

// Case is everything that was read about some groups, and what was derived from
// it. Every slice may be empty; what is missing for a reason is in Gaps.
type Case struct {
	Schema      string `json:"schema"`       // CaseSchema
	Kgdiag      string `json:"kgdiag"`       // version of the program that wrote it
	GeneratedAt Time   `json:"generated_at"` // by the clock of the machine that ran kgdiag

	Cluster Cluster `json:"cluster"`
	Window  Window  `json:"window"`
	Gaps    []Gap   `json:"gaps"`

	Groups       []Group        `json:"groups,omitempty"`
	Brokers      []Broker       `json:"brokers,omitempty"`
	Topics       []Topic        `json:"topics,omitempty"`
	OffsetsTopic *OffsetsTopic  `json:"offsets_topic,omitempty"`
	Records      []Record       `json:"records,omitempty"` // ordered by partition, then offset
	Logs         []PartitionLog `json:"partition_logs,omitempty"`
	Observations []Observation  `json:"observations,omitempty"` // ordered by time within a group
	OffsetPolls  []OffsetPolls  `json:"offset_polls,omitempty"` // when committed offsets were polled, likewise
	Timelines    []Timeline     `json:"timelines,omitempty"`
	OffsetsAt    []OffsetAt     `json:"offsets_at,omitempty"` // where partitions were at the moments that departures turn on
	Processes    []ProcessLife  `json:"processes,omitempty"`  // what the platform says of the consumers' processes
	Files        []FileKind     `json:"files,omitempty"`      // which kinds of files were read, whatever was in them
	LogEvents    []LogEvent     `json:"log_events,omitempty"`
	LogFiles     []LogFile      `json:"-"` // what was read of the log files of this run
	Configs      []ClientConfig `json:"configs,omitempty"`
	Declared     Declared       `json:"declared,omitzero"`
}

// FileKind is a kind of file that is read beside a cluster.
type FileKind string

// The kinds of files.
const (
	FileLog   FileKind = "log"    // of a client or a broker
	FileGCLog FileKind = "gc_log" // of a JVM
	FilePods  FileKind = "pods"   // what a platform says of processes
)

// LogFile says how much of a log file was read, and found in it.
type LogFile struct {
	Name          string
	Lines, Events int64
}

// Cluster says which cluster a Case speaks of.
type Cluster struct {
	ID                string `json:"id"`                 // Metadata ClusterId; "" where the broker gives none
	Context           string `json:"context"`            // name of the kgdiag context, or ""
	Bootstrap         string `json:"bootstrap"`          // the address list that was dialled
	Brokers           int    `json:"brokers"`            // brokers in Metadata
	Answered          int    `json:"answered"`           // brokers that answered what was asked of all
	OffsetsPartitions int32  `json:"offsets_partitions"` // of __consumer_offsets; 0 where the topic does not exist
	Platform          string `json:"platform,omitempty"` // "redpanda", "msk", … where it could be told
}

// Window is the span of time that was asked for and what the log holds of it.
type Window struct {
	From          Time `json:"from"`
	To            Time `json:"to"`
	CompleteSince Time `json:"complete_since"` // nothing was compacted away after this moment
}

// Gap is one thing that could not be read. Silence never means healthy: whatever
// a command would have shown and cannot is a Gap.
type Gap struct {
	Group string `json:"group,omitempty"` // "" where it concerns all groups
	Fact  Fact   `json:"fact"`
	What  string `json:"what"`  // the thing, in a reader's words
	Why   string `json:"why"`   // the error, in a reader's words
	Needs string `json:"needs"` // the ACL or version that would allow it; "" where nothing would
}

// Fact is a kind of knowledge. Rules declare the facts they need and a Gap names
// the fact that it is about.
type Fact string

// The kinds of facts, with the request or file they come from.
const (
	FactState        Fact = "state"         // DescribeGroups and its KIP-848, share and streams siblings
	FactMembers      Fact = "members"       // the same requests
	FactTimeouts     Fact = "timeouts"      // session and rebalance timeout: GroupMetadata records, group and broker config
	FactGeneration   Fact = "generation"    // GroupMetadata record, or GroupEpoch
	FactSubscription Fact = "subscription"  // member metadata
	FactAssignment   Fact = "assignment"    // member assignment
	FactLag          Fact = "lag"           // OffsetFetch and ListOffsets
	FactTopics       Fact = "topics"        // Metadata of the subscribed topics
	FactBrokerConfig Fact = "broker_config" // DescribeConfigs BROKER
	FactGroupConfig  Fact = "group_config"  // DescribeConfigs GROUP (Kafka 4.0)
	FactOffsetsTopic Fact = "offsets_topic" // Metadata of __consumer_offsets
	FactCoordinator  Fact = "coordinator"   // FindCoordinator
	FactGroups       Fact = "groups"        // ListGroups of a broker: which groups there are
	FactHistory      Fact = "history"       // Fetch of __consumer_offsets
	FactCommits      Fact = "commits"       // polls of OffsetFetch, where that is denied
	FactClientConfig Fact = "client_config" // configuration files
	FactClientLog    Fact = "client_log"    // log files
	FactDeclared     Fact = "declared"      // --batch-time, --record-time, --back-off, --gc-pause
	FactPollTime     Fact = "poll_time"     // longest time between two polls: declared, or seen in history or a log
	FactOffsetsAt    Fact = "offsets_at"    // ListOffsets by timestamp on the groups' topics
	FactClock        Fact = "clock"         // times of records against the time of reading them
	FactPause        Fact = "pause"         // longest pause of the process: declared, or seen in a GC log
)

// Source says where a fact about a group was read, and when.
type Source struct {
	Fact Fact   `json:"fact"`
	From string `json:"from"` // "coordinator", "__consumer_offsets", "group config", "broker 2 config", "case file", …
	At   Time   `json:"at"`   // when it was true: record timestamp, or time of the answer
}

// Declared is what the user said about the work, which no broker knows.
type Declared struct {
	BatchTime  *Millis `json:"batch_time_ms,omitempty"`  // longest time between two polls
	RecordTime *Millis `json:"record_time_ms,omitempty"` // time per record
	BackOff    *Millis `json:"back_off_ms,omitempty"`    // longest wait between two tries of a failed batch, spent between two polls
	GCPause    *Millis `json:"gc_pause_ms,omitempty"`    // longest pause of the whole process
	// BatchTimes are per group, from .kgdiag.yaml; they outrank BatchTime.
	BatchTimes map[string]Millis `json:"batch_times_ms,omitempty"`
}
