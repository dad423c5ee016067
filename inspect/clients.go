package inspect

import "strconv"

// LogEvent is something a client, broker or JVM wrote into its log.
type LogEvent struct {
	Time Time     `json:"time"` // zero where the line carries none
	Kind LogKind  `json:"kind"`
	From Position `json:"from"`

	Family     Family `json:"family,omitempty"`
	Version    string `json:"version,omitempty"` // of the client, where the log says it
	Group      string `json:"group,omitempty"`
	ClientID   string `json:"client_id,omitempty"`
	MemberID   string `json:"member_id,omitempty"`
	InstanceID string `json:"instance_id,omitempty"`
	Host       string `json:"host,omitempty"`
	Generation *int32 `json:"generation,omitempty"`
	Broker     *int32 `json:"broker,omitempty"`
	Error      string `json:"error,omitempty"` // Kafka error name, UPPER_SNAKE

	// Cause is the cause that the line states; "" where it states none.
	Cause  Cause   `json:"cause,omitempty"`
	Reason string  `json:"reason,omitempty"`    // the logged reason, verbatim, without secrets
	Length *Millis `json:"length_ms,omitempty"` // of a pause, an overrun, a wait
	Text   string  `json:"text"`                // the line, at most 400 bytes, control characters replaced

	// What else the line says of itself; each "" or null where it does not.
	Sign             Sign    `json:"sign,omitempty"`
	State            string  `json:"state,omitempty"`             // of the group or the member when it was written
	Limit            *Millis `json:"limit_ms,omitempty"`          // a limit in force: of polls, a session, a request
	Node             *int32  `json:"node,omitempty"`              // the broker that a client speaks of
	OffsetsPartition *int32  `json:"offsets_partition,omitempty"` // of __consumer_offsets
	API              string  `json:"api,omitempty"`               // the request, "JoinGroup"
	Topics           string  `json:"topics,omitempty"`            // subscribed, as logged
	Thread           string  `json:"thread,omitempty"`
	Process          string  `json:"process,omitempty"` // container or pod in front of the line
	// Quiet is the longest time in which the same process's group code wrote nothing since
	// its last join, of an eviction or a refused commit; null where the log has no line of
	// it before.
	Quiet *Millis `json:"quiet_ms,omitempty"`
}

// Sign says, more closely than the kind, which sentence of a library a line is, so
// that rules need not look at texts. The signs are those of clientlog's table of
// sentences; "" where a kind is all that is known.
type Sign string

