package clientconf

import (
	"errors"
	"strings"
	"testing"
)

// TestForeignFilesAreSaidToBeForeign gives files without a consumer's setting: never a
// configuration, for that would be judged by its defaults and called fine.
func TestForeignFilesAreSaidToBeForeign(t *testing.T) {
	for _, tc := range []struct{ name, text, looks string }{
		{"empty.properties", "", "an empty file"},
		{"blank.yaml", "\n  \n", "an empty file"},
		{"hello.txt", "hello world\n", ""},
		{"foo.properties", "foo=bar\n", ""},
		{"server.properties", "broker.id=1\nlisteners=PLAINTEXT://:9092\ngroup.max.size=3\nlog.dirs=/x\n", "a broker's configuration"},
		{"producer.properties", "linger.ms=5\nbatch.size=1000\n", "a producer's configuration"},
		{"app.log", "2026-01-02 10:00:00,123 INFO started\n2026-01-02 10:00:01,123 INFO session.timeout.ms = 5\n", "a log"},
		{"app.json.log", `{"level":"info","msg":"a"}` + "\n" + `{"level":"info","msg":"b"}` + "\n", "a log"},
		{"scaledobject.yaml", "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nspec:\n  triggers:\n  - type: kafka\n    metadata:\n      consumerGroup: workers\n", "a Kubernetes ScaledObject"},
		{"prometheus.yml", "scrape_configs:\n- job_name: kafka\n  scrape_interval: 15s\n", ""},
		{"Dockerfile", "FROM golang:1.25\nRUN go build\n", "a Dockerfile"},
		{"collector.yaml", "exporters:\n  debug:\n  kafka:\n    topic: x\nservice:\n  pipelines: {}\n", ""},
		{"db.yml", "production:\n  pool: 5\n  session_timeout: 30\n  heartbeat_interval: 5\n", ""},
		{"values.yaml", "controller:\n  extraEnvVars:\n  - name: KAFKA_CFG_GROUP_MIN_SESSION_TIMEOUT_MS\n    value: '6000'\n", ""},
		{"debezium.properties", "debezium.source.connector.class=io.debezium.connector.postgresql.PostgresConnector\ndebezium.source.heartbeat.interval.ms=5000\n", "Debezium Server's"},
		{"register.json", `{"name":"s","config":{"connector.class":"io.debezium.connector.mysql.MySqlConnector","heartbeat.interval.ms":"5000"}}`, ""},
		{"package.json", `{"name":"x","dependencies":{"kafkajs":"^2.2.4"}}`, ""},
		{"producer.py", "from kafka import KafkaProducer\np = KafkaProducer(acks='all', request_timeout_ms=30000, retries=3)\n", ""},
		{"main.tf", "resource \"aws_msk_cluster\" \"a\" {\n  kafka_version = \"3.6.0\"\n}\n", ""},
	} {
		configs, err := Read(tc.name, []byte(tc.text), Options{})
		var foreign *NotRecognised
		if !errors.As(err, &foreign) {
			t.Errorf("%s: %v, %+v", tc.name, err, configs)
			continue
		}
		if !strings.HasPrefix(foreign.Looks, tc.looks) || tc.looks == "" && foreign.Looks != "" || !strings.HasPrefix(err.Error(), tc.name+": no consumer setting recognised") {
			t.Errorf("%s: %v, want it to look like %q", tc.name, err, tc.looks)
		}
	}
}

// TestInvisibleDifferences says what no eye sees in a key.
func TestInvisibleDifferences(t *testing.T) {
	for key, says := range map[string]string{
		" heartbeat.interval.ms":      `" heartbeat.interval.ms" begins with a blank`,
		"heartbeat.interval.ms ":      `ends in a blank`,
		"heartbeat.interval\u00a0.ms": `(U+00A0)`,
		"heartbeat.interval.\u200bms": `without width (U+200B)`,
		"heаrtbeat.interval.ms":       `another script (U+0430)`,
	} {
		configs, err := Read("c.json", []byte(`{"group.id":"g","max.poll.records":5,"`+key+`":3000}`), Options{})
		if err != nil || len(configs) != 1 || len(configs[0].Problems) != 1 {
			t.Errorf("%q: %+v, %v", key, configs, err)
			continue
		}
		if p := configs[0].Problems[0]; !strings.Contains(p.Message, says) || p.Nearest != "heartbeat.interval.ms" {
			t.Errorf("%q: %+v, want %s", key, p, says)
		}
	}
}
