package inspect

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
	Length *Millis `json:"length_ms,omitempty"` // of a pause, an overrun, a session
	Text   string  `json:"text"`                // the line, at most 400 bytes, control characters replaced
}

// Position is a place in a file the user gave.
type Position struct {
	File string `json:"file"`
	Line int    `json:"line"` // from 1; 0 unknown
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
}

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
