package advise_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kgdiag/kgdiag/advise"
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
)

// healthy are configurations that people run without trouble: every client at its
// defaults, and what the documentation of clients, platforms and frameworks
// recommends (sources in the comments). None of them may raise a finding above info.
var healthy = []struct{ name, client, file, text string }{
	// Defaults: a file that sets nothing but the group.
	{"java 0.9", "java@0.9.0.1", "c.properties", "group.id=g\n"},
	{"java 0.10.0", "java@0.10.0.1", "c.properties", "group.id=g\n"},
	{"java 0.10.1", "java@0.10.1.1", "c.properties", "group.id=g\n"},
	{"java 0.11", "java@0.11.0.3", "c.properties", "group.id=g\n"},
	{"java 1.0", "java@1.0.2", "c.properties", "group.id=g\n"},
	{"java 1.1", "java@1.1.1", "c.properties", "group.id=g\n"},
	{"java 2.0", "java@2.0.1", "c.properties", "group.id=g\n"},
	{"java 2.3", "java@2.3.1", "c.properties", "group.id=g\n"},
	{"java 2.8", "java@2.8.2", "c.properties", "group.id=g\n"},
	{"java 3.0", "java@3.0.2", "c.properties", "group.id=g\n"},
	{"java 3.4", "java@3.4.1", "c.properties", "group.id=g\n"},
	{"java 3.7", "java@3.7.2", "c.properties", "group.id=g\n"},
	{"java 3.9", "java@3.9.1", "c.properties", "group.id=g\n"},
	{"java 4.0", "java@4.0.1", "c.properties", "group.id=g\n"},
	{"java 4.1", "java@4.1.1", "c.properties", "group.id=g\n"},
	{"java 4.3", "java@4.3.1", "c.properties", "group.id=g\n"},
	{"java of unknown version", "", "c.properties", "group.id=g\n"},
	{"librdkafka 1.6", "librdkafka@1.6.2", "c.conf", "group.id=g\n"},
	{"librdkafka 1.9", "librdkafka@1.9.2", "c.conf", "group.id=g\n"},
	{"librdkafka 2.3", "librdkafka@2.3.0", "c.conf", "group.id=g\n"},
	{"librdkafka 2.12", "librdkafka@2.12.0", "c.conf", "group.id=g\n"},
	{"librdkafka 2.16", "librdkafka@2.16.0", "c.conf", "group.id=g\n"},
	{"kafka-python 1.4.7", "kafka-python@1.4.7", "c.properties", "group_id=g\n"},
	{"kafka-python 2.0", "kafka-python@2.0.2", "c.properties", "group_id=g\n"},
	{"kafka-python 2.3", "kafka-python@2.3.0", "c.properties", "group_id=g\n"},
	{"kafka-python 3.0", "kafka-python@3.0.12", "c.properties", "group_id=g\n"},
	{"aiokafka 0.8", "aiokafka@0.8.1", "c.properties", "group_id=g\n"},
	{"aiokafka 0.14", "aiokafka@0.14.0", "c.properties", "group_id=g\n"},
	{"sarama 1.32", "sarama@1.32.0", "c.properties", "group.id=g\n"},
	{"sarama 1.45", "sarama@1.45.0", "c.properties", "group.id=g\n"},
	{"franz-go 1.15", "franz-go@1.15.0", "c.properties", "group.id=g\n"},
	{"franz-go 1.22", "franz-go@1.22.3", "c.properties", "group.id=g\n"},
	{"kafka-go 0.4", "kafka-go@0.4.50", "c.properties", "group.id=g\n"},
	{"kafkajs 1.16", "kafkajs@1.16.0", "c.properties", "group.id=g\n"},
	{"kafkajs 2.2", "kafkajs@2.2.4", "c.properties", "group.id=g\n"},
	{"streams 2.3", "streams@2.3.1", "s.properties", "application.id=g\n"},
	{"streams 3.9", "streams@3.9.1", "s.properties", "application.id=g\n"},
	{"streams 4.1", "streams@4.1.1", "s.properties", "application.id=g\n"},
	{"connect 2.8", "connect@2.8.2", "w.properties", "group.id=c\nconfig.storage.topic=a\noffset.storage.topic=b\n"},
	{"connect 3.9", "connect@3.9.1", "w.properties", "group.id=c\nconfig.storage.topic=a\noffset.storage.topic=b\n"},
	{"connect 4.1", "connect@4.1.1", "w.properties", "group.id=c\nconfig.storage.topic=a\noffset.storage.topic=b\n"},

	// The issue's own measure of soundness.
	{"session 10 s with heartbeat 3 s", "java@3.9.0", "c.properties", "group.id=g\nsession.timeout.ms=10000\nheartbeat.interval.ms=3000\n"},
	// Amazon MSK, configure-clients: session 45 to 60 s, heartbeat 10 to 15 s.
	{"MSK lower end", "java@3.7.0", "c.properties", "group.id=g\nsession.timeout.ms=45000\nheartbeat.interval.ms=10000\npartition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor\ngroup.instance.id=pod-1\n"},
	{"MSK upper end", "java@3.7.0", "c.properties", "group.id=g\nsession.timeout.ms=60000\nheartbeat.interval.ms=15000\nmax.poll.records=100\n"},
	// Amazon MSK, troubleshooting: static members that may be away for minutes.
	{"MSK static membership", "java@3.7.0", "c.properties", "group.id=g\ngroup.instance.id=a-0\nsession.timeout.ms=240000\n"},
	// Azure Event Hubs, CONFIGURATION.md.
	{"Event Hubs", "java@3.9.0", "c.properties", "bootstrap.servers=ns.servicebus.windows.net:9093\nsecurity.protocol=SASL_SSL\ngroup.id=g\nheartbeat.interval.ms=3000\nsession.timeout.ms=30000\nmax.poll.interval.ms=300000\nrequest.timeout.ms=60000\nmetadata.max.age.ms=180000\nconnections.max.idle.ms=180000\n"},
	{"Event Hubs with librdkafka", "librdkafka@2.3.0", "c.conf", "bootstrap.servers=ns.servicebus.windows.net:9093\ngroup.id=g\nheartbeat.interval.ms=3000\nsession.timeout.ms=30000\nmax.poll.interval.ms=300000\nsocket.keepalive.enable=true\nmetadata.max.age.ms=180000\nconnections.max.idle.ms=180000\n"},
	// Strimzi, consumer tuning (2021-01-07).
	{"Strimzi", "java@2.7.0", "c.properties", "group.id=g\nsession.timeout.ms=10000\nheartbeat.interval.ms=3000\nmax.poll.interval.ms=300000\nmax.poll.records=500\ngroup.instance.id=id-1\n"},
	// Aiven, troubleshooting consumer disconnections: a heartbeat a third of the session.
	{"Aiven", "java@3.6.0", "c.properties", "group.id=g\nsession.timeout.ms=30000\nheartbeat.interval.ms=10000\n"},
	// Confluent, optimising for availability: a longer session, fewer records.
	{"Confluent", "java@3.9.0", "c.properties", "group.id=g\nsession.timeout.ms=60000\nmax.poll.records=250\nmax.poll.interval.ms=600000\n"},
	// librdkafka INTRODUCTION.md: the classic example, and the migrated one.
	{"librdkafka classic example", "librdkafka@2.12.0", "c.conf", "group.id=g\nsession.timeout.ms=45000\nheartbeat.interval.ms=15000\npartition.assignment.strategy=range,roundrobin\n"},
	{"librdkafka KIP-848", "librdkafka@2.12.0", "c.conf", "group.id=g\ngroup.protocol=consumer\ngroup.remote.assignor=uniform\n"},
	{"java KIP-848", "java@4.1.1", "c.properties", "group.id=g\ngroup.protocol=consumer\ngroup.remote.assignor=range\nmax.poll.interval.ms=300000\n"},
	// The eager to cooperative migration of KIP-429, its first bounce.
	{"cooperative migration", "java@3.2.0", "c.properties", "group.id=g\npartition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor,org.apache.kafka.clients.consumer.RangeAssignor\n"},
	{"Spring Boot", "java@3.7.0", "application.yml", "spring:\n  kafka:\n    bootstrap-servers: localhost:9092\n    consumer:\n      group-id: g\n      auto-offset-reset: earliest\n      max-poll-records: 100\n      properties:\n        session.timeout.ms: 45000\n    listener:\n      concurrency: 3\n"},
	{"Spring Boot properties", "java@3.7.0", "application.properties", "spring.kafka.consumer.group-id=g\nspring.kafka.consumer.heartbeat-interval=3s\nspring.kafka.consumer.properties.max.poll.interval.ms=300000\n"},
	{"Spring Cloud Stream", "java@3.7.0", "application.yml", "spring:\n  cloud:\n    stream:\n      bindings:\n        in-in-0:\n          group: g\n      kafka:\n        binder:\n          consumer-properties:\n            max.poll.records: 100\n"},
	{"Quarkus", "java@3.9.0", "application.properties", "mp.messaging.incoming.prices.connector=smallrye-kafka\nmp.messaging.incoming.prices.topic=prices\nmp.messaging.incoming.prices.group.id=g\nmp.messaging.incoming.prices.auto.offset.reset=earliest\n"},
	// Apache's own connect-distributed.properties.
	{"Connect as shipped", "connect@3.9.0", "connect-distributed.properties", "bootstrap.servers=localhost:9092\ngroup.id=connect-cluster\nkey.converter=org.apache.kafka.connect.json.JsonConverter\nvalue.converter=org.apache.kafka.connect.json.JsonConverter\nkey.converter.schemas.enable=true\noffset.storage.topic=connect-offsets\noffset.storage.replication.factor=1\nconfig.storage.topic=connect-configs\nconfig.storage.replication.factor=1\nstatus.storage.topic=connect-status\nstatus.storage.replication.factor=1\noffset.flush.interval.ms=10000\nplugin.path=/usr/share/java\n"},
	{"a sink connector", "", "sink.json", `{"name": "s", "config": {"connector.class": "x.Sink", "topics": "t", "tasks.max": "2", "consumer.override.max.poll.records": "100"}}`},
	{"Streams", "streams@3.9.0", "s.properties", "application.id=g\nbootstrap.servers=localhost:9092\nnum.stream.threads=2\nmain.consumer.max.poll.records=500\nprocessing.guarantee=exactly_once_v2\ncommit.interval.ms=100\nstate.dir=/var/lib/s\nnum.standby.replicas=1\n"},
	{".NET", "", "appsettings.json", `{"Kafka": {"Consumer": {"GroupId": "g", "AutoOffsetReset": "Earliest", "SessionTimeoutMs": 45000, "MaxPollIntervalMs": 300000}}}`},
	{"kafkajs sample", "kafkajs@2.2.4", "kafka.json", `{"consumer": {"groupId": "g", "sessionTimeout": 30000, "heartbeatInterval": 3000, "rebalanceTimeout": 60000}}`},
	{"kafka-python sample", "kafka-python@3.0.12", "settings.yaml", "consumer:\n  group_id: g\n  session_timeout_ms: 45000\n  heartbeat_interval_ms: 3000\n  max_poll_interval_ms: 300000\n  max_poll_records: 500\n"},
	{"sarama sample", "sarama@1.45.0", "s.yaml", "Consumer:\n  Group:\n    Session:\n      Timeout: 30s\n    Heartbeat:\n      Interval: 3s\n    Rebalance:\n      Timeout: 60s\n"},
	{"kafka-go sample", "kafka-go@0.4.50", "r.json", `{"GroupID": "g", "SessionTimeout": 30000000000, "HeartbeatInterval": 3000000000, "RebalanceTimeout": 30000000000}`},
	{"compose", "java@3.9.0", "docker-compose.yml", "services:\n  app:\n    environment:\n      SPRING_KAFKA_CONSUMER_GROUPID: g\n      SPRING_KAFKA_CONSUMER_MAXPOLLRECORDS: 100\n"},
	{"a StatefulSet with static members", "java@3.9.0", "app.yaml", "apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: a\nspec:\n  replicas: 3\n  template:\n    spec:\n      containers:\n        - name: c\n          env:\n            - name: KAFKA_GROUP_ID\n              value: g\n            - name: KAFKA_SESSION_TIMEOUT_MS\n              value: \"60000\"\n            - name: KAFKA_GROUP_INSTANCE_ID\n              valueFrom:\n                fieldRef:\n                  fieldPath: metadata.name\n"},
}

