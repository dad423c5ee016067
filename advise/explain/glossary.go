package explain

// glossary explains Kafka's words as kgdiag's output uses them.
var glossary = []Term{
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
	{"paused", []string{"PAUSED", "stopped_ms", "stopped_at_most_ms"}, "How long a rebalance kept members that stayed from their partitions: of the one that waited longest, from its rejoin to the new assignment. No record holds the rejoin, so it is given as an interval: at least the time after the last of them had rejoined, at most the time since their last commits. Before it rejoins a member works on, although the group is rebalancing.", []string{"rebalance", "cooperative"}},
	{"rebalance", nil, "Reassigning the partitions among the members because members, topics or subscriptions changed.", []string{"generation", "cooperative"}},
	{"rebalance timeout", []string{"rebalance.timeout.ms", "REBALANCE-MS"}, "How long the coordinator waits for members to rejoin. The longest of all members counts.", []string{"max.poll.interval.ms", "KGD106"}},
	{"session timeout", []string{"session.timeout.ms", "session", "SESSION-MS"}, "How long a member may go without a heartbeat before the coordinator evicts it from the group.", []string{"heartbeat", "KGD109"}},
	{"static membership", []string{"group.instance.id", "static member", "KIP-345"}, "A member with a group.instance.id keeps its place while it restarts, for as long as its session lasts.", []string{"static_member_restarted", "static_member_fenced"}},
}
