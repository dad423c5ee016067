package cmd

import "github.com/kgdiag/kgdiag/inspect"

// causeDoc explains a cause: what was seen, what stands behind it, what to do.
type causeDoc struct {
	Cause inspect.Cause `json:"cause"`
	Seen  string        `json:"seen"`
	Means string        `json:"means"`
	Do    string        `json:"do"`
}

// causeDocs covers the whole vocabulary; a test holds that.
var causeDocs = map[inspect.Cause]causeDoc{
	inspect.MemberJoined: {Seen: "A member that the group did not have before is in it.",
		Means: "A process started, or one that had been put out came back: then the line says after how long, and the cause lies in the earlier departure.",
		Do:    "Nothing for a planned start. For a return, look at the departure."},
	inspect.MemberLeft: {Seen: "A member is gone at once, without the wait of a timeout.",
		Means: "It sent LeaveGroup: the process closed its consumer or unsubscribed. A clean shutdown looks like this.",
		Do:    "Nothing if it was meant. Against the two rebalances of a restart, give it a group.instance.id."},
	inspect.SessionExpired: {Seen: "A member is gone after a session timeout without a sign of life.",
		Means: "No heartbeat came for session.timeout.ms: the process crashed, stood still (garbage collection, no CPU), lost its network, or closed without LeaveGroup. These look alike from the broker's side; whether it came back, and as which process, tells more.",
		Do:    "A crash: look at the process. A pause: make the session longer than the pause (KGD103)."},
	inspect.SyncPhaseExpired: {Seen: "A member of a cooperative group was put out while it was rejoining.",
		Means: "It polls more slowly than its session timeout: the broker waits for its SyncGroup for the session only, and poll() is what sends it.",
		Do:    "Raise session.timeout.ms above the time between two polls, or poll more often."},
	inspect.PollIntervalExceeded: {Seen: "A member left by itself, one max.poll.interval.ms after its last progress.",
		Means: "The application did not call poll() in time: its work on one batch took longer. Heartbeats went on, so the session is not the reason.",
		Do:    "Raise max.poll.interval.ms, or lower max.poll.records (KGD105)."},
	inspect.RestartedWithinSession: {Seen: "A new member came while the old one of the same client and host had not expired yet.",
		Means: "A process ended without LeaveGroup and started again within its session timeout. The old member's partitions stand still until it expires.",
		Do:    "Close the consumer on shutdown, or use a group.instance.id."},
	inspect.RollingRestart: {Seen: "Several members were replaced one after another.",
		Means: "A deployment. Each replacement costs the group one or two rebalances.",
		Do:    "Nothing; static membership makes it quieter."},
	inspect.StaticMemberRestarted: {Seen: "A group.instance.id has a new member id, in the same generation.",
		Means: "A static member restarted within its session timeout and got its partitions back without a rebalance (KIP-345).",
		Do:    "Nothing: this is what static membership is for."},
	inspect.StaticMemberFenced: {Seen: "A group.instance.id changes its member id again and again, or a log says FENCED_INSTANCE_ID.",
		Means: "Two running processes use one group.instance.id. Each start puts the other out.",
		Do:    "Give each process an id of its own (a StatefulSet's pod name)."},
	inspect.SubscriptionChanged: {Seen: "A member subscribes to other topics than before.",
		Means: "The application changed its subscription, or a new version of it came.",
		Do:    "Nothing if it was meant. Members of one group should subscribe to the same topics."},
	inspect.TopicMetadataChanged: {Seen: "The topics behind the subscriptions changed.",
		Means: "Partitions were added, a topic was created or deleted, or a pattern began to match another topic.",
		Do:    "Nothing; a narrower pattern avoids surprises."},
	inspect.AssignorChanged: {Seen: "The group uses another assignor than before.",
		Means: "The members' common assignor changed, as in a migration from eager to cooperative.",
		Do:    "Nothing if it was meant."},
	inspect.ProtocolChanged: {Seen: "The group went from the classic to the consumer protocol (KIP-848), or back.",
		Means: "The first member of the other protocol joined, or the last one left.",
		Do:    "Nothing if it was meant."},
	inspect.AssignmentFailed: {Seen: "Generations are missing: join rounds ended without an assignment.",
		Means: "The group's leader did not send the assignment in time, or the coordinator could not write it: __consumer_offsets has too few in-sync replicas.",
		Do:    "Look at the leader's process first, then at KGD302."},
	inspect.CoordinatorMoved: {Seen: "The group's partition of __consumer_offsets has another leader.",
		Means: "A broker stopped, or leadership moved. Members find the new coordinator by themselves, mostly without a rebalance.",
		Do:    "Look at the broker if it was not planned."},
	inspect.RejoinTimedOut: {Seen: "A member held the join phase up to its rebalance timeout, and was then left behind.",
		Means: "It did not rejoin because it did not poll; everybody waited for it.",
		Do:    "Shorten its work between two polls, or the timeout (KGD106)."},
	inspect.GroupEmptied: {Seen: "The last member is gone.", Means: "Nobody reads. Offsets stay for offsets.retention.minutes.", Do: "Nothing if it was meant."},
	inspect.GroupDeleted: {Seen: "The group's metadata record was deleted.",
		Means: "Somebody deleted the group, or all of its offsets expired while it was empty.", Do: "Nothing if it was meant; a consumer that comes back starts from auto.offset.reset."},
	inspect.UnknownCause: {Seen: "The evidence fits several causes, or none.",
		Means: "kgdiag names what it could not tell apart rather than guess.", Do: "Add --log with a client's or the broker's log: it states the cause."},
}

