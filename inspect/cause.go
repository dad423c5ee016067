package inspect

import (
	"cmp"
	"strings"
)

// Cause is why a group rebalanced: kgdiag's stable vocabulary.
type Cause string

// The causes. The doc of each says what was seen, not what is suspected behind it;
// the table behind them says all else.
const (
	MemberJoined           Cause = "member_joined"
	MemberLeft             Cause = "member_left"              // LeaveGroup: a clean close or an unsubscribe
	SessionExpired         Cause = "session_expired"          // no heartbeat for the session timeout; see Returned
	SyncPhaseExpired       Cause = "sync_phase_expired"       // a cooperative slow poller expired while it rejoined
	PollIntervalExceeded   Cause = "poll_interval_exceeded"   // left by itself: no poll for max.poll.interval.ms
	RestartedWithinSession Cause = "restarted_within_session" // a new member came before the old one had expired
	RollingRestart         Cause = "rolling_restart"          // several members replaced one after another
	StaticMemberRestarted  Cause = "static_member_restarted"
	StaticMemberFenced     Cause = "static_member_fenced" // two processes share one group.instance.id
	SubscriptionChanged    Cause = "subscription_changed"
	TopicMetadataChanged   Cause = "topic_metadata_changed" // partitions added, or a pattern matches another topic
	AssignorChanged        Cause = "assignor_changed"
	ProtocolChanged        Cause = "protocol_changed"  // classic to consumer or back
	AssignmentFailed       Cause = "assignment_failed" // generations skipped: the leader never synced, or the append failed
	CoordinatorMoved       Cause = "coordinator_moved"
	RejoinTimedOut         Cause = "rejoin_timed_out" // a member held the join phase up to its rebalance timeout
	GroupEmptied           Cause = "group_emptied"
	GroupDeleted           Cause = "group_deleted"
	UnknownCause           Cause = "unknown"
)

// CauseInfo is all that kgdiag knows of a cause by itself, whatever the group.
type CauseInfo struct {
	Cause Cause
	// Weight orders the causes, 1 and up, the heaviest first in a verdict. Every cause
	// has a weight of its own.
	Weight int
	Acts   bool // somebody has to do something about it; such causes outweigh all others
	Evicts bool // a member was evicted, or left because it was too slow
	// Departs: a log line that states it may be about the departure of one member.
	Departs   bool
	Planned   bool // the visible side of a change that somebody made
	Prevented Prevention
	// Seen, Means and Do are what explain says: what was seen, what stands behind it,
	// what to do.
	Seen, Means, Do string
	Words           CauseWords
	Name            string // as a sentence names it beside others
}

// CauseWords are the sentences of a cause, lower case and without a full stop. What
// stands in braces is filled in: {who} the member, {times} " 3 times" or nothing,
// {poll}, {session} and {rebalance} the timeouts with their values, {back} how it came
// back, {first} the first piece of evidence, {joined} who joined.
type CauseWords struct {
	Member  string // of one member's departure; "" where it never is one
	Again   string // the same, seen several times; "" as Member
	InBatch string // the same, where it commits every record; "" as Member
	Group   string // of the group as a whole; "" as Seen
}

// Prevention is the setting that would have kept a departed member in the group.
type Prevention string

// The preventions; "" means that none is known.
const (
	ByPollInterval     Prevention = "poll_interval" // a longer max.poll.interval.ms
	BySession          Prevention = "session"       // a session that outlasts the silence
	ByPollingInSession Prevention = "sync_session"  // a session that outlasts the time between two polls
	ByStaticMembership Prevention = "static"        // a group.instance.id
)

