package clientconf

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Programs' own configuration files in JSON, YAML or TOML, in which a section holds
// a client's settings under that client's names: librdkafka's dotted ones, .NET's
// PascalCase (appsettings.json), kafka-python's and aiokafka's snake_case, kafkajs'
// camelCase, sarama's and kafka-go's fields, franz-go's options. The names tell the
// client.
var (
	_ = register(dialect{name: "dotnet", sniff: never, read: readStructured})
	_ = register(dialect{name: "structured", sniff: sniffStructured, read: readStructured})
	_ = register(dialect{name: "librdkafka", sniff: sniffLibrdkafka, read: readLibrdkafka})
)

// names are one client's spellings, and the unit of its plain numbers.
type names struct {
	family  inspect.Family
	dialect string
	keys    map[string]string // as spelled, to the Java name
	unit    string
	// telling are the spellings that no other client has: one of them is enough.
	telling []string
}

// vocabularies are tried in order; the one with the most keys in a section wins, the
// earlier at a draw.
var vocabularies = []names{
	{family: inspect.Librdkafka, dialect: "dotnet", unit: "ms", keys: map[string]string{
		"GroupId": "group.id", "SessionTimeoutMs": "session.timeout.ms", "HeartbeatIntervalMs": "heartbeat.interval.ms",
		"MaxPollIntervalMs": "max.poll.interval.ms", "GroupInstanceId": "group.instance.id", "PartitionAssignmentStrategy": "partition.assignment.strategy",
		"GroupProtocol": "group.protocol", "GroupRemoteAssignor": "group.remote.assignor", "AutoOffsetReset": "auto.offset.reset", "EnableAutoCommit": "enable.auto.commit",
		"AutoCommitIntervalMs": "auto.commit.interval.ms", "ClientId": "client.id", "SocketTimeoutMs": "socket.timeout.ms", "FetchWaitMaxMs": "fetch.max.wait.ms",
		"BootstrapServers": "bootstrap.servers", "IsolationLevel": "isolation.level", "MetadataMaxAgeMs": "metadata.max.age.ms", "ConnectionsMaxIdleMs": "connections.max.idle.ms",
		"EnableAutoOffsetStore": "enable.auto.offset.store"},
		telling: []string{"SessionTimeoutMs", "MaxPollIntervalMs", "HeartbeatIntervalMs", "EnableAutoOffsetStore", "AutoCommitIntervalMs"}},
	{family: inspect.KafkaJS, dialect: "kafkajs", unit: "ms", keys: map[string]string{
		"groupId": "group.id", "clientId": "client.id", "sessionTimeout": "session.timeout.ms", "heartbeatInterval": "heartbeat.interval.ms",
		"rebalanceTimeout": "rebalance.timeout.ms", "metadataMaxAge": "metadata.max.age.ms", "requestTimeout": "request.timeout.ms",
		"maxWaitTimeInMs": "fetch.max.wait.ms", "partitionAssigners": "partition.assignment.strategy", "autoCommitInterval": "auto.commit.interval.ms"},
		telling: []string{"sessionTimeout", "heartbeatInterval", "rebalanceTimeout", "maxWaitTimeInMs"}},
	{family: inspect.KafkaGo, dialect: "kafka-go", unit: "ns", keys: map[string]string{
		"GroupID": "group.id", "SessionTimeout": "session.timeout.ms", "HeartbeatInterval": "heartbeat.interval.ms", "RebalanceTimeout": "rebalance.timeout.ms",
		"GroupBalancers": "partition.assignment.strategy"},
		telling: []string{"SessionTimeout", "HeartbeatInterval", "RebalanceTimeout"}},
	{family: inspect.FranzGo, dialect: "franz-go", unit: unitUnknown, keys: map[string]string{
		"consumer_group": "group.id", "session_timeout": "session.timeout.ms", "heartbeat_interval": "heartbeat.interval.ms",
		"rebalance_timeout": "rebalance.timeout.ms", "instance_id": "group.instance.id", "client_id": "client.id"},
		telling: []string{"consumer_group", "rebalance_timeout"}},
}

// sniffSections counts the sections with a consumer in a structured file.
func sniffSections(name string, data []byte) []section {
	trees, err := structuredTrees(name, data)
	if err != nil {
		return nil
	}
	var out []section
	for _, t := range trees {
		out = append(out, sections(t)...)
	}
	return out
}

