package clientconf

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Source text of programs, and XML: the settings that a line gives a consumer as
// literals, in the spelling of the client that the text uses. What is no literal is said
// to be unknown; nothing is worked out from the flow of a program.
var _ = register(dialect{name: "source", sniff: sniffSource, read: readSource})

var (
	quotedKey    = pattern.New(`["'\x60]([a-z][a-z0-9]*(?:\.[a-z0-9]+)+)["'\x60]\s*[\])]*\s*(?:=>|,|:|=|\s+value=)\s*([^\n]*)`)
	quotedPair   = pattern.New(`["']([a-z][a-z0-9]*(?:\.[a-z0-9]+)+)\s*[=:]\s*([^"'=:]+)["']`)
	javaConstant = pattern.New(`\b([A-Z][A-Z0-9_]+)_CONFIG\b\s*[\])]*\s*(?:,|=|to\b|->|\s)\s*([^\n]*)`)
	ednPair      = pattern.New(`[":]([a-z][a-z0-9]*(?:\.[a-z0-9]+)+)"?\s+("[^"]*"|\d[^\n]*)`)
	camelOption  = pattern.New(`[?&]([a-z][A-Za-z]+)=([^&"'\s]+)`)
	fluentCall   = pattern.New(`\.[wW]ith([A-Z][A-Za-z]+)\(([^\n]*)`)
	unitful      = pattern.New(`(?i)timespan\.|duration|\.(?:milli|second|minute|hour)`)
	termPair     = pattern.New(`\{\s*:?([a-z_]+)\s*,\s*([^\n]*)`)
	namedValue   = pattern.New(`\b([A-Za-z_][A-Za-z0-9_.]*)\s*(?::=|=|:)\s*([^\n=][^\n]*)`)
	kgoOption    = pattern.New(`\bkgo\.([A-Z][A-Za-z]+)\(([^\n]*)`)
	xmlProperty  = pattern.New(`\bkey="([a-z][a-z0-9.]+)"\s*(?:value="([^"]*)"|>([^<]*)<)`)
	xmlElement   = pattern.New(`<([a-z][a-z0-9_.]+)>([^<>]+)</`)
	comment      = pattern.New(`^\s*(?://|#|\*|/\*|--|<!--)`)

	codeLine = pattern.New(`(?m)^\s*(?:import |from \S+ import |package |using [\w.]+;|namespace |#include|const |let |var |val |def |func |fn |public |private |@\w+\(|<\?(?:php|xml))|\bnew [A-Z]\w*[({]|\);\s*$|\)\s*\{\s*$|^\s*[\w.]+\s*:?=\s*&?[\w.]+[({]\s*$|^\s*\w+\([^)\n]*$`)
	argument = pattern.New(`(?m)^\s*\w+\s*=\s*[^#\n]+,\s*$`)
)

// looksCode tells a program's text from a file of settings.
func looksCode(name string, data []byte) bool {
	if _, ok := languages[filepath.Ext(name)]; ok {
		return true
	}
	switch filepath.Ext(name) {
	case ".properties", ".yml", ".yaml", ".json", ".toml", ".env", ".conf", ".cfg", ".ini", ".tf", ".hcl":
		return false
	}
	return codeLine.Match(data) || len(argument.FindAll(data, 2)) == 2
}

// languages are the endings of source files, with the client that dotted names mean there.
var languages = map[string]inspect.Family{
	".java": inspect.Java, ".kt": inspect.Java, ".kts": inspect.Java, ".scala": inspect.Java, ".groovy": inspect.Java, ".clj": inspect.Java, ".xml": inspect.Java,
	".cs": inspect.Librdkafka, ".fs": inspect.Librdkafka, ".vb": inspect.Librdkafka, ".py": inspect.Librdkafka, ".go": inspect.Librdkafka, ".rs": inspect.Librdkafka,
	".js": inspect.Librdkafka, ".ts": inspect.Librdkafka, ".mjs": inspect.Librdkafka, ".php": inspect.Librdkafka, ".rb": inspect.Librdkafka, ".c": inspect.Librdkafka,
	".cpp": inspect.Librdkafka, ".cc": inspect.Librdkafka, ".h": inspect.Librdkafka, ".ex": inspect.Brod, ".exs": inspect.Brod, ".erl": inspect.Brod,
	".hs": inspect.Librdkafka, ".swift": inspect.Librdkafka, ".lua": inspect.Librdkafka, ".sql": inspect.Java, ".edn": inspect.Java, ".cljs": inspect.Java,
}

