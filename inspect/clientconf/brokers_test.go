package clientconf

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

func TestBrokers(t *testing.T) {
	for _, tc := range []struct {
		name, file, text string
		want             []string // id, version, settings
	}{
		{"properties", "server.properties", "broker.id=2\nlog.dirs=/d\ngroup.max.session.timeout.ms=30000\nmin.insync.replicas = 2\nssl.key.password=x\n",
			[]string{"2  group.max.session.timeout.ms=30000 min.insync.replicas=2"}},
		{"a consumer's file", "c.properties", "group.id=g\nsession.timeout.ms=1\n", nil},
		{"compose, cp-kafka", "docker-compose.yml", "services:\n  kafka:\n    image: confluentinc/cp-kafka:7.4.0\n    environment:\n      - KAFKA_BROKER_ID=1\n      - KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS=0\n  app:\n    image: app\n    environment: {KAFKA_GROUP_ID: g}\n",
			[]string{"1  group.initial.rebalance.delay.ms=0 offsets.topic.replication.factor=3"}},
		{"compose, an image with a file of its own", "docker-compose.yml", "services:\n  kafka:\n    image: wurstmeister/kafka\n    environment:\n      KAFKA_ZOOKEEPER_CONNECT: z:2181\n", []string{"0 "}},
		{"compose, bitnami", "docker-compose.yml", "services:\n  kafka:\n    image: bitnami/kafka:3.6\n    environment:\n      KAFKA_CFG_NODE_ID: 7\n      KAFKA_CFG_PROCESS_ROLES: broker\n      KAFKA_CFG_OFFSETS_TOPIC_REPLICATION_FACTOR: 1\n", []string{"7  offsets.topic.replication.factor=1"}},
		{"compose, a controller alone", "docker-compose.yml", "services:\n  c:\n    image: apache/kafka:4.0.0\n    environment:\n      KAFKA_NODE_ID: 7\n      KAFKA_PROCESS_ROLES: controller\n", nil},
		{"compose, apache", "docker-compose.yml", "services:\n  b:\n    image: apache/kafka:4.0.0\n    environment:\n      KAFKA_NODE_ID: 1\n      KAFKA_PROCESS_ROLES: broker,controller\n", []string{"1 4.0.0 offsets.topic.replication.factor=3"}},
		{"Strimzi", "kafka.yaml", "apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nspec:\n  kafka:\n    version: 3.9.0\n    replicas: 2\n    config:\n      offsets.topic.replication.factor: 2\n",
			[]string{"0 3.9.0 offsets.topic.replication.factor=2", "1 3.9.0 offsets.topic.replication.factor=2"}},
		{"Strimzi, in node pools", "kafka.yaml", "apiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\nmetadata: {name: c, labels: {strimzi.io/cluster: a}}\nspec: {replicas: 3, roles: [controller]}\n---\napiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\nmetadata: {name: b, labels: {strimzi.io/cluster: a}}\nspec: {replicas: 2, roles: [broker]}\n---\napiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: a}\nspec: {kafka: {version: 4.0.0, config: {offsets.topic.replication.factor: 3}}}\n",
			[]string{"0 4.0.0 offsets.topic.replication.factor=3", "1 4.0.0 offsets.topic.replication.factor=3"}},
		{"Strimzi, its pools elsewhere", "kafka.yaml", "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: a}\nspec: {kafka: {config: {offsets.topic.replication.factor: 2}}}\n",
			[]string{"0  offsets.topic.replication.factor=2", "1  offsets.topic.replication.factor=2"}},
		{"Helm, cp-kafka", "values.yaml", "cp-kafka:\n  brokers: 1\n  configurationOverrides:\n    \"offsets.topic.replication.factor\": \"3\"\n", []string{"0  offsets.topic.replication.factor=3"}},
		{"Helm, Bitnami", "values.yaml", "# bitnami/kafka\nreplicaCount: 1\noffsetsTopicReplicationFactor: 3\n", []string{"0  offsets.topic.replication.factor=3"}},
		{"Helm, Bitnami's newer chart", "values.yaml", "kafka:\n  controller: {replicaCount: 2}\n  broker: {replicaCount: 0}\n  extraConfig: |\n    offsets.topic.replication.factor=3\n    group.max.session.timeout.ms=30000\n",
			[]string{"0  group.max.session.timeout.ms=30000 offsets.topic.replication.factor=3", "1  group.max.session.timeout.ms=30000 offsets.topic.replication.factor=3"}},
		{"Helm, another chart that uses Kafka", "values.yaml", "replicaCount: 3\nconfig: {kafka: {brokers: kafka-0}}\n", nil},
		{"broken YAML", "docker-compose.yml", "services:\n kafka: [\n", nil},
	} {
		var got []string
		for _, b := range Brokers(tc.file, []byte(tc.text)) {
			line := fmt.Sprintf("%d %s", b.ID, b.Version)
			for _, k := range slices.Sorted(maps.Keys(b.Config)) {
				line += " " + k + "=" + b.Config[k]
			}
			if b.From != tc.file {
				t.Errorf("%s: from %q", tc.name, b.From)
			}
			got = append(got, line)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s:\n got %q\nwant %q", tc.name, got, tc.want)
		}
	}
}

