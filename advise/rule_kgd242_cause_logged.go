package advise

import "github.com/kgdiag/kgdiag/inspect"

var _ = register(Rule{
	ID: "KGD242", Name: "cause-logged", Severity: Error, Since: "v0.3.0", Scope: PerLog,
	Needs: []inspect.Fact{inspect.FactClientLog},
	Doc: Doc{
		Summary: "A line of a program, or the output of kafka-consumer-groups.sh, names a cause that lies in the program or in how many consumers it has.",
		Why: "What makes a group rebalance, or leaves a partition unread, is often told by the program that holds the client and not by the client: a record that cannot be decoded ends a session, a pool closes its consumers, " +
			"a consumer from before the rebalance was not closed, members outnumber partitions.",
		Fix:   "Mend what the line names.",
		Price: "none",
		Refs:  []string{"log statements of ClickHouse and the OpenTelemetry collector", "sarama ConsumerGroupHandler", "kafka-consumer-groups.sh --describe"},
	},
	Check: func(s *Subject, report func(Finding)) { s.tellTroubles(causes, report) },
})

// causes are the kinds of lines, by their signs, that are no symptom of another fault.
var causes = []trouble{
	{signIs(inspect.SignClaimExists), Warning, false, "sarama was asked for a partition that an earlier consumer of the same process still reads: the claims before the rebalance were not closed, so the next session fails and the group rebalances again",
		"Wait until every partition consumer or claim has ended before the next session begins, and use one Consumer a group; sarama-cluster is no longer maintained, sarama's own ConsumerGroup does this."},
	{signIs(inspect.SignClaimEnded), Info, true, "sarama reports an error of a claim: one that ConsumeClaim returned ends the session of all claims, so that Consume has to be called again and the group rebalances; one of fetching is tried again",
		"Let ConsumeClaim handle the error of a record (try again, or put it aside and mark it) instead of returning it."},
	{signIs("undecoded"), Warning, false, "the receiver cannot decode a record: where that error ends its claim, the session ends with it, the group rebalances, and the same record is read again",
		"Make the encoding of the receiver the one of the topic; let it pass over such records (message_marking: after and on_error), and upgrade: later collectors go on with the next record where it is marked."},
	{signIs(inspect.SignPoolClosed), Warning, false, "ClickHouse closed consumers that it had not used for kafka_consumers_pool_ttl_ms (60 s by default): the member leaves the group, and comes back with the next read, a rebalance each time",
		"Raise kafka_consumers_pool_ttl_ms above the time between two reads of the table, or let a materialized view read it all the time."},
	{signIs("empty_assignment"), Info, false, "a consumer was assigned no partition: the group has more consumers than the topic has partitions, all servers and tables with this kafka_group_name counted",
		"Make the sum of kafka_num_consumers of the group at most the number of partitions."},
	{signIs("no_assignment"), Warning, false, "ClickHouse's consumer waited 15 s and was assigned no partition: the group's rebalance has not ended, as when members of a process that is gone have not yet expired, or there are more consumers than partitions",
		"Look at the members of the group (kgdiag describe); those of an earlier process expire with their session.timeout.ms."},
	{signIs("mark_dirty"), Warning, false, "ClickHouse could not read, parse or write a block, so its consumer gives the records up and subscribes anew: the group rebalances with each failure, and nothing is committed",
		"Look at the error that the server's log names before it (too many parts, a view, the format): that is what has to be mended; kafka_skip_broken_messages passes over records that cannot be parsed."},
	{signIs(inspect.SignNoGroupID), Warning, false, "kafka-go refuses to commit since the Reader has no GroupID: with Partition or without a group it reads by itself, and nothing is committed",
		"Set GroupID (and leave Partition out) in ReaderConfig, or do not commit."},
	{signIs(inspect.SignNobodyReads), Warning, false, "at the moment of this output no consumer had any partition of the group, and records wait: its consumers are stopped, cannot join, use another group.id, or assign partitions by themselves",
		"Look at the log of a consumer that should be in the group; with kafka-consumer-groups.sh --members or kgdiag describe see who is."},
	{signIs(inspect.SignUnowned), Warning, false, "partitions with lag have no consumer, while others of the group have one: members subscribe to different topics, or a rebalance was under way at that moment",
		"Ask again; where it stays, compare the subscriptions of the members (kgdiag describe)."},
	{signIs(inspect.SignOneLags), Warning, false, "nearly all of the lag is in few partitions: their consumers hang at a record or are slower, or the records' keys are skewed",
		"Look at the log of those partitions' consumers, and whether its committed offset moves (kgdiag describe)."},
	{signIs(inspect.SignIdleFewPartitions), Warning, false, "members have no partition, since the topics have fewer partitions than the group has members: a partition has one consumer of a group at a time",
		"Add partitions, or run fewer consumers; the others only stand by."},
	{signIs(inspect.SignIdleSpread), Warning, false, "members have no partition though there are enough: the range assignor gives the first partitions of each topic to the same members, or members subscribe to different topics",
		"Use an assignor that spreads all topics together (roundrobin, sticky, cooperative-sticky) in all members, or see whether they subscribe to the same topics."},
	{signIs(inspect.SignRebalancingSeen), Info, true, "the group was in a rebalance at the moment of this output: where each look shows it, a member does not rejoin, or members come and go",
		"Look at the coordinator's log for who joins, leaves or is evicted; a rebalance waits for its slowest member, at most for the longest rebalance timeout."},
	{signIs(inspect.SignOffsetsLeaderless), Error, false, "partitions of __consumer_offsets have no leader: the groups that they hold have no coordinator",
		"Bring the brokers of these partitions back, or move the partitions to others (kafka-reassign-partitions.sh)."},
	{signIs(inspect.SignOffsetsBelowMin), Error, false, "__consumer_offsets has fewer replicas in sync than min.insync.replicas asks for: the coordinator can store neither commits nor assignments, and joins fail",
		"Give __consumer_offsets more replicas, bring those that are out of sync back, or lower its min.insync.replicas to at most the number of replicas."},
}
