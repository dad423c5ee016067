package clientconf

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"time"

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
	javaConstant = pattern.New(`\b(?:ConsumerConfig|CommonClientConfigs|StreamsConfig)\.([A-Z0-9_]+)_CONFIG\s*[\])]*\s*(?:,|=|to|->)\s*([^\n]*)`)
	namedValue   = pattern.New(`\b([A-Za-z_][A-Za-z0-9_.]*)\s*(?::=|=|:)\s*([^\n=][^\n]*)`)
	kgoOption    = pattern.New(`\bkgo\.([A-Z][A-Za-z]+)\(([^\n]*?)\)\s*,?\s*$`)
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
	".cpp": inspect.Librdkafka, ".cc": inspect.Librdkafka, ".h": inspect.Librdkafka,
}

// uses are words by which a text tells the client that it uses; the first that is there
// decides.
var uses = []struct {
	word   string
	family inspect.Family
}{
	{"org.apache.kafka.streams", inspect.StreamsLib}, {"StreamsConfig.", inspect.StreamsLib}, {"ConsumerConfig.", inspect.Java}, {"org.apache.kafka", inspect.Java},
	{"KafkaListener", inspect.Java}, {"AIOKafka", inspect.AIOKafka}, {"aiokafka", inspect.AIOKafka}, {"confluent_kafka", inspect.Librdkafka},
	{"Confluent.Kafka", inspect.Librdkafka}, {"confluent-kafka", inspect.Librdkafka}, {"rdkafka", inspect.Librdkafka}, {"RdKafka", inspect.Librdkafka},
	{"KafkaConsumer(", inspect.KafkaPython}, {"sarama", inspect.Sarama}, {"kgo.", inspect.FranzGo}, {"segmentio/kafka-go", inspect.KafkaGo},
	{"ReaderConfig", inspect.KafkaGo}, {"ConsumerGroupConfig", inspect.KafkaGo}, {"kafkajs", inspect.KafkaJS}, {"kafka.consumer(", inspect.KafkaJS},
	{"<kafka>", inspect.Librdkafka}, {"Transport.KAFKA", inspect.KafkaJS}, {"sessionTimeout:", inspect.KafkaJS}, {"kafka.ConfigMap", inspect.Librdkafka}, {"new ConsumerConfig", inspect.Librdkafka},
}

