package advise_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
	"github.com/kgdiag/kgdiag/inspect/clientlog"
)

// realCase is a report from the field with the cause that was accepted for it:
// configuration and literal log lines in, the cause among the findings, and no error
// that contradicts it.
type realCase struct {
	id, client string
	file, text string // a configuration; "" where the report has none
	log        string // literal lines
	declared   inspect.Declared
	live       *inspect.Case // groups, brokers and the offsets topic, where the cause lies there
	// want are the rules that may state the cause, one of which must, at this severity.
	want     []string
	severity advise.Severity
	// bound is "key>=N" or "key<=N" in the finding's fix or an alternative of it; the
	// project's margin is 1.25.
	bound string
	// unchecked names a rule that must say that it could not look, where configuration
	// and log cannot show the cause.
	unchecked string
	// also are errors that the report has beside its cause.
	also []string
}

func msec(n int64) *inspect.Millis { return inspect.Ms(time.Duration(n) * time.Millisecond) }

var realCases = []realCase{
	{id: "C01", client: "java@3.1.0", file: "c.properties", text: "group.id=g\nmax.poll.interval.ms=300000\n",
		log:      "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages.\n",
		declared: inspect.Declared{BatchTime: msec(8000), BackOff: msec(295000)},
		want:     []string{"KGD105"}, severity: advise.Error, bound: "max.poll.interval.ms>=378750"},
	{id: "C02", client: "kafka-python@2.0.2", file: "c.yaml", text: "consumer:\n  group_id: g\n  max_poll_interval_ms: 3000\n  max_poll_records: 1\n  heartbeat_interval_ms: 3000\n",
		log:      "WARNING:kafka.coordinator:Heartbeat poll expired, leaving group\n",
		declared: inspect.Declared{RecordTime: msec(10000)},
		want:     []string{"KGD105"}, severity: advise.Error, bound: "max.poll.interval.ms>=12500"},
	{id: "C02b", client: "kafka-python@1.4.7", file: "c.yaml", text: "consumer:\n  group_id: g\n  max_poll_records: 500\n",
		declared: inspect.Declared{RecordTime: msec(10000)},
		want:     []string{"KGD105"}, severity: advise.Error, bound: "max.poll.records<=24"},
	{id: "C04", client: "connect@0.10.0", file: "connect-distributed.properties", text: "group.id=c\nconfig.storage.topic=x\noffset.storage.topic=y\nsession.timeout.ms=60000\n",
		log:  "ERROR Commit of WorkerSinkTask{id=hdfs-0} offsets threw an unexpected exception: \norg.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has already rebalanced and assigned the partitions to another member. This means that the time between subsequent calls to poll() was longer than the configured session.timeout.ms\n",
		want: []string{"KGD507"}, severity: advise.Error},
	{id: "C06", client: "java@1.1.1", file: "c.properties", text: "group.id=g\nmax.poll.interval=900000\n",
		log:  "The configuration 'max.poll.interval' was supplied but isn't a known config.\n",
		want: []string{"KGD501"}, severity: advise.Warning},
	{id: "C08", client: "librdkafka@1.0.0", file: "c.conf", text: "group.id=g\nmax.poll.interval.ms=10000\nsession.timeout.ms=6000\n",
		log:  "%4|1559072983.123|MAXPOLL|rdkafka#consumer-1| [thrd:main]: Application maximum poll interval (10000ms) exceeded by 15ms (adjust max.poll.interval.ms for long-running message processing): leaving group\n",
		want: []string{"KGD601"}, severity: advise.Warning, also: []string{"KGD215"}}, // what the line says
	{id: "C09", client: "kafka-python@2.0.2", file: "c.yaml", text: "consumer:\n  group_id: g\n  heartbeat_interval_ms: 10000\n  session_timeout_ms: 10000\n",
		log:  "Heartbeat: local member_id was not recognized; this consumer needs to re-join\n",
		want: []string{"KGD102"}, severity: advise.Error, bound: "heartbeat.interval.ms<=3333"},
	{id: "C12", client: "kafkajs@2.2.4", file: "kafka.json", text: `{"consumer": {"groupId": "g", "sessionTimeout": 30000, "heartbeatInterval": 3000}}`,
		log:      `{"level":"ERROR","timestamp":"2026-11-29T14:43:13.123Z","logger":"kafkajs","message":"[Runner] The coordinator is not aware of this member, re-joining the group","groupId":"g"}` + "\n",
		declared: inspect.Declared{RecordTime: msec(45000)},
		want:     []string{"KGD113"}, severity: advise.Error, bound: "session.timeout.ms>=56250"},
	{id: "C15", client: "java@0.9.0.1", file: "c.properties", text: "group.id=g\nsession.timeout.ms=35000\nrequest.timeout.ms=40000\n",
		live: &inspect.Case{Brokers: []inspect.Broker{{BrokerRef: inspect.BrokerRef{ID: 1}, Config: map[string]string{"group.min.session.timeout.ms": "6000", "group.max.session.timeout.ms": "30000"}}}},
		want: []string{"KGD104"}, severity: advise.Error, bound: "session.timeout.ms<=30000"},
	{id: "C17", client: "kafka-python@1.4.7", file: "c.yaml", text: "consumer:\n  group_id: g\n  session_timeout_ms: 10000\n",
		log:  "[Error 26] InvalidSessionTimeoutError\n",
		live: &inspect.Case{Brokers: []inspect.Broker{{BrokerRef: inspect.BrokerRef{ID: 1}, Config: map[string]string{"group.min.session.timeout.ms": "30000", "group.max.session.timeout.ms": "300000"}}}},
		want: []string{"KGD104"}, severity: advise.Error, bound: "session.timeout.ms>=30000"},
	{id: "C17 without the broker", client: "kafka-python@1.4.7", file: "c.yaml", text: "consumer:\n  group_id: g\n  session_timeout_ms: 10000\n", unchecked: "KGD104"},
	{id: "C19", client: "java@0.10.0.1", file: "c.properties", text: "group.id=g\nsession.timeout.ms=60000\n",
		log:  "request.timeout.ms should be greater than session.timeout.ms and fetch.max.wait.ms\n",
		want: []string{"KGD111"}, severity: advise.Error, bound: "request.timeout.ms>=60001"},
	{id: "C24", client: "librdkafka@1.9.0", file: "c.conf", text: "group.id=g\nsession.timeout.ms=45000\nmax.poll.interval.ms=3600000\n",
		log:  "1 request(s) timed out: disconnect (average rtt 0.207ms)\n",
		live: &inspect.Case{Brokers: []inspect.Broker{{BrokerRef: inspect.BrokerRef{ID: 1}, Config: map[string]string{"connections.max.idle.ms": "600000"}}}},
		want: []string{"KGD114", "KGD106"}, severity: ""},
	{id: "C27", client: "librdkafka@0.11.6", file: "c.conf", text: "group.id=g\nfetch.wait.max.ms=300000\n",
		log:  "HeartbeatRequest failed: Broker: Unknown member: explicit actions 0x0\n",
		want: []string{"KGD115", "KGD602"}, severity: advise.Error},
	{id: "C32", client: "java@2.3.0", file: "c.properties", text: "group.id=g\nmax.poll.interval.ms=1800000\n",
		declared: inspect.Declared{BatchTime: msec(60000)}, // what the processing really takes
		log:      "Attempt to heartbeat failed since group is rebalancing\n(Re-)joining group\n",
		want:     []string{"KGD106"}, severity: advise.Warning},
	{id: "C33", client: "librdkafka@1.9.0", file: "c.conf", text: "group.id=g\ngroup.instance.id=a\n",
		log:  "Fatal error: Broker: Static consumer fenced by other consumer with same group.instance.id: Fatal consumer error: Broker: Static consumer fenced by other consumer with same group.instance.id\n",
		want: []string{"KGD213"}, severity: advise.Error},
	{id: "C34", client: "franz-go@1.18.1", file: "c.properties", text: "group.id=mygroup\ngroup.instance.id=myistance\n",
		log:  "FENCED_INSTANCE_ID: The broker rejected this static consumer since another consumer with the same group.instance.id has registered with a different member.id.\n",
		want: []string{"KGD213"}, severity: advise.Error},
	{id: "C38", client: "", log: "re-joining group, reason::unknown_member_id\nre-joining group, reason::fenced_instance_id\nre-joining group, reason::rebalance_in_progress\n",
		want: []string{"KGD213"}, severity: advise.Error},
	{id: "C39", client: "librdkafka@1.6.1", file: "c.conf", text: "group.id=g\npartition.assignment.strategy=range,cooperative-sticky\n",
		log:  "All partition.assignment.strategy (range,cooperative-sticky) assignors must have the same protocol type, online migration between assignors with different protocol types is not supported\n",
		want: []string{"KGD407"}, severity: advise.Error},
	{id: "C40", client: "franz-go@1.22.0", log: "unable to join group session: INCONSISTENT_GROUP_PROTOCOL: The group member's supported protocols are incompatible with those of existing members or first group member tried to join with empty protocol type or empty protocol list.\n",
		want: []string{"KGD418"}, severity: advise.Error},
	{id: "C43", live: sharedGroup(), want: []string{"KGD405", "KGD404", "KGD402"}, severity: ""},
	{id: "C49", live: oneReplica("2"), want: []string{"KGD302"}, severity: advise.Error,
		log: "Number of insync replicas for partition __consumer_offsets-32 is [1], below required minimum [2]\n"},
	{id: "C57", client: "java@3.0.0", file: "c.properties", text: "group.id=demo-consumer-1\n",
		log:  "org.apache.kafka.common.errors.GroupAuthorizationException: Not authorized to access group: demo-consumer-1\n",
		want: []string{"KGD311"}, severity: advise.Error},
	{id: "C58", client: "java@4.0.0", file: "c.properties", text: "group.id=g\ngroup.protocol=consumer\nsession.timeout.ms=45000\nheartbeat.interval.ms=3000\npartition.assignment.strategy=x\n",
		log:  "session.timeout.ms cannot be set when group.protocol=CONSUMER\n",
		want: []string{"KGD401"}, severity: advise.Error},
	{id: "C58 librdkafka", client: "librdkafka@2.12.0", file: "c.conf", text: "group.id=g\ngroup.protocol=consumer\nsession.timeout.ms=45000\n",
		want: []string{"KGD401"}, severity: advise.Error},
	{id: "C59", client: "java@4.1.0", file: "c.properties", text: "group.id=g\ngroup.protocol=consumer\n",
		log:  "ConsumerGroupHeartbeatRequest failed due to unsupported version response on broker side: The cluster does not support the new CONSUMER group protocol. Set group.protocol=classic on the consumer configs to revert to the CLASSIC protocol until the cluster is upgraded.\n",
		want: []string{"KGD419", "KGD409"}, severity: advise.Error},
	{id: "C61", live: moreMembers(), want: []string{"KGD403"}, severity: ""},
	{id: "C62", client: "librdkafka@1.5.0", file: "c.conf", text: "group.id=g\nsocket.timeout.ms=60000\ngroup.max.size=1\n",
		log:  "No such configuration property: \"group.max.size\"\n",
		want: []string{"KGD502"}, severity: advise.Error, also: []string{"KGD428"}},
	{id: "librdkafka receives less than it fetches", client: "librdkafka@2.3.0", file: "c.conf", text: "group.id=g\nsession.timeout.ms=45000\nreceive.message.max.bytes=52428800\n",
		want: []string{"KGD124"}, severity: advise.Error},
	{id: "C63", client: "streams@2.7.0", file: "s.properties", text: "application.id=g\nmax.task.idle.ms=400000\nconsumer.max.poll.interval.ms=300000\n",
		log:  "Detected that the thread is being fenced. This implies that this thread missed a rebalance and dropped out of the consumer group. Will close out all assigned tasks and rejoin the consumer group.\n",
		want: []string{"KGD118"}, severity: advise.Error},
	{id: "C65", client: "connect@2.8.0", file: "w.properties", text: "group.id=c\nconfig.storage.topic=a\noffset.storage.topic=b\n",
		log:  "worker poll timeout has expired. This means the time between subsequent calls to poll() in DistributedHerder tick() method was longer than the configured rebalance.timeout.ms.\n",
		want: []string{"KGD215", "KGD120"}, severity: advise.Error},
	{id: "C11", log: "[2026-11-29 14:43:13,123] INFO [GroupCoordinator 1]: Preparing to rebalance group g in state PreparingRebalance with old generation 7 (__consumer_offsets-3) (reason: removing member k-1 on heartbeat expiration)\n",
		want: []string{"KGD214"}, severity: advise.Warning, unchecked: "KGD113"}, // a Ruby configuration is not read
	{id: "C13", log: "[2026-11-29 14:43:13,123] INFO [GroupCoordinator 1]: Group g removed dynamic members who haven't joined: Set(k-1, k-2)\n",
		want: []string{"KGD217"}, severity: advise.Error},
	{id: "C18", client: "kafka-go@0.4.47", file: "r.json", text: `{"GroupID": "test-group", "SessionTimeout": 30000, "HeartbeatInterval": 3000000000}`,
		log:  "Failed to join group test-group: [26] Invalid Session Timeout: the requested session timeout is outside of the allowed range on the broker\n",
		want: []string{"KGD108"}, severity: advise.Error, also: []string{"KGD102", "KGD121"}},
	{id: "C21", log: "[join_group] Timed out while waiting for response 2\nConnection error while trying to join group `test`; retrying...\nWarning: Consumer group 'test' is rebalancing.\n",
		want: []string{"KGD122"}, severity: advise.Warning, unchecked: "KGD111"},
	{id: "C23", log: "Failed to join group g: read tcp 10.0.0.1:1->10.0.0.2:9092: i/o timeout\nLeaving group g, member m\n",
		want: []string{"KGD122"}, severity: advise.Warning, unchecked: "KGD111"},
	{id: "C31", client: "java@2.4.0", file: "c.properties", text: "bootstrap.servers=ns.servicebus.windows.net:9093\ngroup.id=consumertest\nsession.timeout.ms=10000\n",
		log:  "[Consumer clientId=c, groupId=consumertest] SyncGroup failed: The group began another rebalance. Need to re-join the group. Sent generation was 4\n",
		want: []string{"KGD116", "KGD114", "KGD103"}, severity: ""},
	{id: "C37", client: "java@2.2.0", log: "org.apache.kafka.common.errors.UnsupportedVersionException: Attempted to write a non-default groupInstanceId at version 2\n",
		want: []string{"KGD420"}, severity: advise.Error},
	{id: "C42", client: "librdkafka@1.6.0", file: "c.conf", text: "group.id=g\npartition.assignment.strategy=cooperative-sticky\n",
		log:  "application *assign() call failed: Changes to the current assignment must be made using incremental_assign() or incremental_unassign() when rebalance protocol type is COOPERATIVE\n",
		want: []string{"KGD421"}, severity: advise.Error},
	{id: "C44", live: sharedGroup(), want: []string{"KGD405"}, severity: ""},
	{id: "C51", live: &inspect.Case{Cluster: inspect.Cluster{Brokers: 1}, Brokers: []inspect.Broker{{BrokerRef: inspect.BrokerRef{ID: 1}, Config: map[string]string{"offsets.topic.replication.factor": "3"}}}},
		log:  `{"level":"ERROR","logger":"kafkajs","message":"[Consumer] Crash: KafkaJSGroupCoordinatorNotFound: Failed to find group coordinator"}` + "\n",
		want: []string{"KGD313"}, severity: advise.Error},
	{id: "C52", client: "librdkafka@1.4.2", file: "c.conf", text: "group.id=g\n",
		log:  strings.Repeat("HeartbeatRequest failed: Broker: Not coordinator for group: actions Refresh\n", 5),
		want: []string{"KGD312", "KGD602"}, severity: advise.Warning},
	{id: "C54", log: strings.Repeat("(Re-)joining group cgA\nMarking the coordinator (id: 2130938402 rack: null) dead for group cgA\nAttempt to join group cgA failed due to obsolete coordinator information, retrying.\n", 3),
		want: []string{"KGD312"}, severity: advise.Warning, unchecked: "KGD310"}, // that the cleaner is dead stands on the brokers alone
	{id: "C55", log: "[Consumer clientId=c, groupId=g] Connection to node 2147483647 (/192.168.49.2:9094) could not be established. Broker may not be available.\n" +
		strings.Repeat("[Consumer clientId=c, groupId=g] Group coordinator 192.168.49.2:9094 (id: 2147483647 rack: null) is unavailable or invalid due to cause: coordinator unavailable.isDisconnected: true. Rediscovery will be attempted.\n", 5),
		want: []string{"KGD312"}, severity: advise.Error},
	{id: "C56", client: "librdkafka@1.9.2", file: "c.conf", text: "bootstrap.servers=ns.servicebus.windows.net:9093\ngroup.id=g\n",
		log:  "GroupCoordinator: ns:9093: 1 request(s) timed out: disconnect (after 240015ms in state UP)\n",
		want: []string{"KGD114"}, severity: advise.Warning},
	{id: "C60", live: &inspect.Case{Cluster: inspect.Cluster{Brokers: 1}, Brokers: []inspect.Broker{{BrokerRef: inspect.BrokerRef{ID: 1}, Config: map[string]string{"offsets.retention.minutes": "1440"}}}},
		want: []string{"KGD304", "KGD309"}, severity: advise.Warning},
	{id: "C64", client: "connect@3.6.0", file: "w.properties", text: "group.id=c\nconfig.storage.topic=a\noffset.storage.topic=b\nscheduled.rebalance.max.delay.ms=300000\n",
		log:  "Joined group at generation 7 with protocol version 2 and got assignment: x with rebalance delay: 300000\n",
		want: []string{"KGD119"}, severity: advise.Info},
	{id: "C67", client: "java@2.5.0", file: "c.properties", text: "group.id=g\n",
		log:  "Member c-1 sending LeaveGroup request to coordinator k:9093 (id: 2147483646 rack: null) due to consumer poll timeout has expired. This means …\njava.lang.OutOfMemoryError: Java heap space\n",
		want: []string{"KGD216"}, severity: advise.Error},
	{id: "C25", live: brokersOf("2.3"), want: []string{"KGD607"}, severity: ""}, // 2.3.0 and 2.3.1 answer alike
	// An error by the report; a coordinator's log alone does not tell it from a deploy of
	// processes that share a client id.
	{id: "C46", log: churn(2 * time.Second), want: []string{"KGD218"}, severity: advise.Warning},
	{id: "C48", client: "java@1.1.1", file: "c.properties", text: "group.id=g\n",
		log:  strings.Repeat("[Consumer clientId=c, groupId=g] Request joining group due to: subscription has changed from [a] at the beginning of the rebalance to [a, b]\n", 5),
		want: []string{"KGD424"}, severity: advise.Warning},
	{id: "C68", client: "java@2.4.0", file: "c.properties", text: "group.id=g\nmax.poll.interval.ms=700000\nsession.timeout.ms=10000\nheartbeat.interval.ms=3000\n",
		log: churn(5 * time.Minute), want: []string{"KGD218"}, severity: advise.Warning},
	{id: "C70", live: brokersOf("2.1"), want: []string{"KGD607"}, severity: ""},
	{id: "C69", client: "kafka-python@1.4.6", file: "c.yaml", text: "consumer:\n  group_id: g\n  session_timeout_ms: 10000\n",
		log:  "Heartbeat failed for group emsWorker because it is rebalancing\nHeartbeat session expired, marking coordinator dead\n",
		want: []string{"KGD604"}, severity: advise.Error},
}

