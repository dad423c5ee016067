package explain

// screenWords explains what kgdiag's screens say of a group and of a cause, and the
// states that Kafka gives a group.
var screenWords = []Term{
	{"HEALTHY", nil, "Verdict: the group did not rebalance in the time looked at.", []string{"UNSTABLE"}},
	{"OK", nil, "Verdict: the group rebalanced, but for no reason on which to act, such as a deployment.", []string{"UNSTABLE"}},
	{"UNSTABLE", nil, "Verdict: in the time looked at members were evicted, left because they were too slow, or left for an unknown reason. The group may be Stable at the moment.", []string{"Stable", "session_expired", "poll_interval_exceeded"}},
	{"STUCK", nil, "Verdict: a rebalance has been under way for long and has not ended.", []string{"PreparingRebalance", "rebalance timeout"}},
	{"EMPTY", nil, "The group has no members; its committed offsets are kept for offsets.retention.minutes.", []string{"group_emptied"}},
	{"GONE", []string{"NOT FOUND"}, "Verdict: the log holds a past of the group, but no broker has it now.", []string{"group_deleted"}},
	{"confidence", []string{"HOW SURE", "CONF", "observed", "high", "medium", "low", "very likely", "likely", "possible"}, "How sure a cause is: high (very likely; of a finding: no word), medium (likely), low (possible); observed where a member is there to be seen. What the evidence leaves open stands below as \"could also be\".", []string{"inferred", "stated"}},
	{"inferred", nil, "The cause follows from timings in the log, such as the gap between the last commit and the departure. A client's or the coordinator's log would confirm it (--log).", []string{"stated"}},
	{"stated", nil, "A log line or a record names the cause, or the platform says how the process ended (--pods).", []string{"inferred"}},
	{"NOT CONSUMED", nil, "How long the partitions of departed members were consumed by no member: from the last commit to the next owner.", []string{"paused"}},
	{"NOT CHECKED", []string{"unchecked"}, "Rules whose facts were not read, with what would make them checked. Nothing is known of them.", nil},
	{"AT RISK", []string{"OVERDUE"}, "A member has not committed for half of its poll interval or more while its lag grows; it leaves the group at the time shown unless it polls. OVERDUE: that time has passed.", []string{"poll_interval_exceeded"}},
	{"MAX POLL", nil, "Column of describe: a member's rebalance timeout, where the client sends max.poll.interval.ms as such (Java, librdkafka). Where a library is not known for sure the column is called REBALANCE TIMEOUT.", []string{"rebalance timeout", "max.poll.interval.ms"}},
	{"SILENT", []string{"LAST COMMIT", "LEFT", "REJOINED", "OUT FOR"}, "Columns of why. SILENT: how long after its last commit a member left; OUT FOR: how long after it had left it rejoined. A range means that no record holds the moment.", nil},
	{"BETWEEN POLLS", []string{"WITHOUT COMMIT"}, "Column of why: from a member's last commit to its return; of a member that overran its poll interval, at least so long did it not poll.", []string{"poll_interval_exceeded"}},
	{"CONVERGED", []string{"LAST"}, "Columns of history, consumer protocol: how long after the new epoch the last member had its assignment, and which member that was.", []string{"epoch", "consumer protocol"}},
	{"WHO", nil, "Column of history: -left, +joined, =replaced by a new process; client id or instance id, then @host.", nil},
	{"REBALANCES", []string{"REBAL"}, "Column of why without a group: rebalances in the time looked at.", nil},
	{"EVICTIONS", []string{"EVICT"}, "Column of why without a group: departures of members that were evicted or had to leave: session expired, poll interval exceeded, sync or rejoin too late.", []string{"session_expired", "poll_interval_exceeded"}},
	{"AGREEMENT", nil, "Column of locate: whether the brokers name the coordinator that the hash of the group id gives.", []string{"coordinator"}},
	{"trade-off", []string{"price"}, "What gets worse with a change of settings.", nil},
	{"Stable", nil, "State: all members have their assignment. It says nothing about the last hour.", []string{"UNSTABLE"}},
	{"PreparingRebalance", nil, "State of a classic group: the coordinator waits for all members to rejoin, until the rebalance timeout at most.", []string{"rebalance timeout"}},
	{"CompletingRebalance", []string{"AwaitingSync"}, "State of a classic group: all have rejoined, and the leader's assignment is awaited.", []string{"leader"}},
	{"Dead", nil, "State: the coordinator does not know the group; it was deleted, never existed, or moves to another broker.", []string{"group_deleted"}},
	{"Assigning", nil, "State of a consumer-protocol group: the new assignment is being computed.", []string{"consumer protocol"}},
	{"Reconciling", nil, "State of a consumer-protocol group: members still have partitions to give up or to take.", []string{"consumer protocol", "epoch"}},
	{"NotReady", nil, "State of a streams group: topics that it needs do not exist yet.", nil},
}
