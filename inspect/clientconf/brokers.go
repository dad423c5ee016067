package clientconf

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
)

// Brokers finds the brokers that a file configures: a server.properties, the variables of
// a broker's container, or a Kafka resource of Strimzi. Of their settings those are kept
// that bound groups, and the addresses that they give to clients.
func Brokers(name string, data []byte) []inspect.Broker {
	if brokerFile(data) {
		f, err := properties.Parse(data)
		if err != nil {
			return nil
		}
		config := map[string]string{}
		for _, e := range f.Entries {
			config[e.Key] = e.Value
		}
		return []inspect.Broker{brokerOf(name, "", config)}
	}
	if !isYAML(name, data) || !bytes.Contains(bytes.ToLower(data), []byte("kafka")) {
		return nil
	}
	docs, err := parseYAML(data)
	if err != nil {
		return nil
	}
	var out []inspect.Broker
	for _, doc := range docs {
		for _, s := range childrenOf(doc.kid("services")) {
			out = append(out, brokerOfVariables(name, s.text("image"), composeVariables(s.kid("environment")))...)
		}
		out = append(out, chartBrokers(name, doc)...)
		if doc.text("kind") == "Kafka" && strings.HasPrefix(doc.text("apiVersion"), "kafka.strimzi.io/") {
			out = append(out, strimziBrokers(name, doc.at("spec", "kafka"), poolBrokers(docs, doc.text("metadata", "name")))...)
		}
	}
	return out
}

// shippedReplication are images whose brokers start from a file in which
// offsets.topic.replication.factor is not set, so that Kafka's own 3 holds.
var shippedReplication = []string{"confluentinc/cp-kafka", "confluentinc/cp-server", "confluentinc/cp-enterprise-kafka", "apache/kafka"}

func brokerOfVariables(name, image string, vars []variable) []inspect.Broker {
	config := map[string]string{}
	broker := false
	for _, v := range vars {
		broker = broker || slices.Contains(brokerVariables, v.name) || v.name == "KAFKA_ADVERTISED_HOST_NAME"
		if key, ok := strings.CutPrefix(v.name, "KAFKA_"); ok {
			value, open := fillPlaceholders(v.value)
			if !open {
				config[strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(key, "CFG_"), "_", "."))] = value
			}
		}
	}
	if !broker || config["process.roles"] == "controller" {
		return nil
	}
	own := slices.ContainsFunc(shippedReplication, func(i string) bool { return strings.Contains(image, i+":") || strings.HasSuffix(image, i) })
	if _, set := config[OffsetsReplication]; !set && own {
		config[OffsetsReplication] = "3"
	}
	return []inspect.Broker{brokerOf(name, image, config)}
}

// OffsetsReplication is the setting by which a broker creates __consumer_offsets.
const OffsetsReplication = "offsets.topic.replication.factor"

// poolBrokers counts the brokers of a cluster's node pools in the same file.
func poolBrokers(docs []*node, cluster string) int {
	n := 0
	for _, doc := range docs {
		if doc.text("kind") != "KafkaNodePool" || doc.text("metadata", "labels", "strimzi.io/cluster") != cluster {
			continue
		}
		replicas, err := strconv.Atoi(doc.text("spec", "replicas"))
		if err == nil && slices.ContainsFunc(childrenOf(doc.at("spec", "roles")), func(r *node) bool { return r.value == "broker" }) {
			n += replicas
		}
	}
	return n
}

// strimziBrokers are the brokers of a Kafka resource. Where neither it nor a node pool of
// the file says how many they are, there are as many as the offsets topic needs.
func strimziBrokers(name string, kafka *node, pooled int) []inspect.Broker {
	config := map[string]string{}
	for _, k := range childrenOf(kafka.kid("config")) {
		config[k.key] = k.value
	}
	if len(config) == 0 {
		return nil
	}
	n, err := strconv.Atoi(kafka.text("replicas"))
	if err != nil || n < 1 {
		n = pooled
	}
	if n < 1 {
		n, _ = strconv.Atoi(config[OffsetsReplication])
	}
	n = max(1, min(n, 100))
	var out []inspect.Broker
	for i := range n {
		b := brokerOf(name, "", config)
		b.ID, b.Version = int32(i), kafka.text("version")
		out = append(out, b)
	}
	return out
}