// sharedGroup is C43: two services with different topics in one group.
func sharedGroup() *inspect.Case {
	m := func(client, topic string) inspect.Member {
		return inspect.Member{MemberID: client + "-1f0c", ClientID: client, Host: "10.0.0.1", Protocol: inspect.Classic,
			Client:  inspect.ClientGuess{Family: inspect.Java, Confidence: inspect.High},
			Session: msec(45000), Rebalance: msec(300000), Topics: []string{topic}, Assignment: []inspect.TopicPartitions{{Topic: topic, Partitions: []int32{0}}}}
	}
	return &inspect.Case{
		Groups: []inspect.Group{{ID: "G1", Type: inspect.Classic, ProtocolType: "consumer", State: "Stable", Assignor: "range", Members: []inspect.Member{m("c1", "T1"), m("c2", "T2")}}},
		Topics: []inspect.Topic{{Name: "T1", Partitions: 3}, {Name: "T2", Partitions: 3}},
	}
}

// oneReplica is C49: an offsets topic with one replica under a minimum of min.
func oneReplica(min string) *inspect.Case {
	return &inspect.Case{
		Cluster:      inspect.Cluster{Brokers: 3, OffsetsPartitions: 1},
		Brokers:      []inspect.Broker{{BrokerRef: inspect.BrokerRef{ID: 1}, Config: map[string]string{"min.insync.replicas": min}}},
		OffsetsTopic: &inspect.OffsetsTopic{Partitions: []inspect.OffsetsPartition{{Partition: 0, Leader: 1, Replicas: []int32{1}, ISR: []int32{1}}}, Config: map[string]string{"min.insync.replicas": min, "cleanup.policy": "compact"}},
	}
}