// uses are words by which a text tells the client that it uses; the first that is there
// decides.
var uses = []struct {
	word   string
	family inspect.Family
}{
	{"k6/x/kafka", inspect.KafkaGo}, {"BroadwayKafka", inspect.Brod}, {"brod", inspect.Brod}, {"kafka_ex", inspect.KafkaEx}, {"KafkaEx.", inspect.KafkaEx}, {"faststream.kafka", inspect.AIOKafka}, {"kafka.consumer(group_id:", inspect.RubyKafka},
	{"Racecar", inspect.Librdkafka}, {"require \"kafka\"", inspect.RubyKafka}, {"require 'kafka'", inspect.RubyKafka}, {"faust.App(", inspect.AIOKafka},
	{"org.apache.kafka.streams", inspect.StreamsLib}, {"StreamsConfig.", inspect.StreamsLib}, {"ConsumerConfig.", inspect.Java}, {"org.apache.kafka", inspect.Java},
	{"KafkaListener", inspect.Java}, {"AIOKafka", inspect.AIOKafka}, {"aiokafka", inspect.AIOKafka}, {"confluent_kafka", inspect.Librdkafka},
	{"Confluent.Kafka", inspect.Librdkafka}, {"confluent-kafka", inspect.Librdkafka}, {"rdkafka", inspect.Librdkafka}, {"RdKafka", inspect.Librdkafka},
	{"KafkaConsumer(", inspect.KafkaPython}, {"sarama", inspect.Sarama}, {"kgo.", inspect.FranzGo}, {"segmentio/kafka-go", inspect.KafkaGo},
	{"ReaderConfig", inspect.KafkaGo}, {"ConsumerGroupConfig", inspect.KafkaGo}, {"kafkajs", inspect.KafkaJS}, {"kafka.consumer(", inspect.KafkaJS},
	{"<kafka>", inspect.Librdkafka}, {"Transport.KAFKA", inspect.KafkaJS}, {"sessionTimeout:", inspect.KafkaJS}, {"kafka.ConfigMap", inspect.Librdkafka}, {"new ConsumerConfig", inspect.Librdkafka},
	{"eachMessage", inspect.KafkaJS}, {"eachBatch", inspect.KafkaJS}, {"fromBeginning:", inspect.KafkaJS}, {"kafka.Reader", inspect.KafkaGo},
}

// namesClient reports whether a text names a client of Kafka, so that what it makes is a
// consumer of Kafka.
func namesClient(data []byte) bool {
	for _, u := range uses {
		if bytes.Contains(data, []byte(u.word)) {
			return true
		}
	}
	return false
}

// newConsumer makes a consumer as Java, JavaScript and PHP do, and Python does not.
var newConsumer = pattern.New(`\bnew\s+[\w.\\]*KafkaConsumer\(`)

func familyOfText(name string, data []byte) inspect.Family {
	for _, u := range uses {
		if bytes.Contains(data, []byte(u.word)) && (u.family != inspect.KafkaPython || !newConsumer.Match(data)) {
			return u.family
		}
	}
	if f, ok := languages[filepath.Ext(name)]; ok {
		return f
	}
	return inspect.Java
}

// assigned is one setting that a line of a program gives.
type assigned struct {
	key, spelled, value string
	line                int
	unit                string // of a plain number: "s"; "" the client's milliseconds or durations
}

func sniffSource(name string, data []byte) int {
	if !looksCode(name, data) {
		return 0
	}
	named := ofKafka.Match(data)
	for _, a := range assignments(data, familyOfText(name, data)) {
		if (tellingKeys[a.key] || consumersAlone[a.key] && strings.Contains(a.spelled, ".")) && (named || strings.Contains(a.spelled, ".") || strings.HasSuffix(a.spelled, "_CONFIG")) {
			return 50
		}
	}
	if sparkPollSet.Match(data) || len(actsOf(name, data, familyOfText(name, data))) > 0 {
		return 30
	}
	return 0
}

