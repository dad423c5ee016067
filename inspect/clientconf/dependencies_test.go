package clientconf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kgdiag/kgdiag/inspect"
)

// TestDependencies reads the client and its version from each kind of file in which a
// project names its libraries. A range of versions names none.
func TestDependencies(t *testing.T) {
	for _, tc := range []struct{ file, text, want string }{
		{"requirements.txt", "flask==1.0\nconfluent-kafka[avro]==1.4.2\n", "librdkafka 1.4.2 line 2"},
		{"requirements-dev.txt", "kafka-python==1.4.6\n", "kafka-python 1.4.6 line 1"},
		{"requirements.txt", "kafka-python>=1.4\n", ""},
		{"package.json", `{"dependencies": {"kafkajs": "1.12.0"}}`, "kafkajs 1.12.0 line 1"},
		{"package.json", `{"dependencies": {"kafkajs": "^1.12.0"}}`, ""},
		{"yarn.lock", "kafkajs@^1.12.0:\n  version \"1.16.0\"\n", "kafkajs 1.16.0 line 1"},
		{"package-lock.json", `{"packages": {"node_modules/kafkajs": {"version": "2.2.4"}}}`, "kafkajs 2.2.4 line 1"},
		{"go.mod", "module a\n\nrequire (\n\tgithub.com/Shopify/sarama v1.19.0\n\tgithub.com/twmb/franz-go/pkg/kadm v1.0.0\n)\n", "sarama 1.19.0 line 4"},
		{"go.mod", "require github.com/twmb/franz-go v1.15.4\n", "franz-go 1.15.4 line 1"},
		{"pom.xml", "<dependency>\n<groupId>org.apache.kafka</groupId>\n<artifactId>kafka-clients</artifactId>\n<version>2.5.0</version>\n</dependency>\n", "java 2.5.0 line 3"},
		{"pom.xml", "<artifactId>kafka-clients</artifactId>\n<scope>test</scope>\n", ""},
		{"build.gradle", "compile('org.springframework.kafka:spring-kafka':1.1.7.RELEASE)\n", "java 0.10.1 line 1"},
		{"build.gradle.kts", "implementation(\"org.apache.kafka:kafka-streams:3.4.0\")\n", "streams 3.4.0 line 1"},
		{"build.sbt", "libraryDependencies += \"org.apache.kafka\" % \"kafka-clients\" % \"2.0.1\"\n", "java 2.0.1 line 1"},
		{"App.csproj", "<PackageReference Include=\"Confluent.Kafka\" Version=\"1.5.0\" />\n", "librdkafka 1.5.0 line 1"},
		{"Gemfile.lock", "    ruby-kafka (1.4.0)\n", "ruby-kafka 1.4.0 line 1"},
		{"mix.lock", "  \"brod\": {:hex, :brod, \"3.16.0\", \"abc\"},\n", "brod 3.16.0 line 1"},
		{"Cargo.lock", "[[package]]\nname = \"rdkafka-sys\"\nversion = \"4.3.0+1.9.2\"\n", "librdkafka 1.9.2 line 2"},
		{"notes.txt", "confluent-kafka==1.4.2\n", ""},
	} {
		configs, err := Read(tc.file, []byte(tc.text), Options{})
		got := ""
		if err == nil {
			got = fmt.Sprintf("%s %s line %d", configs[0].Family, configs[0].Version, configs[0].Where.Line)
		}
		if got != tc.want {
			t.Errorf("%s: got %q (%v), want %q", tc.file, got, err, tc.want)
		}
	}
}

// TestVersionsOfTheProject gives the version to the consumers of that client alone.
func TestVersionsOfTheProject(t *testing.T) {
	named := inspect.ClientConfig{Dialect: dependencies, Family: inspect.Librdkafka, Version: "0.11.6"}
	for _, tc := range []struct {
		name  string
		other inspect.ClientConfig
		want  string
	}{
		{"a program of the client", inspect.ClientConfig{Dialect: "source", Family: inspect.Librdkafka, Assumed: true}, "librdkafka 0.11.6 false"},
		{"one of another client", inspect.ClientConfig{Dialect: "source", Family: inspect.KafkaJS, Assumed: true}, "kafkajs  true"},
		{"a plain file is the project's", inspect.ClientConfig{Dialect: "java", Family: inspect.Java, Assumed: true}, "librdkafka 0.11.6 false"},
		{"the flags outrank it", inspect.ClientConfig{Dialect: "java", Family: inspect.Java, Version: "3.7"}, "java 3.7 false"},
	} {
		var got []string
		for _, c := range Beside([]inspect.ClientConfig{named, tc.other}, nil) {
			got = append(got, fmt.Sprintf("%s %s %v", c.Family, c.Version, c.Assumed))
		}
		if strings.Join(got, "; ") != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
	if alone := Beside([]inspect.ClientConfig{named}, nil); len(alone) != 1 || alone[0].Version != "0.11.6" {
		t.Errorf("alone: %+v", alone)
	}
}