// moreMembers is C61: two members on one partition.
func moreMembers() *inspect.Case {
	m := func(id string, partitions ...int32) inspect.Member {
		a := []inspect.TopicPartitions{}
		if len(partitions) > 0 {
			a = append(a, inspect.TopicPartitions{Topic: "t", Partitions: partitions})
		}
		return inspect.Member{MemberID: id, ClientID: "c", Host: "10.0.0.1", Protocol: inspect.Classic,
			Client:  inspect.ClientGuess{Family: inspect.Librdkafka, Confidence: inspect.High},
			Session: msec(45000), Rebalance: msec(300000), Topics: []string{"t"}, Assignment: a}
	}
	return &inspect.Case{
		Groups: []inspect.Group{{ID: "g", Type: inspect.Classic, ProtocolType: "consumer", State: "Stable", Assignor: "range", Members: []inspect.Member{m("a", 0), m("b")}}},
		Topics: []inspect.Topic{{Name: "t", Partitions: 1}},
	}
}

// brokersOf is a cluster whose brokers answer as one version alone does.
func brokersOf(version string) *inspect.Case {
	return &inspect.Case{Cluster: inspect.Cluster{Brokers: 1}, Brokers: []inspect.Broker{{BrokerRef: inspect.BrokerRef{ID: 1}, Version: version,
		Config: map[string]string{"group.min.session.timeout.ms": "6000", "group.max.session.timeout.ms": "300000"}}}}
}

