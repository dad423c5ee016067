package clientconf

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Kafka Streams, Kafka Connect (workers, connectors, Strimzi) and Quarkus: dialects
// in which prefixes decide which client a key is for.
var (
	_ = register(dialect{name: "streams", sniff: sniffStreams, read: readStreams})
	_ = register(dialect{name: "connect", sniff: sniffWorker, read: readWorker})
	_ = register(dialect{name: "connector", sniff: sniffConnector, read: readConnector})
	_ = register(dialect{name: "quarkus", sniff: sniffQuarkus, read: readQuarkus})
)

func hasKey(data []byte, keys ...string) bool {
	for _, k := range keys {
		if regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(k) + `\s*[=:]`).Match(data) {
			return true
		}
	}
	return false
}

func sniffStreams(name string, data []byte) int {
	if !isYAML(name, data) && hasKey(data, "application.id", "ksql.service.id") {
		return 60
	}
	return 0
}

func readStreams(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	f, err := properties.Parse(data)
	if err != nil {
		return nil, err
	}
	b := newBuilder(name, "streams", inspect.StreamsLib, o, 1)
	ksql := hasKey(data, "ksql.service.id")
	for _, e := range entriesOfProperties(f) {
		key, streams := strings.CutPrefix(e.path, "ksql.streams.")
		if streams || !ksql {
			streamsKey(b, key, e)
		}
	}
	return []inspect.ClientConfig{b.c}, nil
}

// streamsKey reads one Streams key: main.consumer. beats consumer. beats none
// (StreamsConfig); restore and global consumers are in no group.
func streamsKey(b *builder, key string, e entry) {
	rank := rankInherited
	switch {
	case strings.HasPrefix(key, "main.consumer."):
		key, rank = strings.TrimPrefix(key, "main.consumer."), rankOwn
	case strings.HasPrefix(key, "consumer."):
		key, rank = strings.TrimPrefix(key, "consumer."), rankTyped
	case strings.HasPrefix(key, "restore.consumer."), strings.HasPrefix(key, "global.consumer."),
		strings.HasPrefix(key, "producer."), strings.HasPrefix(key, "admin."), strings.HasPrefix(key, "topic."):
		return
	}
	if _, ok := consumerKeys()[Canonical(key)]; !ok {
		if rank == rankInherited {
			if near := Nearest(key); near != "" {
				b.problem("unknown_key", inspect.Position{File: b.c.Where.File, Line: e.line}, e.path, near, e.path+" is no setting of Kafka Streams or its consumer, the nearest is "+near)
			}
			return
		}
	}
	if rank == rankInherited && b.rank[Canonical(key)] > rank {
		return
	}
	b.own(key, e.path, e.value, e.line, rank)
	if rank == rankInherited { // without a prefix it is still this client's own
		for i := range b.c.Settings {
			if b.c.Settings[i].Spelled == e.path {
				b.c.Settings[i].Origin = inspect.OriginSet
			}
		}
	}
}

func sniffWorker(name string, data []byte) int {
	if isYAML(name, data) {
		if bytes.Contains(data, []byte("kind: KafkaConnect\n")) || bytes.Contains(data, []byte("kind: KafkaMirrorMaker2")) {
			return 90
		}
		return 0
	}
	if mirrorFlow.Match(data) || hasKey(data, "config.storage.topic", "offset.storage.topic", "offset.storage.file.filename", "status.storage.topic") {
		return 70
	}
	return 0
}

// mirrorFlow is the key by which MirrorMaker 2 names a flow between two clusters. Its
// own consumers assign themselves their partitions: of its file the workers' group counts.
var mirrorFlow = pattern.New(`(?m)^\s*[\w.-]+->[\w.-]+\.\w+\s*[=:]`)

func readWorker(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	if isYAML(name, data) {
		return readManifests(name, data, o)
	}
	f, err := properties.Parse(data)
	if err != nil {
		return nil, err
	}
	out := worker(name, entriesOfProperties(f), 1, o)
	if mirrorFlow.Match(data) { // it has no sink tasks that a prefix could be meant for
		out = out[:1]
		out[0].Problems = nil
	}
	return out, nil
}