func TestBeside(t *testing.T) {
	file := inspect.ClientConfig{Where: inspect.Position{File: "c.properties"}, Dialect: "java", Family: inspect.Java}
	flags := inspect.ClientConfig{Where: inspect.Position{File: FromFlags}, Dialect: "java", Family: inspect.Sarama, Version: "1.40"}
	dump := inspect.ClientConfig{Dialect: "java log"}
	printed := inspect.ClientConfig{Dialect: "printed", Family: inspect.Java, Assumed: true}
	for _, tc := range []struct {
		name          string
		files, logged []inspect.ClientConfig
		want          string
	}{
		{"a file outranks what was printed", []inspect.ClientConfig{file}, []inspect.ClientConfig{dump, printed}, "java java; java log "},
		{"what was printed counts alone", nil, []inspect.ClientConfig{printed}, "printed java"},
		{"the flags name its client", []inspect.ClientConfig{flags}, []inspect.ClientConfig{printed}, "printed sarama"},
		{"the flags alone", []inspect.ClientConfig{flags}, nil, "java sarama"},
	} {
		var got []string
		for _, c := range Beside(tc.files, slices.Clone(tc.logged)) {
			got = append(got, c.Dialect+" "+string(c.Family))
		}
		if strings.Join(got, "; ") != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestValuesOfSources(t *testing.T) {
	text := []byte("const SECONDS = 30\nprivate static final int POLL = 5 * 60 * 1000;\nA = B\nB = A\nX = 1\nX = 2\n")
	for _, tc := range []struct {
		expr, want string // "" where the text does not tell
	}{
		{`"6000");`, "6000"}, {`6_000,`, "6000"}, {`5 * 60 * 1000)`, "300000"}, {`POLL);`, "300000"}, {`Config.POLL)`, "300000"}, {`String.valueOf(POLL))`, "300000"},
		{`(int)TimeSpan.FromMinutes(1).TotalMilliseconds,`, "60000ms"}, {`Duration.ofSeconds(30).toMillis())`, "30000ms"}, {`TimeUnit.MINUTES.toMillis(5))`, "300000ms"},
		{`time.Duration(30) * time.Second`, "30000ms"}, {`10*time.Second,`, "10000ms"}, {`5.minutes`, "300000ms"}, {`Duration::from_secs(10))`, "10000ms"}, {`timedelta(seconds=10),`, "10000ms"},
		{`process.env.X || 30000,`, "30000"}, {`Number(process.env.X ?? '30000')`, "30000"}, {`int(os.environ.get("X", 6000))`, "6000"}, {`os.getenv("X", "6000")`, "6000"}, {`ENV.fetch("X", 30)`, "30"},
		{`System.getenv().getOrDefault("X", "7000")`, "7000"},
		{`A`, ""}, {`X`, ""}, {`compute(3)`, ""}, {`settings.timeout`, ""}, {"`${x}000`", ""}, {`30 + 5`, ""},
	} {
		got, ok := valuesOf(text, inspect.Java).of(tc.expr, true)
		if ok != (tc.want != "") || ok && got != tc.want {
			t.Errorf("%s: got %q %v, want %q", tc.expr, got, ok, tc.want)
		}
	}
}