// causes is the table, in the order of the vocabulary.
//
// Of the weights: a member that holds a rebalance up until its timeout stops the whole
// group for that long, an expired session the member's own partitions alone; so
// rejoin_timed_out outweighs session_expired. A move of the coordinator explains the
// restarts that come with it, so it outweighs them.
var causes = []CauseInfo{
	{Cause: MemberJoined, Name: "a new member", Weight: 1,
		Seen:  "A member that the group did not have before is in it.",
		Means: "A process started, or an evicted member came back: then the line says after how long, and the cause lies in the earlier departure.",
		Do:    "Nothing for a planned start. For a return, look at the departure.",
		Words: CauseWords{Group: "members joined: {joined}"}},
	{Cause: MemberLeft, Name: "a clean close", Weight: 9, Departs: true, Prevented: ByStaticMembership,
		Seen:  "A member is gone at once, without the wait of a timeout.",
		Means: "It sent LeaveGroup: the process closed its consumer or unsubscribed. A clean shutdown looks like this.",
		Do:    "Nothing if it was meant. Against the two rebalances of a restart, give it a group.instance.id.",
		Words: CauseWords{Member: "{who} left by itself: a clean shutdown, or an unsubscribe",
			Again: "{who} keeps leaving by itself,{times}: clean shutdowns, or unsubscribes"}},
	{Cause: SessionExpired, Name: "an expired session", Weight: 16, Acts: true, Evicts: true, Departs: true, Prevented: BySession,
		Seen:  "A member is gone after a session timeout without a sign of life.",
		Means: "No heartbeat came for session.timeout.ms: the process crashed, paused (garbage collection, no CPU), lost its network, or closed without LeaveGroup. These look alike from the broker's side; whether it came back, and as which process, narrows it down.",
		Do:    "A crash: look at the process. A pause: make the session longer than the pause (KGD201; KGD103 from a GC log).",
		Words: CauseWords{Member: "{who} sent no heartbeat for {session} and was evicted{times}; {back}"}},
	{Cause: SyncPhaseExpired, Name: "a session that expired in a rejoin", Weight: 17, Acts: true, Evicts: true, Departs: true, Prevented: ByPollingInSession,
		Seen:  "A member of a cooperative group was evicted while it was rejoining.",
		Means: "It polls more slowly than its session timeout: the broker waits for its SyncGroup for the session only, and poll() is what sends it.",
		Do:    "Raise session.timeout.ms above the time between two polls, or poll more often.",
		Words: CauseWords{Member: "{who} polls more slowly than {session}: it was evicted{times} while it rejoined"}},
	{Cause: PollIntervalExceeded, Name: "an exceeded poll interval", Weight: 19, Acts: true, Evicts: true, Departs: true, Prevented: ByPollInterval,
		Seen:  "A member left by itself, one max.poll.interval.ms after its last progress.",
		Means: "The application did not call poll() in time: its work on one batch took longer. Heartbeats went on, so the session is not the reason.",
		Do:    "Raise max.poll.interval.ms, or lower max.poll.records (KGD105).",
		Words: CauseWords{Member: "{who} needs longer between polls than {poll}; it left the group{times}, and its rejoin triggered another rebalance",
			InBatch: "{who} needs longer for a batch than {poll}, although it commits every record; it left the group{times}, and its rejoin triggered another rebalance"}},
	{Cause: RestartedWithinSession, Name: "a restart within the session", Weight: 12, Acts: true, Departs: true, Prevented: BySession,
		Seen:  "A new member came while the old one of the same client and host had not expired yet.",
		Means: "A process ended without LeaveGroup and started again within its session timeout. The old member's partitions are not consumed until it expires.",
		Do:    "Close the consumer on shutdown, or use a group.instance.id.",
		Words: CauseWords{Member: "{who} ended without LeaveGroup and was started again within {session}{times}; its partitions were not consumed until the old session expired"}},
	{Cause: RollingRestart, Name: "a rolling restart", Weight: 8, Planned: true, Prevented: ByStaticMembership,
		Seen:  "Several members were replaced one after another.",
		Means: "A deployment. Each replacement costs the group one or two rebalances.",
		Do:    "Nothing; static membership makes it quieter.",
		Words: CauseWords{Group: "a rolling restart: {first}"}},
	{Cause: StaticMemberRestarted, Name: "a restart of a static member", Weight: 3, Planned: true,
		Seen:  "A group.instance.id has a new member id, in the same generation.",
		Means: "A static member restarted within its session timeout and got its partitions back without a rebalance (KIP-345).",
		Do:    "Nothing: this is what static membership is for."},
	{Cause: StaticMemberFenced, Name: "a fenced static member", Weight: 15, Acts: true, Departs: true,
		Seen:  "A group.instance.id changes its member id again and again, or a log says FENCED_INSTANCE_ID.",
		Means: "Two running processes use one group.instance.id. Each one that joins fences the other.",
		Do:    "Give each process an id of its own (a StatefulSet's pod name).",
		Words: CauseWords{Member: "{who} was fenced{times} by another process with the same group.instance.id"}},
	{Cause: SubscriptionChanged, Name: "a changed subscription", Weight: 6,
		Seen:  "A member subscribes to other topics than before.",
		Means: "The application changed its subscription, or a new version of it came.",
		Do:    "Nothing if it was meant. Members of one group should subscribe to the same topics."},
	{Cause: TopicMetadataChanged, Name: "changed topics", Weight: 7,
		Seen:  "The topics behind the subscriptions changed.",
		Means: "Partitions were added, a topic was created or deleted, or a pattern began to match another topic.",
		Do:    "Nothing; a narrower pattern avoids surprises."},
	{Cause: AssignorChanged, Name: "a changed assignor", Weight: 5,
		Seen:  "The group uses another assignor than before.",
		Means: "The members' common assignor changed, as in a migration from eager to cooperative.",
		Do:    "Nothing if it was meant."},
	{Cause: ProtocolChanged, Name: "a changed protocol", Weight: 4, Planned: true,
		Seen:  "The group went from the classic to the consumer protocol (KIP-848), or back.",
		Means: "The first member of the other protocol joined, or the last one left.",
		Do:    "Nothing if it was meant."},
	{Cause: AssignmentFailed, Name: "a failed assignment", Weight: 14, Acts: true,
		Seen:  "Generations are missing: join rounds ended without an assignment.",
		Means: "The group's leader did not send the assignment in time, or the coordinator could not write it: __consumer_offsets has too few in-sync replicas.",
		Do:    "Look at the leader's process first, then at KGD302."},
	{Cause: CoordinatorMoved, Name: "a moved coordinator", Weight: 13, Acts: true,
		Seen:  "The group's partition of __consumer_offsets has another leader.",
		Means: "A broker stopped, or leadership moved. Members find the new coordinator by themselves, mostly without a rebalance.",
		Do:    "Look at the broker if it was not planned.",
		Words: CauseWords{Member: "{who} left while the coordinator moved, which restarts every session: silence proves nothing"}},
	{Cause: RejoinTimedOut, Name: "a rejoin that timed out", Weight: 18, Acts: true, Evicts: true, Departs: true, Prevented: ByPollInterval,
		Seen:  "A member held the join phase up to its rebalance timeout, and was then left behind.",
		Means: "It did not rejoin because it did not poll; all members waited for it.",
		Do:    "Shorten its work between two polls, or the timeout (KGD106).",
		Words: CauseWords{Member: "{who} held the rebalance up until its rebalance timeout ({rebalance}) and was left behind{times}"}},
	{Cause: GroupEmptied, Name: "an emptied group", Weight: 10,
		Seen:  "The last member is gone.",
		Means: "Nobody consumes. Offsets stay for offsets.retention.minutes.",
		Do:    "Nothing if it was meant."},
	{Cause: GroupDeleted, Name: "a deleted group", Weight: 2, Planned: true,
		Seen:  "The group's metadata record was deleted.",
		Means: "The group was deleted, or all of its offsets expired while it was empty.",
		Do:    "Nothing if it was meant; a consumer that comes back starts from auto.offset.reset."},
	{Cause: UnknownCause, Name: "another cause", Weight: 11, Acts: true,
		Seen:  "The evidence fits several causes, or none.",
		Means: "kgdiag lists the causes that fit rather than guess one.",
		Do:    "Add --log with a client's or the broker's log: it states the cause."},
}