// The signs that rules look at.
const (
	SignPreparing          Sign = "preparing"           // coordinator: a join phase begins
	SignStabilized         Sign = "stabilized"          // coordinator: the join phase is over
	SignMemberIDCreated    Sign = "member_id_created"   // coordinator: a new member was sent back with an id
	SignPendingRemoved     Sign = "pending_removed"     // coordinator: nobody came back with that id
	SignSessionExpired     Sign = "session_expired"     // coordinator: a member was put out
	SignRejoinTimeout      Sign = "rejoin_timeout"      // coordinator: a member did not rejoin in time
	SignAppendFailed       Sign = "append_failed"       // coordinator: group metadata could not be written
	SignLoadFailed         Sign = "load_failed"         // coordinator: a partition could not be loaded
	SignISRShrink          Sign = "isr_shrink"          // broker: replicas fell behind
	SignSessionLost        Sign = "session_lost"        // client: no answer within its session
	SignCoordinatorDead    Sign = "coordinator_dead"    // client: will look for the coordinator again
	SignUnreachable        Sign = "unreachable"         // client: no connection to an address
	SignConnectFailed      Sign = "connect_failed"      // client: the same, of any broker
	SignUnavailable        Sign = "unavailable"         // client: there is no coordinator now
	SignLoading            Sign = "loading"             // client: the coordinator loads
	SignDiscovered         Sign = "discovered"          // client: found the coordinator
	SignAlreadyRebalancing Sign = "already_rebalancing" // client: a heartbeat said so
	SignRebalanceTold      Sign = "rebalance_told"      // client: another request was refused for it
	SignRejoining          Sign = "rejoining"           // client: sends JoinGroup
	SignLeaving            Sign = "leaving"             // client: sends LeaveGroup
	SignUnknownMember      Sign = "unknown_member"      // client: the coordinator does not know it
	SignRevokeStart        Sign = "revoke_start"        // client: partitions are being given back
	SignRevokeEnd          Sign = "revoke_end"          // client: the callback is over
	SignCallbackTook       Sign = "callback_took"       // client: how long a callback was
	SignCallbackFailed     Sign = "callback_failed"     // client: the application's listener failed
	SignCallbackStart      Sign = "callback_start"      // librdkafka: handed a rebalance to the application
	SignCallbackPending    Sign = "callback_pending"    // the same, and nothing came back until the log ends
	SignJoinAnswered       Sign = "join_answered"       // client: the answer to JoinGroup
	SignSubscribed         Sign = "subscribed"          // client: to topics, as a member
	SignAssignedByHand     Sign = "assigned_by_hand"    // client: to partitions, as no member
	SignMetadataChanged    Sign = "metadata_changed"    // client: rejoins for new topics or partitions
	SignConfigBehind       Sign = "config_behind"       // Connect worker: its config topic lacks what the leader has
	SignConfigMismatch     Sign = "config_mismatch"     // Connect worker: the leader lacks the configuration that another reports
	SignConnectionClosed   Sign = "connection_closed"   // client: the other side closed its connection to the coordinator
	SignRequestTimeout     Sign = "request_timeout"     // client: gave a request up
	SignIOTimeout          Sign = "io_timeout"          // client: gave a connection up
	SignProcessingFailed   Sign = "processing_failed"   // framework: a record is tried again
	SignThrottledAge       Sign = "throttled_age"       // SmallRye: a record waited for too long
	SignRecordTooSlow      Sign = "record_too_slow"     // sarama: one message took too long
	SignForeignTopics      Sign = "foreign_topics"      // client: was assigned topics that it does not subscribe to
	SignConfigRefused      Sign = "config_refused"      // client: does not start with its settings
	SignOffsetsTopic       Sign = "offsets_topic"       // broker: __consumer_offsets cannot be created
	SignHeartbeatSent      Sign = "heartbeat_sent"      // client, debug
	SignCommitRefused      Sign = "commit_refused"      // client: CommitFailedException
	SignJoinStarted        Sign = "join_started"        // coordinator of Event Hubs
	SignVersionDropped     Sign = "version_dropped"     // broker: a request's version that it no longer has
	SignClaimExists        Sign = "claim_exists"        // sarama: the consumer of a partition before the rebalance was not closed
	SignClaimEnded         Sign = "claim_ended"         // framework on sarama: an error of its own ended a claim, and with it the session
	SignPoolClosed         Sign = "pool_closed"         // ClickHouse: closed consumers that nobody had used
	SignNoGroupID          Sign = "no_group_id"         // client: a commit without group.id
	SignIdleFewPartitions  Sign = "idle_few_partitions" // kafka-consumer-groups.sh: fewer partitions than members
	SignIdleSpread         Sign = "idle_spread"         // the same: partitions enough, and members without any
	SignNobodyReads        Sign = "nobody_reads"        // the same: lag, and no partition has a consumer
	SignUnowned            Sign = "unowned"             // the same: some partitions with lag have no consumer
	SignOneLags            Sign = "one_lags"            // the same: nearly all of the lag is in one partition, or in few
	SignRebalancingSeen    Sign = "rebalancing_seen"    // the same: the group is in a rebalance
	SignOffsetsLeaderless  Sign = "offsets_leaderless"  // kafka-topics.sh: a partition of __consumer_offsets has no leader
	SignOffsetsBelowMin    Sign = "offsets_below_min"   // the same: fewer replicas in sync than min.insync.replicas
	SignUnsupportedRange   Sign = "unsupported_range"   // client: no version of a request in common
)

// Position is a place in a file the user gave.
type Position struct {
	File string `json:"file"`
	Line int    `json:"line"` // from 1; 0 unknown
}

// String is "file:line", or the file alone where the line is unknown.
func (p Position) String() string {
	if p.Line > 0 {
		return p.File + ":" + strconv.Itoa(p.Line)
	}
	return p.File
}

// LogKind is the kind of a LogEvent.
type LogKind string