// chartBrokers are the brokers of a Helm chart's values: Confluent's cp-kafka and Bitnami's
// kafka, each alone or as a part of another chart.
func chartBrokers(name string, doc *node) []inspect.Broker {
	var out []inspect.Broker
	for _, values := range append([]*node{doc}, childrenOf(doc)...) {
		config, replicas := map[string]string{}, ""
		switch {
		case values.kid("configurationOverrides") != nil:
			for _, k := range childrenOf(values.kid("configurationOverrides")) {
				config[k.key] = k.value
			}
			replicas = values.text("brokers")
		case values.text("offsetsTopicReplicationFactor") != "" || values.text("replicaCount") != "" || values.at("controller", "replicaCount") != nil || values.at("broker", "replicaCount") != nil:
			config, replicas = bitnamiConfig(values)
		}
		if n, err := strconv.Atoi(replicas); err == nil && n > 0 && n <= 100 && config[OffsetsReplication] != "" {
			for i := range n {
				b := brokerOf(name, "", config)
				b.ID = int32(i)
				out = append(out, b)
			}
		}
	}
	return out
}

// bitnamiConfig are the settings of Bitnami's chart, and how many brokers it makes.
func bitnamiConfig(values *node) (config map[string]string, replicas string) {
	config = map[string]string{}
	if v := values.text("offsetsTopicReplicationFactor"); v != "" {
		config[OffsetsReplication] = v
	}
	for _, key := range []string{"config", "extraConfig"} {
		f, err := properties.Parse([]byte(values.text(key)))
		if err != nil {
			continue
		}
		for _, e := range f.Entries {
			config[e.Key] = e.Value
		}
	}
	replicas = values.text("replicaCount")
	total := 0
	for _, part := range []string{"controller", "broker"} {
		n, err := strconv.Atoi(values.text(part, "replicaCount"))
		if err == nil && (part == "broker" || values.text("controller", "controllerOnly") != "true") {
			total += n
		}
	}
	if total > 0 {
		replicas = strconv.Itoa(total)
	}
	return config, replicas
}

// keptOfBrokers are the settings of a broker, beside those that begin with group. and
// offsets., that concern groups.
var keptOfBrokers = []string{"min.insync.replicas", "default.replication.factor", "advertised.listeners", "advertised.host.name", "connections.max.idle.ms", "controller.quorum.voters"}

func brokerOf(name, image string, config map[string]string) inspect.Broker {
	b := inspect.Broker{From: name, Config: map[string]string{}}
	id := config["node.id"]
	if id == "" {
		id = config["broker.id"]
	}
	if n, err := strconv.ParseInt(id, 10, 32); err == nil {
		b.ID = int32(n)
	}
	b.Version = imageVersion(image)
	for _, k := range slices.Sorted(maps.Keys(config)) {
		if strings.HasPrefix(k, "group.") || strings.HasPrefix(k, "offsets.") || slices.Contains(keptOfBrokers, k) {
			b.Config[k] = strings.TrimSpace(config[k])
		}
	}
	return b
}

// imageVersion is the release of Kafka in an image of Apache's, "apache/kafka:3.9.1"; ""
// for others.
func imageVersion(image string) string {
	if _, tag, ok := strings.Cut(image, "apache/kafka:"); ok && releaseName.MatchString(tag) {
		return tag
	}
	return ""
}

// Beside joins the configurations of files and of logs. What a program prints of its
// settings counts where no file was given; it is of the client that the flags name.
func Beside(files, logged []inspect.ClientConfig) []inspect.ClientConfig {
	files = withPrograms(withDependencies(files))
	printed := func(c inspect.ClientConfig) bool { return c.Dialect == "printed" }
	flags := len(files) == 1 && files[0].Where.File == FromFlags && len(files[0].Settings) == 0
	if len(files) > 0 && !flags {
		return append(files, slices.DeleteFunc(logged, printed)...)
	}
	if !slices.ContainsFunc(logged, printed) {
		return append(files, logged...)
	}
	for i := range logged {
		if flags && printed(logged[i]) && (!files[0].Assumed || files[0].Family != inspect.Java) {
			logged[i].Family, logged[i].Version, logged[i].Assumed = files[0].Family, files[0].Version, files[0].Assumed
		}
	}
	return logged
}

// withPrograms hands what a program without settings does to the one consumer that other
// files configure: its timeouts are what the program runs with.
func withPrograms(files []inspect.ClientConfig) []inspect.ClientConfig {
	program := func(c inspect.ClientConfig) bool { return len(c.Acts) > 0 && len(c.Settings) == 0 }
	set := -1
	for i, c := range files {
		switch {
		case program(c):
		case set >= 0:
			return files
		default:
			set = i
		}
	}
	if set < 0 {
		return files
	}
	to := files[set]
	for _, c := range files {
		if program(c) {
			to.Acts = append(slices.Clone(to.Acts), c.Acts...)
		}
	}
	return []inspect.ClientConfig{to}
}