// Causes lists the vocabulary in the order of the design.
func Causes() []Cause {
	out := make([]Cause, len(causes))
	for i := range causes {
		out[i] = causes[i].Cause
	}
	return out
}

// Info is the cause's row of the table; the zero CauseInfo for a word that is no cause.
func (c Cause) Info() CauseInfo {
	for i := range causes {
		if causes[i].Cause == c {
			return causes[i]
		}
	}
	return CauseInfo{}
}

// Label is the cause's one name in words, without an article: "expired session".
func (c Cause) Label() string {
	if c == UnknownCause {
		return string(c)
	}
	name := c.Info().Name
	for _, article := range []string{"a ", "an "} {
		if rest, ok := strings.CutPrefix(name, article); ok {
			return rest
		}
	}
	return cmp.Or(name, string(c))
}

// CauseNames are causes as a sentence names them: "an expired session, a clean close".
func CauseNames(causes []Cause) string {
	names := make([]string, len(causes))
	for i, c := range causes {
		names[i] = c.Info().Name
	}
	return strings.Join(names, ", ")
}

// ParseCause reads a cause as documents spell it, or its name in words as screens do.
func ParseCause(word string) (Cause, bool) {
	for _, c := range Causes() {
		if string(c) == word || strings.EqualFold(c.Label(), word) || strings.EqualFold(c.Info().Name, word) {
			return c, true
		}
	}
	return "", false
}

// Eviction reports whether the cause is an evicted member, as --fail-on eviction means it.
func (c Cause) Eviction() bool { return c.Info().Evicts }

// Sentence picks the words for what happened to one member, or to the group as a whole:
// times is how often, inBatch whether each record of the batch was committed.
func (i CauseInfo) Sentence(member bool, times int, inBatch bool) string {
	w := i.Words
	switch {
	case !member && w.Group != "":
		return w.Group
	case !member:
		return i.Seen
	case inBatch && w.InBatch != "":
		return w.InBatch
	case times > 1 && w.Again != "":
		return w.Again
	case w.Member != "":
		return w.Member
	case w.Group != "":
		return w.Group
	}
	return unexplained
}

// unexplained is said of a member whose departure nothing read explains.
const unexplained = "{who} left{times}; the cause is not in what was read"

// FillIn puts values into the braces of a sentence: FillIn(s, "who", "client a", …).
func FillIn(sentence string, pairs ...string) string {
	filled := make([]string, len(pairs))
	for i := range pairs {
		filled[i] = pairs[i]
		if i%2 == 0 {
			filled[i] = "{" + pairs[i] + "}"
		}
	}
	return strings.NewReplacer(filled...).Replace(sentence)
}