func TestHealthyConfigurationsRaiseNothing(t *testing.T) {
	if len(healthy) < 60 {
		t.Fatalf("only %d configurations", len(healthy))
	}
	for _, h := range healthy {
		t.Run(h.name, func(t *testing.T) {
			name, version, _ := strings.Cut(h.client, "@")
			configs, err := clientconf.Read(h.file, []byte(h.text), clientconf.Options{Family: inspect.Family(name), Version: version})
			if err != nil {
				t.Fatal(err)
			}
			if len(configs) == 0 {
				t.Fatal("no consumer found")
			}
			r := advise.Evaluate(&inspect.Case{Configs: configs}, advise.Options{})
			if r.Checked == 0 {
				t.Error("nothing was checked")
			}
			for _, f := range r.Findings {
				if f.Severity != advise.Info {
					t.Errorf("%s %s %s: %s", f.Severity, f.ID, f.Subject, f.Message)
				}
			}
		})
	}
}

// TestProjectsOwnFilesRaiseNothing reads configuration files of sound shape as projects
// ship them in their examples (Kafka, Strimzi, Quarkus, Spring, Confluent), without their
// comments. Most configure no consumer: those must be refused, not guessed at.
func TestProjectsOwnFilesRaiseNothing(t *testing.T) {
	archives, err := filepath.Glob("testdata/configs/*.txtar")
	if err != nil || len(archives) < 5 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	files, read := 0, 0
	for _, archive := range archives {
		ar, err := txtar.ParseFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			files++
			configs, err := clientconf.Read(f.Name, f.Data, clientconf.Options{})
			var foreign *clientconf.NotRecognised
			if err != nil && !errors.As(err, &foreign) {
				t.Errorf("%s: %v", f.Name, err)
			}
			if err == nil {
				read++
			}
			for _, finding := range advise.Evaluate(&inspect.Case{Configs: configs}, advise.Options{}).Findings {
				if finding.Severity != advise.Info {
					t.Errorf("%s: %s %s: %s", f.Name, finding.Severity, finding.ID, finding.Message)
				}
			}
		}
	}
	if files+len(healthy) < 130 || read < 15 {
		t.Errorf("%d files, %d read as a consumer's", files, read)
	}
}