func familyOfText(name string, data []byte) inspect.Family {
	for _, u := range uses {
		if bytes.Contains(data, []byte(u.word)) {
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
}

func sniffSource(name string, data []byte) int {
	if !looksCode(name, data) {
		return 0
	}
	for _, a := range assignments(data, familyOfText(name, data)) {
		if tellingKeys[a.key] {
			return 50
		}
	}
	return 0
}

// readSource makes a consumer of each run of settings; one that comes again begins the
// next consumer.
func readSource(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	family := familyOfText(name, data)
	var out []inspect.ClientConfig
	b := newBuilder(name, "source", family, o, 0)
	flush := func() {
		if timing(b.c) {
			out = append(out, b.c)
		}
		b = newBuilder(name, "source", family, o, 0)
	}
	for _, a := range near(assignments(data, family)) {
		if _, again := b.c.Get(a.key); again {
			flush()
		}
		if b.c.Where.Line == 0 {
			b.c.Where.Line = a.line
		}
		text, ok := literal(a.value, IsDuration(a.key), family)
		if !ok {
			b.problem("placeholder", inspect.Position{File: name, Line: a.line}, a.spelled, "", a.spelled+" is set to "+shorten(strings.TrimRight(a.value, " ,;"))+", which is no literal: its value is unknown here")
			continue
		}
		b.set(a.key, a.spelled, text, a.line, rankOwn)
	}
	flush()
	return out, nil
}

// reach is how many lines a setting that producers have too may stand from one that only
// a consumer has.
const reach = 25

// near leaves out what stands apart from every setting that only a consumer has.
func near(all []assigned) []assigned {
	var out []assigned
	for _, a := range all {
		for _, b := range all {
			if tellingKeys[b.key] && a.line-b.line <= reach && b.line-a.line <= reach {
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
	for i, line := range strings.Split(string(data), "\n") {
		if len(line) > 2000 || comment.MatchString(line) {
			continue
		}
		add := func(key, spelled, value string) bool {
			if _, ok := consumerKeys()[key]; !ok || Secret(spelled) {
				return false
			}
			out = append(out, assigned{key, spelled, strings.TrimSpace(value), i + 1})
			return true
		}
		lineAssignments(line, family, add)
	}
	return out
}

// lineAssignments hands on what one line sets, by the first form that fits it.
func lineAssignments(line string, family inspect.Family, add func(key, spelled, value string) bool) {
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
	if m := javaConstant.FindStringSubmatch(line); m != nil {
		name := m[1] + "_CONFIG"
		if add(strings.ToLower(strings.ReplaceAll(m[1], "_", ".")), name, m[2]) {
			return
		}
	}
	if quotedKeys(line, add) {
		return
	}
	if m := kgoOption.FindStringSubmatch(line); m != nil && family == inspect.FranzGo {
		if key, ok := namesOf(family)["kgo."+m[1]]; ok && add(key, "kgo."+m[1], m[2]) {
			return
		}
	}
	if m := xmlElement.FindStringSubmatch(line); m != nil && add(Canonical(m[1]), m[1], m[2]) {
		return
	}
	names := namesOf(family)
	for rest := line; ; {
		at := namedValue.FindStringSubmatchIndex(rest)
		if at == nil {
			return
		}
		if key, ok := keyOfName(rest[at[2]:at[3]], names, family); ok {
			add(key, rest[at[2]:at[3]], rest[at[4]:at[5]])
		}
		rest = rest[at[4]:] // what it is set to may hold a name in turn
	}
}

// quotedKeys hands on every quoted key of a line with what follows it.
func quotedKeys(line string, add func(key, spelled, value string) bool) bool {
	found := false
	for rest := line; ; {
		at := quotedKey.FindStringSubmatchIndex(rest)
		if at == nil {
			return found
		}
		spelled := rest[at[2]:at[3]]
		found = add(Canonical(spelled), spelled, rest[at[4]:at[5]]) || found
		rest = rest[at[4]:]
	}
}

// namesOf are the names of a client that has its own, by spelling.
func namesOf(family inspect.Family) map[string]string {
	out := map[string]string{}
	for _, s := range settings.All(family) {
		out[s.Name] = s.Key
	}
	return out
}

// keyOfName is the Java name behind an argument or a field of a program.
func keyOfName(name string, names map[string]string, family inspect.Family) (string, bool) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch family {
	case inspect.Sarama:
		for spelled, key := range names {
			if strings.HasSuffix(name, "."+spelled) && spelled != "ClientID" {
				return key, true
			}
		}
		return "", false
	case inspect.Librdkafka: // .NET's properties
		if last != "" && last[0] >= 'A' && last[0] <= 'Z' {
			key, ok := foldedKeys()[settings.Fold(last)]
			return key, ok
		}
		return "", false
	case inspect.KafkaJS, inspect.KafkaGo:
		key, ok := names[last]
		return key, ok
	case inspect.KafkaPython, inspect.AIOKafka:
		key, ok := names[last]
		return Canonical(key), ok
	}
	return "", false
}

// foldedKeys are the consumer's keys without dots, by which other spellings find them.
func foldedKeys() map[string]string {
	out := make(map[string]string, len(consumerKeys()))
	for k := range consumerKeys() {
		out[settings.Fold(k)] = k
	}
	return out
}

var (
	stringLiteral = pattern.New(`^[bruf]?["'\x60]([^"'\x60]*)["'\x60]`)
	numbers       = pattern.New(`^\(?\s*(?:\(\w+\)\s*)?(\d[\d_]*(?:\.\d+)?)[lLuU]*((?:\s*\*\s*(?:\d[\d_]*|time\.\w+))*)\s*\)?\s*(.*)$`)
	factor        = pattern.New(`\*\s*(\d[\d_]*|time\.\w+)`)
	unitsFirst    = pattern.New(`^time\.(\w+)\s*\*\s*(\d+)`)
	durationCall  = pattern.New(`(?i)^(?:TimeSpan\.From|Duration\.of|Duration\.)(Milliseconds|Millis|Seconds|Minutes|Hours)\(\s*(\d[\d_]*)\s*\)`)
	wrapped       = pattern.New(`^(?:String\.valueOf|Integer\.toString|Long\.toString|Integer\.valueOf|str|int|Some|intval)\(`)
)

var timeUnits = map[string]time.Duration{"millisecond": time.Millisecond, "milliseconds": time.Millisecond, "millis": time.Millisecond, "second": time.Second,
	"seconds": time.Second, "minute": time.Minute, "minutes": time.Minute, "hour": time.Hour, "hours": time.Hour}

// literal is the value that a program's expression stands for; durations in milliseconds.
// False where it is no literal.
func literal(expr string, isDuration bool, family inspect.Family) (string, bool) {
	expr = strings.TrimSpace(wrapped.ReplaceAllString(expr, ""))
	if m := stringLiteral.FindStringSubmatch(expr); m != nil {
		if strings.Contains(m[1], "${") {
			return "", false
		}
		return m[1], true
	}
	if m := durationCall.FindStringSubmatch(expr); m != nil {
		return milliseconds(m[2], timeUnits[strings.ToLower(m[1])])
	}
	if m := unitsFirst.FindStringSubmatch(expr); m != nil {
		return milliseconds(m[2], timeUnits[strings.ToLower(m[1])])
	}
	if strings.HasPrefix(expr, "Integer.MAX_VALUE") {
		return "2147483647", true
	}
	if m := numbers.FindStringSubmatch(expr); m != nil {
		return numberLiteral(m[1], m[2], m[3], isDuration, family)
	}
	return wordLiteral(expr)
}

// wordLiteral takes booleans, bare text of XML, and members of an enumeration.
func wordLiteral(expr string) (string, bool) {
	word := strings.TrimRight(strings.TrimSpace(expr), ",;)} ")
	low := strings.ToLower(word)
	switch {
	case low == "true" || low == "false":
		return low, true
	case strings.HasPrefix(word, "AutoOffsetReset."), strings.HasPrefix(word, "PartitionAssignmentStrategy."), strings.HasPrefix(word, "IsolationLevel."):
		return strings.ToLower(word[strings.LastIndexByte(word, '.')+1:]), true
	}
	return "", false
}

// numberLiteral multiplies the factors of an expression. Behind them nothing but the end
// of the statement may follow.
func numberLiteral(first, factors, rest string, isDuration bool, family inspect.Family) (string, bool) {
	if rest = strings.TrimSpace(rest); rest != "" && strings.IndexByte(",;)}]/#<", rest[0]) < 0 {
		return "", false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(first, "_", ""), 64)
	if err != nil {
		return "", false
	}
	unit := time.Duration(0)
	for _, m := range factor.FindAllStringSubmatch(factors, -1) {
		if u, ok := strings.CutPrefix(m[1], "time."); ok {
			unit = timeUnits[strings.ToLower(u)]
			continue
		}
		f, err := strconv.ParseFloat(strings.ReplaceAll(m[1], "_", ""), 64)
		if err != nil {
			return "", false
		}
		n *= f
	}
	switch {
	case n > 1e15:
		return "", false
	case unit > 0:
		n *= float64(unit / time.Millisecond)
	case isDuration && (family == inspect.Sarama || family == inspect.FranzGo || family == inspect.KafkaGo):
		n /= 1e6 // a time.Duration's plain number
	}
	return strconv.FormatFloat(n, 'f', -1, 64), n == float64(int64(n)) || !isDuration
}

func milliseconds(n string, unit time.Duration) (string, bool) {
	v, err := strconv.ParseInt(strings.ReplaceAll(n, "_", ""), 10, 64)
	if err != nil || unit == 0 || v > 1e12 {
		return "", false
	}
	return strconv.FormatInt(v*int64(unit/time.Millisecond), 10), true
}
