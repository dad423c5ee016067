//go:build realkafka

package realtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Where the logs of healthy clients go, and for how long they work.
const (
	healthyInto = "KGDIAG_RECORD_HEALTHY"
	healthyFor  = "KGDIAG_RECORD_HEALTHY_FOR"
)

// healthy is a client that does its work, as people would set it.
type healthy struct {
	name   string
	spec   client
	config string // file name
	text   string
}

var healthyClients = []healthy{
	{"java-classic", client{Kind: javaClient, Assignor: "cooperative-sticky"}, "consumer.properties",
		"bootstrap.servers=broker-1:9092\ngroup.id=orders\nclient.id=orders-1\nauto.offset.reset=earliest\n" +
			"partition.assignment.strategy=org.apache.kafka.clients.consumer.CooperativeStickyAssignor\n"},
	{"java-consumer", client{Kind: javaClient, Protocol: "consumer", Commit: "sync"}, "consumer.properties",
		"bootstrap.servers=broker-1:9092\ngroup.id=orders\nclient.id=orders-1\ngroup.protocol=consumer\nauto.offset.reset=earliest\nenable.auto.commit=false\n"},
	{"spring", client{Kind: spring, Commit: "sync"}, "application.yaml",
		"spring:\n  kafka:\n    bootstrap-servers: broker-1:9092\n    consumer:\n      group-id: orders\n      client-id: orders-1\n      auto-offset-reset: earliest\n"},
	{"streams", client{Kind: streams, Plain: true}, "application.properties",
		"application.id=orders\nbootstrap.servers=broker-1:9092\nclient.id=orders-1\nauto.offset.reset=earliest\n"},
	{"librdkafka-classic", client{Kind: librdkafka}, "consumer.properties",
		"bootstrap.servers=broker-1:9092\ngroup.id=orders\nclient.id=orders-1\nauto.offset.reset=earliest\nenable.auto.commit=true\n"},
	{"librdkafka-consumer", client{Kind: librdkafka, Protocol: "consumer", Commit: "sync"}, "consumer.properties",
		"bootstrap.servers=broker-1:9092\ngroup.id=orders\nclient.id=orders-1\ngroup.protocol=consumer\nauto.offset.reset=earliest\nenable.auto.commit=false\n"},
	{"kafka-python", client{Kind: kafkaPython}, "consumer.py",
		"consumer = KafkaConsumer(\n    bootstrap_servers=[\"broker-1:9092\"],\n    group_id=\"orders\",\n    client_id=\"orders-1\",\n    auto_offset_reset=\"earliest\",\n    enable_auto_commit=True,\n)\n"},
	{"aiokafka", client{Kind: aiokafka}, "consumer.py",
		"consumer = AIOKafkaConsumer(\n    bootstrap_servers=[\"broker-1:9092\"],\n    group_id=\"orders\",\n    client_id=\"orders-1\",\n    auto_offset_reset=\"earliest\",\n    enable_auto_commit=True,\n)\n"},
	{"kafkajs", client{Kind: kafkaJS}, "consumer.js",
		"const kafka = new Kafka({ clientId: 'orders-1', brokers: ['broker-1:9092'] })\nconst consumer = kafka.consumer({ groupId: 'orders' })\n"},
	{"sarama", client{Kind: sarama}, "main.go",
		"config := sarama.NewConfig()\nconfig.ClientID = \"orders-1\"\nconfig.Consumer.Offsets.Initial = sarama.OffsetOldest\n"},
	{"franz-go", client{Kind: franzGo}, "main.go",
		"client, err := kgo.NewClient(\n\tkgo.SeedBrokers(\"broker-1:9092\"),\n\tkgo.ConsumerGroup(\"orders\"),\n\tkgo.ClientID(\"orders-1\"),\n)\n"},
}

// TestRecordHealthy writes the logs of clients that do their work through a rolling
// deploy, on which advise has nothing to complain of.
func TestRecordHealthy(t *testing.T) {
	into := os.Getenv(healthyInto)
	if into == "" {
		t.Skip("records nothing unless " + healthyInto + " names a folder: see scripts/record-healthy")
	}
	length, err := time.ParseDuration(os.Getenv(healthyFor))
	if err != nil {
		t.Fatalf("%s: %v", healthyFor, err)
	}
	for _, h := range healthyClients {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			h.record(t, filepath.Join(into, h.name), length)
		})
	}
}

func (h healthy) record(t *testing.T, dir string, length time.Duration) {
	c := shared(t)
	c.topic("orders-"+h.name, 6)
	c.produce("orders-"+h.name, 5)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, h.config), []byte(h.text), 0o644); err != nil {
		t.Fatal(err)
	}
	launch := func(i int) *process {
		name := "app.log"
		if i > 1 {
			name = fmt.Sprintf("app-%d.log", i)
		}
		log, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { log.Close() })
		spec := h.spec
		spec.Group, spec.Topics, spec.ClientID = "orders-"+h.name, "orders-"+h.name, fmt.Sprintf("orders-%d", i)
		spec.PerRecord, spec.Log, spec.LogTo = 20, "info", log
		if spec.Kind == streams {
			spec.StateDir = t.TempDir()
		}
		return start(t, c.bootstrap, spec)
	}
	var members []*process
	for i := range 3 {
		members = append(members, launch(i+1))
	}
	wait(t, length/2)
	for i, p := range members {
		p.term()
		wait(t, 2*time.Second)
		members[i] = launch(i + 1)
		wait(t, 30*time.Second)
	}
	wait(t, length/2)
	for _, p := range members {
		p.term()
	}
}
