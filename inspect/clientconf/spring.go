package clientconf

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Spring Boot: application.properties and YAML with spring.kafka.*, and Spring Cloud
// Stream's Kafka binder. Asked of Boot 2.7.18 and 3.5.0: flat, nested and bracketed
// spellings under "properties" are one key; a YAML list there becomes "key.0" and is
// lost; typed names that do not exist are dropped without a word.
var (
	_ = register(dialect{name: "spring", sniff: sniffSpring, read: readSpring})

	springKey = pattern.New(`(?m)^\s*"?spring\.(?:kafka|cloud\.stream)\b`)
	springDoc = pattern.New(`(?m)^spring:\s*(?:#.*)?$`)
)

func sniffSpring(name string, data []byte) int {
	switch {
	case springKey.Match(data):
		return 80
	case springDoc.Match(data) && (bytes.Contains(data, []byte("kafka:")) || bytes.Contains(data, []byte("kafka."))):
		return 80
	}
	return 0
}

// springTyped are the typed names below spring.kafka.consumer, in Spring's relaxed
// form (lower case without dashes), with the client's key (Spring Boot's
// KafkaProperties; max-poll-interval from 3.5.0).
var springTyped = map[string]string{
	"groupid": "group.id", "clientid": "client.id", "heartbeatinterval": "heartbeat.interval.ms",
	"maxpollinterval": "max.poll.interval.ms", "maxpollrecords": "max.poll.records",
	"autocommitinterval": "auto.commit.interval.ms", "enableautocommit": "enable.auto.commit",
	"fetchmaxwait": "fetch.max.wait.ms", "fetchminsize": "fetch.min.bytes", "isolationlevel": "isolation.level",
	"autooffsetreset": "auto.offset.reset", "bootstrapservers": "bootstrap.servers",
	"keydeserializer": "key.deserializer", "valuedeserializer": "value.deserializer",
}

// springTypedOther are typed names that concern no group.
var springTypedOther = map[string]bool{"ssl": true, "security": true, "properties": true, "maxattempts": true}

// springDocument is one document of a file: a profile's, or everybody's.
type springDocument struct {
	profile string
	line    int
	entries []entry
}

func readSpring(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	docs, err := springDocuments(name, data)
	if err != nil {
		return nil, err
	}
	var base []entry
	for _, d := range docs {
		if d.profile == "" {
			base = append(base, d.entries...)
		}
	}
	configs := springConfigs(name, "", base, nil, o)
	for _, d := range docs {
		if d.profile != "" && mentionsKafka(d.entries) {
			configs = append(configs, springConfigs(name, d.profile, base, d.entries, o)...)
		}
	}
	return configs, nil
}

func mentionsKafka(es []entry) bool {
	for _, e := range es {
		if strings.HasPrefix(e.path, "spring.kafka.") || strings.HasPrefix(e.path, "spring.cloud.stream.") {
			return true
		}
	}
	return false
}

// springDocuments splits a file at --- (YAML) or #--- (.properties), and finds the
// profile of each part, in Boot 2.4's spelling and the older one.
func springDocuments(name string, data []byte) ([]springDocument, error) {
	var docs []springDocument
	if isYAML(name, data) {
		trees, err := parseYAML(data)
		if err != nil {
			return nil, err
		}
		for _, t := range trees {
			docs = append(docs, springDocument{line: t.line, entries: entriesOf(t)})
		}
	} else {
		f, err := properties.Parse(data)
		if err != nil {
			return nil, err
		}
		docs = splitProperties(entriesOfProperties(f), data)
	}
	for i := range docs {
		docs[i].profile = profileOf(docs[i].entries)
		if docs[i].profile == "" && len(docs) == 1 {
			// application-prod.yml is the profile's own file.
			base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
			if p, ok := strings.CutPrefix(base, "application-"); ok {
				docs[i].profile = p
			}
		}
	}
	return docs, nil
}

func profileOf(es []entry) string {
	var all []string
	for _, e := range es {
		p := e.path
		if i := strings.IndexByte(p, '['); i > 0 {
			p = p[:i]
		}
		if p == "spring.config.activate.on-profile" || p == "spring.profiles" {
			all = append(all, e.value)
		}
	}
	return strings.Join(all, ",")
}

func splitProperties(es []entry, data []byte) []springDocument {
	var cuts []int
	for i, line := range strings.Split(string(data), "\n") {
		if t := strings.TrimSpace(line); t == "#---" || t == "!---" {
			cuts = append(cuts, i+1)
		}
	}
	docs := []springDocument{{line: 1}}
	for _, e := range es {
		for len(cuts) > 0 && e.line > cuts[0] {
			docs = append(docs, springDocument{line: cuts[0] + 1})
			cuts = cuts[1:]
		}
		last := &docs[len(docs)-1]
		last.entries = append(last.entries, e)
	}
	return docs
}

