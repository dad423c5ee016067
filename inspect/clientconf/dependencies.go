package clientconf

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// The files in which a project names its libraries: which client it uses, and in which
// version. A range of versions names none; only what is pinned or locked counts.
var _ = register(dialect{name: dependencies, sniff: sniffDependencies, read: readDependencies})

const dependencies = "dependencies"

// dependencyFiles are the names of such files.
var dependencyFiles = pattern.New(`(?i)^(?:requirements.*\.txt|constraints\.txt|pipfile(?:\.lock)?|pyproject\.toml|poetry\.lock|uv\.lock|setup\.(?:py|cfg)|package(?:-lock)?\.json|yarn\.lock|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|build\.sbt|libs\.versions\.toml|cargo\.(?:toml|lock)|gemfile(?:\.lock)?|mix\.(?:exs|lock)|rebar\.config|packages\.config|directory\.packages\.props|.*\.[cf]sproj)$`)

// library is how a file names one: the first group of the pattern is its version.
type library struct {
	family inspect.Family
	named  *pattern.Pattern
	// client is the client's version in one of the library's; nil where both are the same.
	client func(version string) string
}

// pinned is what stands between a JVM library's name and its version, in Maven, Gradle, sbt
// and the name of a jar.
const pinned = `(?:\s*</artifactId>\s*<version>\s*|["']?\s*(?::|=|%|-)\s*["']?)(\d+\.\d+(?:\.\d+)?)`

var libraries = []library{
	{inspect.Librdkafka, pattern.New(`(?i)\bconfluent[-_]kafka(?:\[[^\]]*\])?\s*===?\s*(\d+\.\d+(?:\.\d+)?)`), nil},
	{inspect.KafkaPython, pattern.New(`(?i)\bkafka[-_]python(?:\[[^\]]*\])?\s*===?\s*(\d+\.\d+(?:\.\d+)?)`), nil},
	{inspect.AIOKafka, pattern.New(`(?i)\baiokafka(?:\[[^\]]*\])?\s*===?\s*(\d+\.\d+(?:\.\d+)?)`), nil},
	{inspect.Librdkafka, pattern.New(`github\.com/confluentinc/confluent-kafka-go(?:/v2)? v(\d+\.\d+\.\d+)`), nil},
	{inspect.Sarama, pattern.New(`github\.com/(?:Shopify|IBM)/sarama v(\d+\.\d+\.\d+)`), nil},
	{inspect.FranzGo, pattern.New(`github\.com/twmb/franz-go v(\d+\.\d+\.\d+)`), nil},
	{inspect.KafkaGo, pattern.New(`github\.com/segmentio/kafka-go v(\d+\.\d+\.\d+)`), nil},
	{inspect.KafkaJS, pattern.New(`(?:"kafkajs"\s*:\s*"|"node_modules/kafkajs"\s*:\s*\{\s*"version"\s*:\s*"|\bkafkajs@[^\n]*:\s*\n\s*version:? "?)(\d+\.\d+\.\d+)`), nil},
	{inspect.Librdkafka, pattern.New(`(?i)"Confluent\.Kafka"[^\n]*version\s*=\s*"(\d+\.\d+\.\d+)`), nil},
	{inspect.RubyKafka, pattern.New(`\bruby-kafka(?:["'],\s*["']| \()(\d+\.\d+\.\d+)`), nil},
	{inspect.Brod, pattern.New(`\{\s*:?brod\s*,\s*"(\d+\.\d+\.\d+)"|:hex, :brod, "(\d+\.\d+\.\d+)"`), nil},
	{inspect.KafkaEx, pattern.New(`\{\s*:?kafka_ex\s*,\s*"(\d+\.\d+\.\d+)"|:hex, :kafka_ex, "(\d+\.\d+\.\d+)"`), nil},
	{inspect.StreamsLib, pattern.New(`\bkafka-streams` + pinned), nil},
	{inspect.Java, pattern.New(`\bkafka-clients` + pinned), nil},
	{inspect.Java, pattern.New(`\bspring-kafka` + pinned), clientOfSpring},
	{inspect.Librdkafka, pattern.New(`name = "rdkafka-sys"\s+version = "[\d.]+\+(\d+\.\d+\.\d+)`), nil},
}

// ofSpring is the release of kafka-clients that each one of spring-kafka was built with,
// from its table of compatibility.
var ofSpring = map[string]string{"1.0": "0.9", "1.1": "0.10.1", "1.2": "0.10.2", "1.3": "0.11", "2.0": "1.0", "2.1": "1.0", "2.2": "2.0", "2.3": "2.3", "2.4": "2.4",
	"2.5": "2.5", "2.6": "2.6", "2.7": "2.7", "2.8": "3.0", "2.9": "3.2", "3.0": "3.3", "3.1": "3.6", "3.2": "3.7", "3.3": "3.8"}

func clientOfSpring(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return ofSpring[parts[0]+"."+parts[1]]
}

func sniffDependencies(name string, data []byte) int {
	if dependencyFiles.MatchString(filepath.Base(name)) && len(librariesOf(name, data)) > 0 {
		return 95
	}
	return 0
}

// readDependencies makes a configuration without settings of each client that a file
// names.
func readDependencies(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	out := librariesOf(name, data)
	for i := range out {
		if o.Family != "" {
			out[i].Family = o.Family
		}
		if o.Version != "" {
			out[i].Version = o.Version
		}
	}
	return out, nil
}

func librariesOf(name string, data []byte) []inspect.ClientConfig {
	text := string(data)
	var out []inspect.ClientConfig
	for _, l := range libraries {
		m := l.named.FindStringSubmatchIndex(text)
		if m == nil || slices.ContainsFunc(out, func(c inspect.ClientConfig) bool { return c.Family == l.family }) {
			continue
		}
		version := ""
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 {
				version = text[m[i]:m[i+1]]
			}
		}
		if l.client != nil {
			version = l.client(version)
		}
		if version != "" {
			out = append(out, inspect.ClientConfig{Where: inspect.Position{File: name, Line: 1 + strings.Count(text[:m[0]], "\n")}, Dialect: dependencies, Family: l.family,
				Version: version, Settings: []inspect.Setting{}})
		}
	}
	return out
}

// withDependencies gives the configurations the versions of the clients that the project's
// files name. Where nothing else is given, those files stand for their clients.
func withDependencies(files []inspect.ClientConfig) []inspect.ClientConfig {
	var named, others []inspect.ClientConfig
	for _, c := range files {
		if c.Dialect == dependencies {
			named = append(named, c)
			continue
		}
		others = append(others, c)
	}
	if len(named) == 0 || len(others) == 0 {
		return files
	}
	for i := range others {
		c := &others[i]
		if !c.Assumed || c.Version != "" {
			continue
		}
		plain := len(named) == 1 && (c.Dialect == "java" || c.Dialect == "printed")
		for _, n := range named {
			if n.Family == c.Family || plain || n.Family == inspect.Java && c.Family == inspect.StreamsLib {
				if plain && c.Family != inspect.StreamsLib {
					c.Family = n.Family
				}
				c.Version, c.Assumed = n.Version, false
				break
			}
		}
	}
	return others
}