// classicKeys are the group keys that mean a sink's consumer to most people when they
// stand in a worker's file, but configure the worker's own group.
var classicKeys = map[string]bool{"session.timeout.ms": true, "heartbeat.interval.ms": true}

// workerIgnores are consumer keys that a worker has no use for without a prefix.
var workerIgnores = map[string]bool{"max.poll.interval.ms": true, "max.poll.records": true, "auto.offset.reset": true,
	"partition.assignment.strategy": true, "group.instance.id": true, "group.protocol": true, "isolation.level": true}

// worker reads a worker's settings: its own group, and what its sink tasks' consumers
// get by the prefix "consumer.".
func worker(name string, es []entry, line int, o Options) []inspect.ClientConfig {
	own := newBuilder(name, "connect", inspect.Connect, o, line)
	sinks := newBuilder(name, "connect", inspect.Java, o, line)
	sinks.c.Name = "sink consumers"
	prefixed := map[string]bool{}
	for _, e := range es {
		if k, ok := strings.CutPrefix(e.path, "consumer."); ok && !strings.HasPrefix(k, "override.") {
			prefixed[Canonical(k)] = true
			sinks.own(k, e.path, e.value, e.line, rankOwn)
		}
	}
	for _, e := range es {
		where := inspect.Position{File: name, Line: e.line}
		switch {
		case strings.HasPrefix(e.path, "consumer."), strings.HasPrefix(e.path, "producer."), strings.HasPrefix(e.path, "admin."):
		case workerIgnores[e.path] && !prefixed[e.path]:
			own.problem("wrong_prefix", where, e.path, "consumer."+e.path,
				e.path+" without a prefix does nothing in a worker: the sink tasks' consumers take consumer."+e.path+", without which their default is in force")
		case workerIgnores[e.path]:
		default:
			if _, ok := consumerKeys()[e.path]; ok {
				own.set(e.path, e.path, e.value, e.line, rankOwn)
			}
			if classicKeys[e.path] && !prefixed[e.path] {
				own.problem("wrong_prefix", where, e.path, "consumer."+e.path,
					e.path+" without a prefix configures the worker's own group; the sink tasks' consumers take consumer."+e.path+", without which their default is in force")
			}
		}
	}
	out := []inspect.ClientConfig{own.c}
	if sinks.some() {
		out = append(out, sinks.c)
	}
	return out
}

func sniffConnector(name string, data []byte) int {
	switch {
	case bytes.Contains(data, []byte("kind: KafkaConnector")):
		return 90
	case bytes.Contains(data, []byte(`"connector.class"`)), !isYAML(name, data) && hasKey(data, "connector.class"):
		return 70
	}
	return 0
}

// readConnector reads a connector: the JSON that Connect's REST interface takes, its
// .properties form, or Strimzi's manifest.
func readConnector(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	if bytes.Contains(data, []byte("kind: KafkaConnector")) {
		return readManifests(name, data, o)
	}
	if !isYAML(name, data) && hasKey(data, "connector.class") {
		f, err := properties.Parse(data)
		if err != nil {
			return nil, err
		}
		return connector(name, "", entriesOfProperties(f), 1, o), nil
	}
	n, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	var out []inspect.ClientConfig
	n.walk(func(_ []string, n *node) {
		if n.kid("connector.class") == nil {
			return
		}
		out = append(out, connector(name, n.text("name"), entriesOf(n), n.line, o)...)
	})
	for i := range out {
		if out[i].Name == "" {
			out[i].Name = n.text("name")
			out[i].Group = connectorGroup(out[i])
		}
	}
	return out, nil
}