// ofKafka is a word without which a text whose names are short, such as sessionTimeout, is
// about something else.
var ofKafka = pattern.New(`(?i)kafka|kgo\.|sarama|brod|group_?id|consumer|faust\.App`)

// readSource makes a consumer of each run of settings; one that comes again begins the
// next consumer.
func readSource(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	family := familyOfText(name, data)
	in := valuesOf(data, family)
	var out []inspect.ClientConfig
	framework, framed := settings.FrameworkOf(frameworkOfText(data))
	begin := func() *builder {
		b := newBuilder(name, "source", family, o, 0)
		if framed {
			b.c.Framework = framework.Name
			b.spellings(framework, nil)
		}
		return b
	}
	b := begin()
	flush := func() {
		if timing(b.c) || slices.ContainsFunc(b.c.Problems, func(p inspect.ConfigProblem) bool { return tellingKeys[p.Of] }) {
			out = append(out, b.c)
		}
		b = begin()
	}
	for _, a := range near(assignments(data, family)) {
		if _, again := b.c.Get(a.key); again {
			flush()
		}
		if b.c.Where.Line == 0 {
			b.c.Where.Line = a.line
		}
		text, ok := in.of(a.value, IsDuration(a.key) && a.unit == "")
		if !ok {
			b.problem("placeholder", inspect.Position{File: name, Line: a.line}, a.spelled, "", a.spelled+" is set to "+shorten(strings.TrimRight(expression(a.value), " ,;"))+", which is no literal: its value is unknown here")
			b.unknown(a.key)
			continue
		}
		if n, tiny := strings.CutSuffix(text, "ns"); tiny && a.unit == "" {
			b.setUnit(a.key, a.spelled, n, a.line, rankOwn, "ns")
			continue
		}
		b.setUnit(a.key, a.spelled, a.inUnit(text), a.line, rankOwn, a.unit)
	}
	flush()
	if b.sparkPoll(data); b.some() && len(out) == 0 {
		b.c.Where.Line = b.c.Problems[0].Where.Line
		out = append(out, b.c)
	} else if b.some() {
		out[0].Problems = append(out[0].Problems, b.c.Problems...)
	}
	return withActs(out, actsOf(name, data, family), begin), nil
}

// withActs hands each act of a program's text to the consumer that it is about: the one of
// its group, else the last whose settings begin above it. Where the text sets nothing, the
// acts make a consumer of their own.
func withActs(configs []inspect.ClientConfig, acts []inspect.Act, begin func() *builder) []inspect.ClientConfig {
	if len(configs) == 0 && len(acts) > 0 {
		c := begin().c
		c.Where.Line, c.Group = acts[0].Where.Line, soleGroup(acts)
		configs = []inspect.ClientConfig{c}
	}
	for _, a := range acts {
		to := 0
		for i, c := range configs {
			if c.Where.Line <= a.Where.Line {
				to = i
			}
		}
		if i := slices.IndexFunc(configs, func(c inspect.ClientConfig) bool { return a.Group != "" && c.Group == a.Group }); i >= 0 {
			to = i
		}
		configs[to].Acts = append(configs[to].Acts, a)
	}
	return configs
}

// soleGroup is the one group that acts name as a literal; "" where there are none or several.
func soleGroup(acts []inspect.Act) string {
	group := ""
	for _, a := range acts {
		switch {
		case a.Group == "" || strings.HasPrefix(a.Group, "("):
		case group != "" && group != a.Group:
			return ""
		default:
			group = a.Group
		}
	}
	return group
}

// inUnit is a value as the setting's plain numbers count it: what names a unit of its own
// comes in milliseconds.
func (a assigned) inUnit(text string) string {
	millis, named := strings.CutSuffix(text, "ms")
	n, err := strconv.ParseFloat(millis, 64)
	switch {
	case !named || err != nil:
		return text
	case a.unit == "s":
		return strconv.FormatFloat(n/1000, 'f', -1, 64)
	}
	return millis
}