// The kinds.
const (
	LogRejoinRequested LogKind = "rejoin_requested"
	LogJoined          LogKind = "joined"
	LogLeft            LogKind = "left"
	LogEvicted         LogKind = "evicted"
	LogPollTimeout     LogKind = "poll_timeout"
	LogHeartbeatFailed LogKind = "heartbeat_failed"
	LogCommitFailed    LogKind = "commit_failed"
	LogCoordinatorLost LogKind = "coordinator_lost"
	LogFenced          LogKind = "fenced"
	LogRebalance       LogKind = "rebalance" // preparing, stabilised, assigned
	LogError           LogKind = "error"
	LogConfig          LogKind = "config" // a ConsumerConfig values: block was read into Case.Configs
	LogVersion         LogKind = "version"
	LogPause           LogKind = "pause" // JVM GC or safepoint, CPU throttling
	LogNote            LogKind = "note"  // nothing wrong by itself, but part of a sequence: a subscription, a retry
)

// ClientConfig is the configuration of one consumer, found in a file or a log.
type ClientConfig struct {
	Where   Position `json:"where"`
	Dialect string   `json:"dialect"` // "java", "librdkafka", "spring", …
	Name    string   `json:"name"`    // channel, connector, service, …; "" where the file holds one
	Family  Family   `json:"family"`
	// Framework is the program or library that holds the consumer and has defaults or
	// limits of its own, by its name in inspect/settings; "" none.
	Framework string    `json:"framework,omitempty"`
	Version   string    `json:"version"` // "" unknown: the newest known counts
	Assumed   bool      `json:"assumed"` // family or version was not told and is a default
	Group     string    `json:"group"`   // group.id in the file; "" unknown
	Profile   string    `json:"profile,omitempty"`
	Members   int       `json:"members,omitempty"` // members this configuration starts (listener concurrency, replicas); 0 unknown
	Settings  []Setting `json:"settings"`
	// Spellings say how this file would spell settings that it does not have, with
	// their path: canonical key to spelling. Keys left out are spelled as their client does.
	Spellings map[string]string `json:"spellings,omitempty"`
	// Problems are facts about the text itself: unknown and misplaced keys, duplicates.
	Problems []ConfigProblem `json:"problems,omitempty"`
	// Acts are what the text of a program does with its consumers; nil for other files.
	Acts []Act `json:"acts,omitempty"`
}

// Act is something that the text of a program does with a consumer, beside what it sets.
// It is read from the text, not from its flow: a call is there, whether it is reached is
// not known.
type Act struct {
	Kind     ActKind   `json:"kind"`
	Where    Position  `json:"where"`
	Call     string    `json:"call"`                // as written: "Thread.sleep", "consumer.assign"
	Consumer string    `json:"consumer,omitempty"`  // the variable; "" unknown
	Group    string    `json:"group,omitempty"`     // its group.id as the text gives it; an expression stands in parentheses
	Topics   string    `json:"topics,omitempty"`    // literals, separated by commas; "" unknown
	Length   *Millis   `json:"length_ms,omitempty"` // of a sleep or a timer
	Each     bool      `json:"each,omitempty"`      // once for each record, not once for each poll
	Other    *Position `json:"other,omitempty"`     // where the other end of it stands
}

// ActKind is the kind of an Act.
type ActKind string