// never is for a dialect that can be asked for by name, and that "structured" finds by
// itself.
func never(string, []byte) int { return 0 }

func sniffStructured(name string, data []byte) int {
	if len(sniffSections(name, data)) > 0 {
		return 60
	}
	if ext := filepath.Ext(name); ext == ".json" || ext == ".toml" || ext == ".yml" || ext == ".yaml" {
		if _, err := structuredTrees(name, data); err != nil {
			return 6 // so that the error names the line
		}
	}
	return 0
}

// structuredTrees reads a nested text, whatever language it is in; nil where it is none.
func structuredTrees(name string, data []byte) ([]*node, error) {
	one := func(n *node, err error) ([]*node, error) {
		if err != nil {
			return nil, err
		}
		return []*node{n}, nil
	}
	ext := filepath.Ext(name)
	switch {
	case ext == ".toml":
		return one(parseTOML(data))
	case ext == ".hcl" || ext == ".tf" || ext == ".hocon":
		return one(parseBraces(data))
	case ext == ".json" || ext == ".jsonc" || bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")):
		n, err := parseJSON(data)
		if err != nil && ext != ".json" && ext != ".jsonc" {
			if braced, braceErr := parseBraces(data); braceErr == nil {
				return []*node{braced}, nil
			}
		}
		return one(n, err)
	case ext != ".yml" && ext != ".yaml" && looksTOML(data) && !looksCode(name, data):
		if n, err := parseTOML(data); err == nil {
			return []*node{n}, nil
		}
		return []*node{parseSections(data)}, nil
	case ext != ".yml" && ext != ".yaml" && looksBraced(data) && !looksCode(name, data):
		return one(parseBraces(data))
	case isYAML(name, data):
		return parseYAML(data)
	}
	return nil, nil
}

var tomlHead = pattern.New(`(?m)^[ \t]*\[{1,2}[A-Za-z0-9_."/-]+\]{1,2}\s*$`)

func looksTOML(data []byte) bool { return tomlHead.Match(data) }

// section is a mapping that holds a consumer's settings.
type section struct {
	path  []string
	node  *node
	names *names
	// fields are the settings: Java name, and the node with value and line.
	fields []field
	around []*section // sections that it stands in, the outermost first
}

type field struct {
	key, spelled string
	node         *node
}

// elsewhere are the names of sections that configure no consumer, whatever keys they
// share with one: a topic's, a producer's.
var elsewhere = map[string]bool{"topic": true, "defaulttopic": true, "topicconfig": true, "producer": true, "producers": true, "producerconfig": true,
	"admin": true, "adminclient": true, "exporters": true, "outputs": true, "output": true, "sinks": true, "outgoing": true}

// sections finds the mappings of a tree that hold a consumer's settings. What stands in
// a mapping around others holds for them all: it is no consumer of its own unless it
// names a group.
func sections(root *node) []section {
	var found []section
	var visit func(path []string, n *node)
	visit = func(path []string, n *node) {
		if len(path) > 0 && elsewhere[settings.Fold(path[len(path)-1])] {
			return
		}
		if n.kind == mapping && n.kid("connector.class") == nil {
			for _, know := range []func(*node) (section, bool){dotted, byVocabulary, saramaSection} {
				if s, ok := know(n); ok {
					s.path = path
					found = append(found, s)
					break
				}
			}
		}
		for i, k := range n.kids {
			step := k.key
			if n.kind == list {
				step = "[" + strconv.Itoa(i) + "]"
			}
			visit(append(path[:len(path):len(path)], step), k)
		}
	}
	visit(nil, root)
	return inheriting(found)
}

// inheriting hands what stands around a section on to it.
func inheriting(found []section) []section {
	var out []section
	for i := range found {
		inner := false
		for j := range found {
			if i != j && within(found[j].path, found[i].path) {
				found[j].around = append(found[j].around, &found[i])
				inner = inner || found[j].names.family == found[i].names.family
			}
		}
		if !inner || found[i].has("group.id") {
			out = append(out, found[i])
		}
	}
	return out
}