// churn is a coordinator's log in which members come and go, a step apart.
func churn(step time.Duration) string {
	var b strings.Builder
	at := time.Date(2026, 11, 29, 14, 0, 0, 0, time.UTC)
	for i := range 12 {
		why := "removing member app-1 on LeaveGroup"
		if i%2 == 1 {
			why = "Adding new member app-1"
		}
		fmt.Fprintf(&b, "[%s] INFO [GroupCoordinator 1]: Preparing to rebalance group g in state Stable with old generation %d (__consumer_offsets-3) (reason: %s)\n",
			at.Add(time.Duration(i)*step).Format("2006-01-02 15:04:05,000"), i, why)
	}
	return b.String()
}

// evaluate runs a case as the program would: configuration and log read, all joined.
func (rc realCase) evaluate(t *testing.T) advise.Report {
	t.Helper()
	c := inspect.Case{}
	if rc.live != nil {
		c = *rc.live
	}
	c.Declared = rc.declared
	name, version, _ := strings.Cut(rc.client, "@")
	if rc.file != "" {
		configs, err := clientconf.Read(rc.file, []byte(rc.text), clientconf.Options{Family: inspect.Family(name), Version: version})
		if err != nil || len(configs) == 0 {
			t.Fatalf("%d consumers, %v", len(configs), err)
		}
		c.Configs = append(c.Configs, configs...)
	}
	if rc.log != "" {
		if _, err := clientlog.Read(strings.NewReader(rc.log), "app.log", clientlog.Options{}, clientlog.Handler{
			Event:  func(e inspect.LogEvent) error { c.LogEvents = append(c.LogEvents, e); return nil },
			Config: func(cfg inspect.ClientConfig) error { c.Configs = append(c.Configs, cfg); return nil },
		}); err != nil {
			t.Fatal(err)
		}
		if len(c.LogEvents) == 0 {
			t.Fatal("nothing was seen in the log")
		}
	}
	return advise.Evaluate(&c, advise.Options{})
}