// glossaryDoc is one of Kafka's words.
type glossaryDoc struct {
	Word string   `json:"word"`
	Also []string `json:"also"`
	Text string   `json:"text"`
	See  []string `json:"see"`
}

// glossary explains Kafka's words as kgdiag's output uses them.
var glossary = []glossaryDoc{
	{"assignor", []string{"partition.assignment.strategy", "assignment strategy"}, "How partitions are shared out among members: range, roundrobin, sticky and cooperative-sticky run in the leader's client under the classic protocol; uniform and range run in the broker under the consumer protocol.", []string{"cooperative", "leader"}},
	{"classic protocol", []string{"classic"}, "The group protocol of all clients before KIP-848: members join, one of them computes the assignment, and all stop while they do.", []string{"consumer protocol", "generation"}},
	{"consumer protocol", []string{"KIP-848", "group.protocol"}, "The group protocol of Kafka 4.0 (group.protocol=consumer): the broker computes assignments and moves partitions one by one, so that nobody else stops.", []string{"epoch", "classic protocol"}},
	{"cooperative", []string{"incremental rebalance", "eager"}, "A cooperative assignor takes only the partitions that move and lets the rest run on, in two join rounds. An eager one takes all partitions from all members first.", []string{"assignor"}},
	{"coordinator", []string{"group coordinator"}, "The broker that keeps a group: the leader of the group's partition of __consumer_offsets. Members send heartbeats and commits to it.", []string{"offsets topic"}},
	{"epoch", []string{"group epoch", "member epoch", "assignment epoch"}, "Under the consumer protocol, the number that grows with each change of the group; a member has converged when its epoch is the group's.", []string{"generation", "consumer protocol"}},
	{"generation", nil, "Under the classic protocol, the number of the current membership. Each completed join round adds one; commits of an older generation are refused.", []string{"epoch", "rebalance"}},
	{"heartbeat", []string{"heartbeat.interval.ms"}, "The sign of life that a member sends to its coordinator. In most clients a thread of its own sends it, so it says nothing about the work.", []string{"session timeout"}},
	{"lag", nil, "How many records lie between a group's committed offset and the end of a partition.", nil},
	{"leader", []string{"group leader"}, "Under the classic protocol, the member whose client computes the assignment for all.", []string{"assignor"}},
	{"max.poll.interval.ms", []string{"poll interval", "max poll interval"}, "How long a Java, librdkafka or Python consumer may go without poll() before it leaves the group by itself. It is also the rebalance timeout that it asks for.", []string{"rebalance timeout", "KGD105"}},
	{"member", nil, "One consumer in a group. A process may hold several.", []string{"static membership"}},
	{"offsets topic", []string{"__consumer_offsets"}, "The compacted topic in which coordinators keep group metadata and committed offsets. kgdiag reads history from it.", []string{"coordinator"}},
	{"rebalance", nil, "Sharing the partitions out anew because members, topics or subscriptions changed.", []string{"generation", "cooperative"}},
	{"rebalance timeout", []string{"rebalance.timeout.ms"}, "How long the coordinator waits for members to rejoin. The longest of all members counts.", []string{"max.poll.interval.ms", "KGD106"}},
	{"session timeout", []string{"session.timeout.ms", "session"}, "How long a member may go without a heartbeat before the coordinator puts it out of the group.", []string{"heartbeat", "KGD109"}},
	{"static membership", []string{"group.instance.id", "static member", "KIP-345"}, "A member with a group.instance.id keeps its place while it restarts, for as long as its session lasts.", []string{"static_member_restarted", "static_member_fenced"}},
}