// connector reads one connector: consumer.override. is its consumer's; without it a
// consumer key goes to the connector, which does not know it.
func connector(name, connectorName string, es []entry, line int, o Options) []inspect.ClientConfig {
	b := newBuilder(name, "connector", inspect.Java, o, line)
	b.c.Name = connectorName
	source := false // a source has no consumer in a group, and may have keys of the same name
	for _, e := range es {
		source = source || e.path == "connector.class" && (strings.Contains(e.value, "Source") || strings.Contains(e.value, "debezium"))
	}
	for _, e := range es {
		if e.path == "name" && b.c.Name == "" {
			b.c.Name = e.value
		}
		if k, ok := strings.CutPrefix(e.path, "consumer.override."); ok {
			b.own(k, e.path, e.value, e.line, rankOwn)
			continue
		}
		bare := strings.TrimPrefix(e.path, "consumer.")
		if !source && (workerIgnores[bare] || classicKeys[bare]) {
			b.problem("wrong_prefix", inspect.Position{File: name, Line: e.line}, e.path, "consumer.override."+bare,
				e.path+" does nothing in a connector: its consumer takes consumer.override."+bare+", without which the worker's consumer."+bare+" or the default is in force")
		}
	}
	if b.c.Group == "" && !source {
		b.c.Group = connectorGroup(b.c)
	}
	return []inspect.ClientConfig{b.c}
}

// connectorGroup is the group of a sink's tasks: connect-<name>.
func connectorGroup(c inspect.ClientConfig) string {
	if s, ok := c.Get("group.id"); ok {
		return s.Value
	}
	if c.Name == "" {
		return ""
	}
	return "connect-" + c.Name
}

var quarkusKey = pattern.New(`(?m)(?:^\s*"?|\.)mp\.messaging\.(?:incoming|connector)\.|^\s*mp:\s*$|^mp\.messaging:`)

func sniffQuarkus(_ string, data []byte) int {
	if quarkusKey.Match(data) && bytes.Contains(data, []byte("messaging")) {
		return 85
	}
	return 0
}

var (
	quarkusProfile  = pattern.New(`^"?%([A-Za-z0-9_,-]+)"?\.`)
	quarkusIncoming = pattern.New(`^mp\.messaging\.incoming\.(?:"([^"]+)"|([^.]+))\.(.+)$`)
	quarkusShared   = pattern.New(`^(?:kafka|mp\.messaging\.connector\.smallrye-kafka)\.(.+)$`)
)

// readQuarkus reads mp.messaging.incoming.<channel>.*: one consumer a channel and
// profile, below them the settings for all.
func readQuarkus(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	var es []entry
	var lost []int
	if isYAML(name, data) {
		trees, err := parseYAML(data)
		if err != nil {
			return nil, err
		}
		for _, t := range trees {
			es = append(es, entriesOf(t)...)
			lost = append(lost, dottedKeys(t)...)
		}
	} else {
		f, err := properties.Parse(data)
		if err != nil {
			return nil, err
		}
		es = entriesOfProperties(f)
	}
	q := quarkus{name: name, o: o, channels: map[string]*builder{}, lost: lost}
	for _, e := range es {
		q.entry(e)
	}
	return q.configs(), nil
}

// dottedKeys are the lines of a channel's keys that hold a dot themselves, "group.id:":
// Quarkus takes such a key of YAML for one in quotes, and no setting has that name.
func dottedKeys(root *node) []int {
	var lines []int
	root.walk(func(path []string, n *node) {
		if n.kind == scalar && len(path) > 1 && strings.Contains(n.key, ".") && !strings.HasPrefix(n.key, "[") && quarkusIncoming.MatchString(join(path)) {
			lines = append(lines, n.line)
		}
	})
	return lines
}

// lost notes a dotted key of YAML, in one problem for all of a channel: that of group.id,
// where it is among them.
func (b *builder) lost(key string, e entry) {
	nested := strings.ReplaceAll(key, ".", ": {") + ": …" + strings.Repeat("}", strings.Count(key, "."))
	p := inspect.ConfigProblem{Kind: "lost_value", Where: inspect.Position{File: b.c.Where.File, Line: e.line}, Key: key, Nearest: nested,
		Message: fmt.Sprintf("%s=%s has no effect, nor has any other dotted key of the channel: Quarkus takes a dotted key of YAML for one in quotes (\"%s\"), so that another value is in force", key, shorten(e.value), key)}
	for i, old := range b.c.Problems {
		if old.Kind == p.Kind {
			if key == "group.id" {
				b.c.Problems[i] = p
			}
			return
		}
	}
	b.c.Problems = append(b.c.Problems, p)
}