// frameworkOfText is the framework that a program's text uses; "" for the client alone.
func frameworkOfText(data []byte) string {
	switch {
	case bytes.Contains(data, []byte("faust.App(")):
		return "faust"
	case bytes.Contains(data, []byte("Racecar")):
		return "racecar"
	}
	return ""
}

// reach is how many lines a setting that producers have too may stand from one that only
// a consumer has.
const reach = 25

// consumersAlone are the keys beside tellingKeys that in a program, written out, are a
// consumer's; in a file of settings a topic's section has them too.
var consumersAlone = map[string]bool{"auto.offset.reset": true, "enable.auto.commit": true, "enable.auto.offset.store": true, "auto.commit.interval.ms": true}

// near leaves out what stands apart from every setting that only a consumer has.
func near(all []assigned) []assigned {
	var out []assigned
	for _, a := range all {
		for _, b := range all {
			if (tellingKeys[b.key] || consumersAlone[b.key] && strings.Contains(b.spelled, ".")) && a.line-b.line <= reach && b.line-a.line <= reach {
				out = append(out, a)
				break
			}
		}
	}
	return out
}

// assignments finds the settings in a text, in its order.
func assignments(data []byte, family inspect.Family) []assigned {
	var out []assigned
	names := namesIn(data, family)
	for i, line := range strings.Split(string(data), "\n") {
		if len(line) > 2000 || comment.MatchString(line) {
			continue
		}
		add := func(key, spelled, value string) bool {
			if _, ok := consumerKeys()[key]; !ok || Secret(spelled) {
				return false
			}
			out = append(out, assigned{key, spelled, strings.TrimSpace(value), i + 1, names[spelled[strings.LastIndexByte(spelled, '.')+1:]].unit})
			return true
		}
		lineAssignments(line, family, names, add)
	}
	return out
}

// lineAssignments hands on what one line sets, by the first form that fits it.
func lineAssignments(line string, family inspect.Family, names map[string]name, add func(key, spelled, value string) bool) {
	found := false
	for _, m := range xmlProperty.FindAllStringSubmatch(line, -1) {
		found = add(Canonical(m[1]), m[1], m[2]+m[3]) || found
	}
	for _, m := range quotedPair.FindAllStringSubmatch(line, -1) {
		found = !found && add(Canonical(m[1]), m[1], m[2]) || found
	}
	if found {
		return
	}
	named := func(spelled, value string) bool {
		key, ok := keyOfName(spelled, names, family)
		if !ok && family == inspect.Librdkafka && unitful.MatchString(value) { // MassTransit's TimeSpans
			key, ok = keyOfName(spelled+"Ms", names, family)
		}
		return ok && add(key, spelled, value)
	}
	dotted := func(spelled, value string) bool {
		if listed(value) {
			return false
		}
		key := Canonical(spelled)
		if prefix, rest := cutPrefix(spelled); prefix != "" && !notConsumers.MatchString(prefix) && !brokerKeys[spelled] {
			key = rest // Flink's and Spark's way to hand a setting on
		}
		return add(key, spelled, value)
	}
	for _, form := range []struct {
		is   bool
		form *pattern.Pattern
		take func(spelled, value string) bool
	}{
		{true, javaConstant, func(spelled, value string) bool {
			return add(strings.ToLower(strings.ReplaceAll(spelled, "_", ".")), spelled+"_CONFIG", value)
		}},
		{true, quotedKey, dotted},
		{strings.Contains(line, "kafka:"), camelOption, func(spelled, value string) bool { return add(foldedKeys()[settings.Fold(spelled)], spelled, value) }},
		{family == inspect.FranzGo, kgoOption, func(option, value string) bool {
			if strings.HasPrefix(value, ")") {
				value = "true" // an option that is switched on by being there
			}
			return add(names["kgo."+option].key, "kgo."+option, value)
		}},
		{true, xmlElement, dotted},
		{true, ednPair, dotted},
		{true, fluentCall, func(spelled, value string) bool {
			key, ok := foldedKeys()[settings.Fold(spelled)]
			if !ok && unitful.MatchString(value) {
				key, ok = foldedKeys()[settings.Fold(spelled+"Ms")]
			}
			return ok && add(key, "with"+spelled, value)
		}},
		{family == inspect.Brod || family == inspect.KafkaEx, termPair, named},
		{true, namedValue, named},
	} {
		if form.is && eachMatch(form.form, line, form.take) {
			return
		}
	}
}