// isYAML tells YAML from .properties by name, else by the first line with text.
func isYAML(name string, data []byte) bool {
	switch filepath.Ext(name) {
	case ".yml", ".yaml", ".json":
		return true
	case ".properties", ".env", ".conf", ".cfg", ".ini":
		return false
	}
	for _, line := range strings.Split(string(data), "\n") {
		t := strings.TrimSpace(line)
		if t == "" || strings.HasPrefix(t, "#") {
			continue
		}
		if t == "---" || strings.HasPrefix(t, "{") || strings.HasPrefix(t, "- ") {
			return true
		}
		colon, equal := strings.IndexByte(t, ':'), strings.IndexByte(t, '=')
		return colon > 0 && (equal < 0 || colon < equal)
	}
	return false
}

// springConfigs finds the consumers of one profile: the base document's values are
// inherited where a profile is given.
func springConfigs(name, profile string, base, own []entry, o Options) []inspect.ClientConfig {
	type layer struct {
		entries   []entry
		inherited bool
	}
	layers := []layer{{base, profile != ""}, {own, false}}
	main := newBuilder(name, "spring", inspect.Java, o, 1)
	streams := newBuilder(name, "spring", inspect.StreamsLib, o, 1)
	cloud := newCloud(name, o)
	for _, l := range layers {
		s := springReader{main: main, streams: streams}
		for _, e := range l.entries {
			s.entry(e)
			cloud.entry(e)
		}
		if l.inherited {
			inherit(&main.c)
			inherit(&streams.c)
		}
	}
	var out []inspect.ClientConfig
	for _, b := range append([]*builder{main, streams}, cloud.builders()...) {
		// Settings for everybody are no consumer's of their own where nobody uses them.
		if b == streams && !usesStreams(b) {
			continue
		}
		if b.some() && (b != main || hasOwn(b) || len(cloud.bindings) == 0 && !usesStreams(streams)) {
			b.c.Profile = profile
			out = append(out, b.c)
		}
	}
	return out
}

// inherit marks everything so far as the base document's.
func inherit(c *inspect.ClientConfig) {
	for i := range c.Settings {
		c.Settings[i].Origin = inspect.OriginInherited
	}
}

// usesStreams reports whether anything was said of Streams itself; settings for every
// client make no Streams application.
func usesStreams(b *builder) bool {
	for _, s := range b.c.Settings {
		if strings.HasPrefix(s.Spelled, "spring.kafka.streams.") {
			return true
		}
	}
	return false
}

func hasOwn(b *builder) bool {
	for _, s := range b.c.Settings {
		if strings.HasPrefix(s.Spelled, "spring.kafka.consumer.") || strings.HasPrefix(s.Spelled, "spring.kafka.listener.") {
			return true
		}
	}
	return len(b.c.Problems) > 0
}

// springReader reads spring.kafka.*.
type springReader struct{ main, streams *builder }

func (s springReader) entry(e entry) {
	rest, ok := strings.CutPrefix(e.path, "spring.kafka.")
	if !ok {
		return
	}
	section, key, _ := strings.Cut(rest, ".")
	switch relaxed(section) {
	case "consumer":
		s.consumer(e, key)
	case "listener":
		s.listener(e, key)
	case "properties":
		s.passed(s.main, e, key, rankInherited)
		s.passed(s.streams, e, key, rankInherited)
	case "streams":
		s.stream(e, key)
	case "bootstrapservers":
		s.main.set("bootstrap.servers", e.path, e.value, e.line, rankInherited)
	case "clientid":
		s.main.set("client.id", e.path, e.value, e.line, rankInherited)
	}
}

// consumer reads spring.kafka.consumer.*: a typed name, or the map "properties".
func (s springReader) consumer(e entry, key string) {
	head, rest, _ := strings.Cut(key, ".")
	if relaxed(head) == "properties" {
		s.passed(s.main, e, rest, rankOwn)
		return
	}
	typed := relaxed(head)
	if i := strings.IndexByte(typed, '['); i > 0 {
		typed = typed[:i]
	}
	if client, ok := springTyped[typed]; ok && (rest == "" || rest[0] == '[') {
		s.main.setUnit(client, e.path, e.value, e.line, rankTyped, "ms")
		return
	}
	if springTypedOther[typed] {
		return
	}
	where := inspect.Position{File: s.main.c.Where.File, Line: e.line}
	meant := Nearest(strings.NewReplacer("-", ".", "_", ".").Replace(key))
	if Known(strings.NewReplacer("-", ".").Replace(key)) {
		meant = Canonical(strings.NewReplacer("-", ".").Replace(key))
	}
	msg := e.path + " is no property of Spring Boot and is dropped without a word"
	near := ""
	if meant != "" {
		near = "spring.kafka.consumer.properties." + meant
		msg += "; write " + near
	}
	s.main.problem("lost_value", where, e.path, near, msg)
}