type quarkus struct {
	lost     []int // lines whose key is not read as it looks
	name     string
	o        Options
	shared   []entry
	channels map[string]*builder // by profile and channel
	order    []string
}

func (q *quarkus) entry(e entry) {
	path, profile := e.path, ""
	if m := quarkusProfile.FindStringSubmatch(path); m != nil {
		profile, path = m[1], path[len(m[0]):]
	}
	if m := quarkusShared.FindStringSubmatch(path); m != nil && profile == "" {
		e.path = m[1]
		q.shared = append(q.shared, e)
		return
	}
	m := quarkusIncoming.FindStringSubmatch(path)
	if m == nil {
		return
	}
	channel, key := m[1]+m[2], m[3]
	id := profile + "\x00" + channel
	b := q.channels[id]
	if b == nil {
		b = newBuilder(q.name, "quarkus", inspect.Java, q.o, e.line)
		b.c.Name, b.c.Profile = channel, profile
		q.channels[id] = b
		q.order = append(q.order, id)
	}
	switch {
	case slices.Contains(q.lost, e.line):
		if _, ok := consumerKeys()[Canonical(key)]; ok {
			b.lost(key, e)
		}
	case key == "connector":
		if e.value == "smallrye-kafka" {
			q.smallrye(b, strings.TrimSuffix(e.path, "connector"))
		}
	case key == "partitions" || key == "concurrency":
		if n, err := strconv.Atoi(e.value); err == nil && n > 0 && n < 10_000 {
			b.c.Members = n
		}
	case key == recordAge || key == "commit-strategy" || key == "max-queue-size-factor":
		b.set(key, e.path, e.value, e.line, rankOwn)
	case strings.Contains(key, ".") && !strings.Contains(key, "-") && !strings.HasPrefix(key, "throttled."):
		b.own(key, e.path, e.value, e.line, rankOwn) // the connector's own attributes have no dots, or dashes
	}
}

// recordAge is SmallRye's limit for a record that was read and is not processed.
const recordAge = "throttled.unprocessed-record-max-age.ms"

// smallrye notes that a channel is SmallRye's, with the defaults and limits of its
// connector.
func (q *quarkus) smallrye(b *builder, prefix string) {
	b.c.Framework = "smallrye"
	b.c.Spellings = map[string]string{}
	for _, key := range []string{recordAge, "commit-strategy", "max-queue-size-factor", "max.poll.records", "max.poll.interval.ms", "session.timeout.ms",
		"heartbeat.interval.ms", "group.instance.id", "connections.max.idle.ms", "request.timeout.ms"} {
		b.c.Spellings[key] = prefix + key
	}
}

func (q *quarkus) configs() []inspect.ClientConfig {
	var out []inspect.ClientConfig
	for _, id := range q.order {
		b := q.channels[id]
		if b.c.Profile != "" {
			if base := q.channels["\x00"+b.c.Name]; base != nil {
				for _, s := range base.c.Settings {
					s.Origin = inspect.OriginInherited
					b.put(s, rankInherited)
				}
			}
		}
		for _, e := range q.shared {
			if _, ok := consumerKeys()[Canonical(e.path)]; ok {
				b.set(Canonical(e.path), "kafka."+e.path, e.value, e.line, rankInherited)
			}
		}
		if base := q.channels["\x00"+b.c.Name]; base != nil && b.c.Framework == "" {
			b.c.Framework, b.c.Spellings = base.c.Framework, base.c.Spellings
		}
		if b.some() || b.c.Framework != "" {
			out = append(out, b.c)
		}
	}
	return out
}