// nextName is a setting's name where a value would stand.
var nextName = pattern.New(`^["'\x60]([a-z][a-z0-9]*(?:\.[a-z0-9]+)+)["'\x60]`)

// listed reports whether what follows a name is the next one of a list of names, and no
// value.
func listed(value string) bool {
	m := nextName.FindStringSubmatch(value)
	return m != nil && Known(m[1])
}

// eachMatch hands on every match of a form in a line: a name, and what follows it to the
// line's end, which may hold the next. It reports whether one was taken.
func eachMatch(form *pattern.Pattern, line string, take func(name, value string) bool) bool {
	found := false
	for rest := line; ; {
		at := form.FindStringSubmatchIndex(rest)
		if at == nil {
			return found
		}
		found = take(rest[at[2]:at[3]], rest[at[4]:at[5]]) || found
		rest = rest[at[4]:]
	}
}

// name is what a spelling of a client's own stands for.
type name struct {
	key, unit string
}

// namesIn are the names of a client, or of the framework around it, that has its own, by
// spelling.
func namesIn(data []byte, family inspect.Family) map[string]name {
	out := map[string]name{}
	for _, s := range settings.All(family) {
		out[s.Name] = name{s.Key, s.Unit()}
		if family == inspect.KafkaGo { // as xk6-kafka's scripts have them
			out[strings.ToLower(s.Name[:1])+s.Name[1:]] = name{s.Key, s.Unit()}
		}
	}
	if f, ok := settings.FrameworkOf(frameworkOfText(data)); ok {
		for _, x := range f.Fields() {
			out[x.Name] = name{x.Key, strings.TrimPrefix(x.Unit, "ms")}
		}
	}
	return out
}

// KeyOf is the Java name of a consumer's setting as programs of a client spell it; "" for
// other words.
func KeyOf(spelled string, family inspect.Family) string {
	if family == inspect.KafkaJS {
		key, _ := keyOfName(spelled, namesIn(nil, family), family)
		return key
	}
	key := Canonical(spelled)
	if _, ok := consumerKeys()[key]; ok && strings.Contains(key, ".") {
		return key
	}
	return ""
}

// keyOfName is the Java name behind an argument or a field of a program.
func keyOfName(spelled string, names map[string]name, family inspect.Family) (string, bool) {
	last := spelled[strings.LastIndexByte(spelled, '.')+1:]
	switch family {
	case inspect.Sarama:
		for own, n := range names {
			if strings.HasSuffix(spelled, "."+own) && own != "ClientID" {
				return n.key, true
			}
		}
		return "", false
	case inspect.Librdkafka: // .NET's properties, and the names of a framework around it
		if n, ok := names[last]; ok && !strings.Contains(last, ".") {
			return n.key, n.key != ""
		}
		if last != "" && last[0] >= 'A' && last[0] <= 'Z' {
			key, ok := foldedKeys()[settings.Fold(last)]
			return key, ok
		}
		return "", false
	case inspect.KafkaJS, inspect.KafkaGo, inspect.RubyKafka, inspect.Brod, inspect.KafkaEx:
		n, ok := names[last]
		return n.key, ok
	case inspect.KafkaPython, inspect.AIOKafka:
		n, ok := names[last]
		return Canonical(n.key), ok
	}
	return "", false
}

// foldedKeys are the consumer's keys without dots, by which other spellings find them.
var foldedKeys = sync.OnceValue(func() map[string]string {
	out := make(map[string]string, len(consumerKeys()))
	for k := range consumerKeys() {
		out[settings.Fold(k)] = k
	}
	return out
})