// passed reads a map that goes to the client as it is.
func (s springReader) passed(b *builder, e entry, key string, rank int) {
	if e.list {
		if i := strings.LastIndexByte(key, '['); i > 0 {
			key = key[:i]
		}
		where := inspect.Position{File: b.c.Where.File, Line: e.line}
		for _, p := range b.c.Problems {
			if p.Kind == "lost_value" && strings.HasSuffix(p.Key, key) {
				return
			}
		}
		b.problem("lost_value", where, strings.TrimSuffix(e.path[:strings.LastIndexByte(e.path, '[')+1], "["), "",
			fmt.Sprintf("%s is a list: Spring passes it on as %s.0, which the client does not know; write the values as one text, separated by commas", key, key))
		return
	}
	b.own(key, e.path, e.value, e.line, rank)
}

// listener reads what the container does between two polls.
func (s springReader) listener(e entry, key string) {
	switch relaxed(key) {
	case "concurrency":
		if n, err := strconv.Atoi(strings.TrimSpace(e.value)); err == nil && n > 0 && n < 10_000 {
			s.main.c.Members = n
		}
	case "idlebetweenpolls":
		if d, ok := duration(e.value, "ms"); ok {
			s.main.put(inspect.Setting{Key: IdleBetweenPolls, Spelled: e.path, Value: e.value, Millis: inspect.Ms(d),
				Where: inspect.Position{File: s.main.c.Where.File, Line: e.line}, Origin: inspect.OriginSet}, rankOwn)
		}
	}
}

// IdleBetweenPolls is the key under which Spring's listener pause between two polls
// is kept; the client does not know it.
const IdleBetweenPolls = "spring.idle-between-polls"

func (s springReader) stream(e entry, key string) {
	head, rest, _ := strings.Cut(key, ".")
	switch relaxed(head) {
	case "properties":
		streamsKey(s.streams, rest, e)
	case "applicationid":
		s.streams.set("application.id", e.path, e.value, e.line, rankTyped)
	case "clientid":
		s.streams.set("client.id", e.path, e.value, e.line, rankTyped)
	}
}

// relaxed is Spring's canonical form of one element: lower case, no dashes.
func relaxed(s string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s))
}

// cloudReader reads Spring Cloud Stream: one consumer a binding.
type cloudReader struct {
	name     string
	o        Options
	shared   *builder
	bindings map[string]*builder
	order    []string
}

func newCloud(name string, o Options) *cloudReader {
	return &cloudReader{name: name, o: o, shared: newBuilder(name, "spring cloud stream", inspect.Java, o, 1), bindings: map[string]*builder{}}
}

var (
	cloudBinder  = pattern.New(`^spring\.cloud\.stream\.kafka\.(?:default\.)?(?:binder|consumer)\.(?:consumer-?[pP]roperties|configuration)\.(.+)$`)
	cloudBinding = pattern.New(`^spring\.cloud\.stream\.kafka\.bindings\.([^.]+)\.consumer\.configuration\.(.+)$`)
	cloudGroup   = pattern.New(`^spring\.cloud\.stream\.bindings\.([^.]+)\.(group|consumer\.concurrency)$`)
	cloudEnv     = pattern.New(`^spring\.cloud\.stream\.binders\.[^.]+\.environment\.`)
)

func (c *cloudReader) entry(e entry) {
	path := cloudEnv.ReplaceAllString(e.path, "")
	if m := cloudBinder.FindStringSubmatch(path); m != nil {
		c.shared.own(m[1], e.path, e.value, e.line, rankInherited)
	}
	if m := cloudBinding.FindStringSubmatch(path); m != nil {
		c.binding(m[1], e.line).own(m[2], e.path, e.value, e.line, rankOwn)
	}
	if m := cloudGroup.FindStringSubmatch(path); m != nil {
		b := c.binding(m[1], e.line)
		if m[2] == "group" {
			b.set("group.id", e.path, e.value, e.line, rankTyped)
		} else if n, err := strconv.Atoi(e.value); err == nil && n > 0 && n < 10_000 {
			b.c.Members = n
		}
	}
}

func (c *cloudReader) binding(name string, line int) *builder {
	if b := c.bindings[name]; b != nil {
		return b
	}
	b := newBuilder(c.name, "spring cloud stream", inspect.Java, c.o, line)
	b.c.Name = name
	c.bindings[name] = b
	c.order = append(c.order, name)
	return b
}

// builders are the bindings with the binder's settings below their own; the binder
// alone where it has no bindings.
func (c *cloudReader) builders() []*builder {
	if len(c.order) == 0 {
		return []*builder{c.shared}
	}
	var out []*builder
	for _, name := range c.order {
		b := c.bindings[name]
		for _, s := range c.shared.c.Settings {
			b.put(s, rankInherited)
		}
		b.c.Problems = append(b.c.Problems, c.shared.c.Problems...)
		out = append(out, b)
	}
	return out
}