// The kinds.
const (
	ActSubscribe       ActKind = "subscribe"            // joins the group for topics
	ActAssign          ActKind = "assign"               // takes partitions by itself, outside a rebalance callback
	ActBoth            ActKind = "assign_and_subscribe" // one consumer does both; Other is the subscribe
	ActCommit          ActKind = "commit"               // of a consumer that neither subscribes nor assigns
	ActSleep           ActKind = "sleep"                // between two polls
	ActRequest         ActKind = "request"              // a request over HTTP, between two polls
	ActDatabase        ActKind = "database"             // a call of a database, between two polls
	ActProcess         ActKind = "process"              // another program is run, between two polls
	ActBlocksLoop      ActKind = "blocks_event_loop"    // a blocking call where heartbeats are sent by the same event loop
	ActMadeOften       ActKind = "made_often"           // a consumer is made for each request, message or pass of a loop
	ActTimer           ActKind = "polled_by_timer"      // a timer polls; Length is its period
	ActNotClosed       ActKind = "not_closed"           // the program ends its loop and never closes the consumer
	ActShared          ActKind = "shared_by_threads"    // one consumer, several threads
	ActRandomGroup     ActKind = "random_group"         // group.id is made anew with each start
	ActNoAssign        ActKind = "callback_without_assign"
	ActPollsInCallback ActKind = "polls_in_callback"   // only the rebalance callback polls
	ActConsumedOnce    ActKind = "consumed_once"       // sarama's Consume is not called again
	ActPolledOnce      ActKind = "polled_once"         // subscribes and is polled once, not in a loop
	ActSeekEarly       ActKind = "seeks_early"         // seeks after subscribe and before a poll; Other is the subscribe
	ActCallbackDropped ActKind = "callback_dropped"    // a second subscribe without the callback of the first; Other is the first
	ActNeverCommits    ActKind = "never_commits"       // automatic commits are off, and nothing in the text commits
	ActCallbackSleeps  ActKind = "callback_sleeps"     // within a rebalance callback; Length is how long
	ActPausedWork      ActKind = "paused_without_poll" // pauses, works and resumes without a poll between
	ActPausedStream    ActKind = "stream_paused"       // Vert.x: no poll until resume; Length is how long
	ActResubscribes    ActKind = "subscribes_again"    // a subscription replaces the one before; Other is the earlier one
	ActBackOff         ActKind = "back_off"            // Spring waits so long between two tries, between two polls
	ActNoGroup         ActKind = "no_group"            // group.id is None
	ActMakes           ActKind = "makes_consumer"      // the one thing that is told of a text that makes a consumer and no more
	ActListens         ActKind = "rebalance_listener"  // wants to be told of rebalances
	ActNoSubscription  ActKind = "polls_unsubscribed"  // polls, and nothing in the text subscribes or assigns
	ActNotAwaited      ActKind = "subscribe_not_awaited"
	ActClaimTimer      ActKind = "claim_left_at_timer"  // sarama: ConsumeClaim returns at a timer, while the session goes on
	ActClaimError      ActKind = "claim_left_at_error"  // sarama: ConsumeClaim returns the error of a record
	ActCommitNoGroup   ActKind = "commit_without_group" // kafka-go: a Reader without GroupID, and a commit
	ActReaderNoCommit  ActKind = "reader_no_commit"     // kafka-go: a generation's Reader, and nothing commits
	ActStaticVersion   ActKind = "static_too_old"       // sarama: an InstanceId, and a Version without static members; Call is it
	ActOldVersion      ActKind = "protocol_too_old"     // the text asks for a protocol without groups; Call is it
	ActClaimRead       ActKind = "claim_read"           // sarama: reads the messages of a claim, and nothing in the text calls Consume
)

// Origin says how a setting came to its value.
type Origin string

// The origins.
const (
	OriginSet       Origin = "set"
	OriginInherited Origin = "inherited" // from a wider prefix, profile or document
	OriginDefault   Origin = "default"   // of that client and version
	OriginFlag      Origin = "flag"      // --set
)

// Setting is one consumer setting under its Java name.
type Setting struct {
	Key       string    `json:"key"`                // canonical: the Java client's dotted name
	Spelled   string    `json:"spelled"`            // as the reader's file spells it, with its path: what a fix must name
	Value     string    `json:"value"`              // as text; "" for secrets, which are never kept
	Raw       string    `json:"raw,omitempty"`      // as the file writes a duration, where Value is its number of milliseconds: "12m", "PT12M"
	Millis    *Millis   `json:"value_ms,omitempty"` // parsed, for durations, whatever the dialect's unit
	Where     Position  `json:"where"`
	Origin    Origin    `json:"origin"`
	Overrides *Position `json:"overrides,omitempty"` // an earlier value that lost
}

// ConfigProblem is something wrong with the text of a configuration.
type ConfigProblem struct {
	Kind    string   `json:"kind"` // "unknown_key", "broker_key", "producer_key", "wrong_prefix", "duplicate_key", "not_a_number", "lost_value", …
	Where   Position `json:"where"`
	Key     string   `json:"key"`
	Of      string   `json:"of,omitempty"`      // the setting, under its Java name, whose value is not known: it is set, so that no default holds
	Nearest string   `json:"nearest,omitempty"` // the key that was probably meant
	Value   string   `json:"value,omitempty"`   // of a key that was probably meant otherwise; "" for secrets
	Message string   `json:"message"`
}

// Get finds a setting by canonical key.
func (c *ClientConfig) Get(key string) (Setting, bool) {
	for _, s := range c.Settings {
		if s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}