// within reports whether a path leads below another.
func within(path, outer []string) bool {
	return len(path) > len(outer) && slices.Equal(path[:len(outer)], outer)
}

func (s section) has(key string) bool {
	for _, f := range s.fields {
		if f.key == key {
			return true
		}
	}
	return false
}

// dotted knows a section by the dotted names of librdkafka and Java, or the same in
// snake_case.
func dotted(n *node) (section, bool) {
	s := section{node: n}
	snake, plain, kebab, telling := 0, 0, 0, false
	java := false
	for _, k := range n.kids {
		if k.kind == mapping || k.kind == null {
			continue
		}
		key := Canonical(strings.ReplaceAll(k.key, "-", "_"))
		if _, ok := consumerKeys()[key]; !ok {
			continue
		}
		switch {
		case strings.Contains(k.key, "-"):
			kebab++
		case strings.Contains(k.key, "_"):
			snake++
		case strings.Contains(k.key, "."):
			plain++
		}
		telling = telling || tellingKeys[key]
		java = java || key == "key.deserializer" || key == "max.poll.records" && strings.Contains(k.key, ".")
		s.fields = append(s.fields, field{key, k.key, k})
	}
	if !telling || snake+plain+kebab == 0 || snake+plain+kebab == 1 && (n.kid("group_id") != nil || n.kid("group-id") != nil) {
		return s, false
	}
	switch {
	case kebab > snake+plain: // a program's own configuration class, most often in Spring
		s.names = &names{family: inspect.Java, dialect: "java", unit: "ms"}
	case snake > plain:
		s.names = &names{family: inspect.KafkaPython, dialect: "kafka-python", unit: ""}
		if n.kid("rebalance_timeout_ms") != nil {
			s.names = &names{family: inspect.AIOKafka, dialect: "aiokafka"}
		}
	case java:
		s.names = &names{family: inspect.Java, dialect: "java"}
	default:
		s.names = &names{family: inspect.Librdkafka, dialect: "librdkafka"}
	}
	return s, true
}

// tellingKeys are the group keys that no topic, producer or application section has: one
// of them makes a section a consumer's.
var tellingKeys = map[string]bool{"group.id": true, "session.timeout.ms": true, "heartbeat.interval.ms": true, "max.poll.interval.ms": true,
	"max.poll.records": true, "partition.assignment.strategy": true, "group.instance.id": true, "group.protocol": true, "rebalance.timeout.ms": true}

func byVocabulary(n *node) (section, bool) {
	best, most := section{}, 0
	for i := range vocabularies {
		v := &vocabularies[i]
		s := section{node: n, names: v}
		telling := false
		for _, k := range n.kids {
			if k.kind == mapping {
				continue
			}
			if key, ok := v.keys[k.key]; ok {
				s.fields = append(s.fields, field{key, k.key, k})
			}
			for _, t := range v.telling {
				telling = telling || t == k.key
			}
		}
		telling = telling || v.dialect == "dotnet" && n.kid("GroupId") != nil && n.kid("BootstrapServers") != nil
		if telling && len(s.fields) > most {
			best, most = s, len(s.fields)
		}
	}
	// One name alone, such as session_timeout, may be a database's.
	return best, most > 1
}

// saramaSection knows sarama's nested Config: Consumer.Group.Session.Timeout, in any
// case.
func saramaSection(n *node) (section, bool) {
	s := section{node: n, names: &names{family: inspect.Sarama, dialect: "sarama", unit: "ns"}}
	group := foldKid(foldKid(n, "consumer"), "group")
	if group == nil {
		return s, false
	}
	add := func(key, spelled string, from *node, path ...string) {
		for _, p := range path {
			from = foldKid(from, p)
		}
		if from != nil && from.kind != mapping {
			s.fields = append(s.fields, field{key, spelled, from})
		}
	}
	add("session.timeout.ms", "Consumer.Group.Session.Timeout", group, "session", "timeout")
	add("heartbeat.interval.ms", "Consumer.Group.Heartbeat.Interval", group, "heartbeat", "interval")
	add("rebalance.timeout.ms", "Consumer.Group.Rebalance.Timeout", group, "rebalance", "timeout")
	add("group.instance.id", "Consumer.Group.InstanceId", group, "instanceid")
	add("socket.timeout.ms", "Net.ReadTimeout", foldKid(n, "net"), "readtimeout")
	return s, len(s.fields) > 0
}