func TestRealCases(t *testing.T) {
	if len(realCases) < 50 {
		t.Fatalf("only %d cases", len(realCases))
	}
	for _, rc := range realCases {
		t.Run(rc.id, func(t *testing.T) {
			r := rc.evaluate(t)
			if rc.unchecked != "" {
				if !slices.ContainsFunc(r.Unchecked, func(u advise.Unchecked) bool { return u.ID == rc.unchecked }) {
					t.Errorf("%s is not said to be unchecked: %+v", rc.unchecked, r.Unchecked)
				}
				if slices.ContainsFunc(r.Findings, func(f advise.Finding) bool { return f.ID == rc.unchecked }) {
					t.Errorf("%s fired without its facts", rc.unchecked)
				}
			}
			rc.findCause(t, r)
			rc.noContradiction(t, r)
		})
	}
}

// findCause wants one of the rules at its severity, with the bound in a fix.
func (rc realCase) findCause(t *testing.T, r advise.Report) {
	if len(rc.want) == 0 {
		return
	}
	for _, f := range r.Findings {
		if slices.Contains(rc.want, f.ID) && (rc.severity == "" || f.Severity == rc.severity) {
			if rc.bound == "" || within(f.Fix, rc.bound) {
				return
			}
			t.Errorf("%s: no fix within %s: %+v", f.ID, rc.bound, f.Fix)
			return
		}
	}
	t.Errorf("none of %v at %q among:", rc.want, rc.severity)
	for _, f := range r.Findings {
		t.Errorf("  %s %s %s", f.Severity, f.ID, f.Message)
	}
}

// noContradiction wants no error beside the cause, but for those that the case names
// itself: a second error would send the reader elsewhere.
func (rc realCase) noContradiction(t *testing.T, r advise.Report) {
	for _, f := range r.Findings {
		if f.Severity == advise.Error && !slices.Contains(rc.want, f.ID) && !slices.Contains(rc.also, f.ID) && f.BecauseOf == "" {
			t.Errorf("an error that the report does not know: %s %s", f.ID, f.Message)
		}
	}
}

var boundForm = regexp.MustCompile(`^([a-z.]+)(>=|<=)(\d+)$`)

func within(fix *advise.Fix, bound string) bool {
	m := boundForm.FindStringSubmatch(bound)
	if fix == nil || m == nil {
		return false
	}
	limit, _ := strconv.ParseInt(m[3], 10, 64)
	for _, set := range append([]map[string]string{fix.Set}, fix.Alternatives...) {
		n, err := strconv.ParseInt(set[m[1]], 10, 64)
		if err == nil && (m[2] == ">=" && n >= limit || m[2] == "<=" && n <= limit) {
			return true
		}
	}
	return false
}