// foldKid finds a child without regard to case, dashes and underscores.
func foldKid(n *node, key string) *node {
	for _, k := range childrenOf(n) {
		if relaxed(k.key) == key {
			return k
		}
	}
	return nil
}

func readStructured(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	trees, err := structuredTrees(name, data)
	if err != nil {
		return nil, err
	}
	var out []inspect.ClientConfig
	for _, t := range trees {
		for _, s := range sections(t) {
			out = append(out, s.config(name, o))
		}
	}
	return out, nil
}

func (s section) config(name string, o Options) inspect.ClientConfig {
	b := newBuilder(name, s.names.dialect, s.names.family, o, s.node.line)
	b.c.Name = join(s.path)
	b.c.Assumed = o.Version == ""
	for _, outer := range s.around {
		outer.put(b, rankInherited)
	}
	s.put(b, rankOwn)
	for _, k := range s.node.kids { // what looks like a slip of the pen among them
		if k.kind == scalar && s.names.unit == "" && strings.ContainsAny(k.key, "._") && !Known(k.key) && !Secret(k.key) {
			if p := classify(Canonical(k.key), k.value, inspect.Position{File: name, Line: k.line}); p != nil && (p.Kind != "unknown_key" || p.Nearest != "") {
				if strings.Contains(k.key, "_") && p.Nearest != "" {
					near := strings.ReplaceAll(p.Nearest, ".", "_")
					p.Message = k.key + " is no setting of a Kafka consumer, the nearest is " + near
					p.Nearest = near
				}
				p.Key = k.key
				b.c.Problems = append(b.c.Problems, *p)
			}
		}
	}
	return b.c
}

// put sets the section's fields.
func (s section) put(b *builder, rank int) {
	for _, f := range s.fields {
		value := f.node.value
		if f.node.kind == list {
			var parts []string
			for _, k := range f.node.kids {
				parts = append(parts, k.value)
			}
			value = strings.Join(parts, ",")
		}
		spelled := f.spelled
		if len(s.path) > 0 {
			spelled = join(append(s.path[:len(s.path):len(s.path)], f.spelled))
		}
		b.setUnit(f.key, spelled, value, f.node.line, rank, s.names.unit)
	}
}

// rdkafkaOwn are names that only librdkafka has.
var rdkafkaOwn = []string{"metadata.broker.list", "enable.auto.offset.store", "socket.timeout.ms", "queued.min.messages", "enable.partition.eof",
	"statistics.interval.ms", "fetch.wait.max.ms", "topic.metadata.refresh.interval.ms", "socket.keepalive.enable", "broker.version.fallback",
	"enable.ssl.certificate.verification", "api.version.request", "log.connection.close", "socket.nagle.disable", "queued.max.messages.kbytes"}

var dashX = pattern.New(`(?:^|\s)-X\s*["']?([A-Za-z][A-Za-z0-9._]*)=("[^"]*"|'[^']*'|[^\s"']*)`)

func sniffLibrdkafka(name string, data []byte) int {
	if dashX.Match(data) {
		return 70
	}
	if isYAML(name, data) || nested(name, data) || looksCode(name, data) {
		return 0
	}
	if hasKey(data, rdkafkaOwn...) {
		return 55
	}
	return 0
}

// readLibrdkafka reads key=value lines (kcat's and librdkafka's own files) and the
// -X key=value of command lines.
func readLibrdkafka(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	if o.Family == "" {
		o.Family = inspect.Librdkafka
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return readStructured(name, data, o)
	}
	b := newBuilder(name, "librdkafka", inspect.Librdkafka, o, 1)
	for i, line := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if all := dashX.FindAllStringSubmatch(line, -1); len(all) > 0 {
			for _, m := range all {
				addEntry(&b.c, m[1], m[1], strings.Trim(m[2], `"'`), inspect.Position{File: name, Line: i + 1})
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if ok {
			addEntry(&b.c, strings.TrimSpace(key), strings.TrimSpace(key), strings.TrimSpace(value), inspect.Position{File: name, Line: i + 1})
		}
	}
	return []inspect.ClientConfig{b.c}, nil
}
