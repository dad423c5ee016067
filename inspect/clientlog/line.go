package clientlog

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kgdiag/kgdiag/inspect"
)

// words are parts of every line that a phrase can match; lines without any are
// passed over before anything dearer is tried.
var words = [][]byte{
	[]byte("roup"), []byte("eartbeat"), []byte("ember"), []byte("oordinator"), []byte(" poll "), []byte("ause"),
	[]byte("Kafka"), []byte("kafka"), []byte("onsumer"), []byte("ommit"), []byte("partition"), []byte("offset"),
	[]byte("in flight"), []byte("timed out"), []byte("stopped"), []byte("afepoint"), []byte("Full GC"), []byte("[GC"),
	[]byte("ejoin"), []byte("fence"), []byte("disconnect"), []byte("Rebalance"), []byte("rebalance"), []byte("MAXPOLL"),
	[]byte("supplied"), []byte("configuration property"), []byte("OutOfMemory"), []byte("brokers are down"), []byte("values:"),
	[]byte("larger than available"), []byte("insync"), []byte("session"), []byte("uthoriz"), []byte("AUTHORIZ"), []byte("SessionTimeout"), []byte("Connection to node"),
}

// starts holds the words by a hash of their first three bytes, so that a line is
// looked through once and not once for each word.
var starts = func() (t [1 << 12][][]byte) {
	for _, w := range words {
		h := hash3(w[0], w[1], w[2])
		t[h] = append(t[h], w)
	}
	return t
}()

func hash3(a, b, c byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 2654435761 >> 20
}

func interesting(line []byte) bool {
	for i := 0; i+3 <= len(line); i++ {
		for _, w := range starts[hash3(line[i], line[i+1], line[i+2])] {
			if bytes.HasPrefix(line[i:], w) {
				return true
			}
		}
	}
	return false
}

// lineContext is what the frame of a line says about who wrote it.
type lineContext struct {
	client, group, instance, member string
	broker                          *int32
	partition                       *int32
	family                          inspect.Family
	err                             string // a structured error field
}

// inherit fills what c leaves open.
func (c *lineContext) inherit(from lineContext) {
	if c.client == "" {
		c.client = from.client
	}
	if c.group == "" {
		c.group = from.group
	}
	if c.instance == "" {
		c.instance = from.instance
	}
	if c.broker == nil {
		c.broker = from.broker
	}
	if c.family == "" {
		c.family = from.family
	}
}

// logLine is one message with its frame taken off.
type logLine struct {
	text    string
	time    inspect.Time
	context lineContext
}

var (
	composePrefix = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9_.-]*) +\| `)
	podPrefix     = regexp.MustCompile(`^\[pod/([^\]]+)\] `)
	criPrefix     = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d)) (?:stdout|stderr) [FP] `)
	ansi          = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// maxPrefix bounds the name of a container before its bar.
const maxPrefix = 128

// unwrap takes the name of a container off the front; the CRI time stays, for it is
// the only time that some programs' lines have.
func unwrap(raw []byte) (string, []byte) {
	if bytes.IndexByte(raw, 0x1b) >= 0 {
		raw = ansi.ReplaceAll(raw, nil)
	}
	// The patterns are dear for lines of every program: a look first.
	if i := bytes.Index(raw, []byte("| ")); i > 0 && i < maxPrefix {
		if m := composePrefix.FindSubmatchIndex(raw); m != nil {
			return string(raw[m[2]:m[3]]), raw[m[1]:]
		}
	}
	if !bytes.HasPrefix(raw, []byte("[pod/")) {
		return "", raw
	}
	if m := podPrefix.FindSubmatchIndex(raw); m != nil {
		return string(raw[m[2]:m[3]]), raw[m[1]:]
	}
	return "", raw
}

// logicalLines turns a physical line into messages: JSON objects may hold several
// lines in one field.
func logicalLines(raw []byte, o Options) []logLine {
	outer := inspect.Time{}
	if m := criPrefix.FindSubmatchIndex(raw); m != nil {
		outer, _ = parseTime(string(raw[m[2]:m[3]]), o)
		raw = raw[m[1]:]
	}
	if len(raw) > 1 && raw[0] == '{' && raw[len(raw)-1] == '}' {
		if lines, ok := jsonLines(raw, outer, o); ok {
			return lines
		}
	}
	text := strings.ToValidUTF8(string(raw), "\ufffd")
	l := plainLine(text, o)
	if l.time.IsZero() {
		l.time = outer
	}
	return []logLine{l}
}

// jsonLines reads the JSON shapes that loggers write: logstash, kafkajs, zap, slog,
// Docker's json-file, Google's textPayload.
func jsonLines(raw []byte, outer inspect.Time, o Options) ([]logLine, bool) {
	var obj map[string]any
	if json.Unmarshal(raw, &obj) != nil {
		return nil, false
	}
	str := func(keys ...string) string {
		for _, k := range keys {
			switch v := obj[k].(type) {
			case string:
				if v != "" {
					return v
				}
			case float64:
				return strconv.FormatFloat(v, 'f', -1, 64)
			case map[string]any: // kafkajs and pino nest errors
				if s, ok := v["message"].(string); ok {
					return s
				}
			}
		}
		return ""
	}
	msg := str("message", "msg", "log", "textPayload", "@message")
	if msg == "" {
		return nil, false
	}
	at := outer
	if t, ok := parseTime(str("@timestamp", "timestamp", "time", "ts", "t", "instant", "datetime"), o); ok {
		at = t
	}
	ctx := lineContext{
		client: str("clientId", "client_id", "client"), group: str("groupId", "group_id", "group"),
		member: str("memberId", "member_id", "member"), err: str("error", "err", "exception"),
		family: familyOfLogger(str("logger", "logger_name", "source")),
	}
	var out []logLine
	full := msg + "\n" + str("stack_trace", "stackTrace", "exc_info")
	if ctx.err != "" {
		full = msg + " error: " + ctx.err + "\n" + str("stack_trace", "stackTrace", "exc_info")
	}
	for _, part := range strings.Split(strings.TrimRight(full, "\n"), "\n") {
		l := plainLine(part, o)
		if l.time.IsZero() {
			l.time = at
		}
		mine := ctx
		mine.inherit(l.context)
		if mine.broker == nil {
			mine.broker, mine.partition = l.context.broker, l.context.partition
		}
		l.context = mine
		out = append(out, l)
	}
	return out, true
}

func familyOfLogger(name string) inspect.Family {
	switch {
	case strings.HasPrefix(name, "kafkajs"):
		return inspect.KafkaJS
	case strings.HasPrefix(name, "org.apache.kafka."), strings.HasPrefix(name, "o.a.k."):
		return inspect.Java
	}
	return ""
}

var (
	javaFrame = regexp.MustCompile(`\[(?:Consumer|Worker|ShareConsumer|Producer) (?:instanceId=([^,\]]*), )?clientId=([^,\]]*)(?:, groupId=([^\]]*))?\]:? ?`)
	oldBroker = regexp.MustCompile(`\[GroupCoordinator (\d+)\]: `)
	newBroker = regexp.MustCompile(`\[GroupCoordinator id=(\d+)(?: topic=__consumer_offsets partition=(\d+))?\] `)
	groupTag  = regexp.MustCompile(`\[GroupId ([^\]]*)\] ?`)
	kafkaNode = regexp.MustCompile(`\[(?:ReplicaManager|Partition \S+|GroupMetadataManager|KafkaServer|ReplicaFetcherManager on)[^\]]*broker(?:Id)?=(\d+)[^\]]*\] `)
	logger    = regexp.MustCompile(` \((?:org\.apache\.kafka|kafka|state\.change)\.[\w.$]+\)$`)
	rdkafka   = regexp.MustCompile(`^%(\d)\|(\d+)(?:\.(\d+))?\|([A-Z0-9_]+)\|([^|]*)\| ?(?:\[thrd:[^\]]*\]: ?)?`)
)

// plainLine takes time and frame off one line of text.
func plainLine(text string, o Options) logLine {
	l := logLine{text: text}
	if m := rdkafka.FindStringSubmatch(text); m != nil {
		sec, _ := strconv.ParseInt(m[2], 10, 64)
		ms, _ := strconv.ParseInt((m[3] + "000")[:3], 10, 64)
		l.time = inspect.AtMillis(sec*1000 + ms)
		l.context.family, l.context.client = inspect.Librdkafka, m[5]
		if i := strings.IndexByte(m[5], '#'); i > 0 { // rdkafka's own name: client.id#consumer-1
			l.context.client = m[5][:i]
		}
		l.text = m[4] + ": " + text[len(m[0]):]
		return l
	}
	if t, ok := leadingTime(text, o); ok {
		l.time = t
	} else if m := uptimeOnly.FindStringSubmatch(text); m != nil && !o.Start.IsZero() {
		l.time = inspect.At(o.Start.Add(fraction(m[1], time.Second)).UTC())
	}
	if m := javaFrame.FindStringSubmatch(text); m != nil {
		l.context.family = inspect.Java
		l.context.instance, l.context.client, l.context.group = m[1], m[2], m[3]
		if l.context.group == "null" {
			l.context.group = ""
		}
	}
	for _, re := range []*regexp.Regexp{newBroker, oldBroker, kafkaNode} {
		if m := re.FindStringSubmatch(text); m != nil {
			l.context.broker = int32Of(m[1])
			if len(m) > 2 && m[2] != "" {
				l.context.partition = int32Of(m[2])
			}
			break
		}
	}
	l.text = logger.ReplaceAllString(l.text, "")
	if m := groupTag.FindStringSubmatch(text); m != nil {
		l.context.group = m[1]
	}
	return l
}

func int32Of(s string) *int32 {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return nil
	}
	v := int32(n)
	return &v
}

// timeHead finds a time near the start of a line, behind what loggers put before it
// (a bracket, a level, a service name).
var timeHead = regexp.MustCompile(`^[\[(]?(?:(?:DEBUG|INFO|WARN|WARNING|ERROR|TRACE|\[sarama\]|\[Sarama\])[: ]+)?[\[(]?` +
	`(\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|[+-]\d\d:?\d\d))?|\d\d:\d\d:\d\d[.,]\d{3}|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{13})`)

// leadingTime reads the time at the head of a line.
func leadingTime(text string, o Options) (inspect.Time, bool) {
	head := text
	if len(head) > 80 {
		head = head[:80]
	}
	m := timeHead.FindStringSubmatchIndex(head)
	if m == nil {
		return inspect.Time{}, false
	}
	return parseTime(head[m[2]:m[3]], o)
}

// layouts with and without zone; Go reads fractions after either comma or point.
var zoned = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05 Z0700"}
var unzoned = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006/01/02 15:04:05", "2006-01-02T15:04:05.000000"}

// parseTime reads one of the known time forms: ISO 8601, log4j's comma, Go's
// slashes, epoch seconds or milliseconds, syslog, and times of day.
func parseTime(s string, o Options) (inspect.Time, bool) {
	if s == "" {
		return inspect.Time{}, false
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case n > 1e14 || n < 1e8:
			return inspect.Time{}, false
		case n > 1e11:
			return inspect.AtMillis(int64(n)), true
		}
		return inspect.AtMillis(int64(n * 1000)), true
	}
	for _, layout := range zoned {
		if t, err := time.Parse(layout, s); err == nil {
			return inspect.At(t.UTC()), true
		}
	}
	for _, layout := range unzoned {
		if t, err := time.ParseInLocation(layout, s, o.Zone); err == nil {
			return inspect.At(t.UTC()), true
		}
	}
	if o.Day.IsZero() {
		return inspect.Time{}, false
	}
	if t, err := time.ParseInLocation("Jan _2 15:04:05", s, o.Zone); err == nil {
		return inspect.At(t.AddDate(o.Day.Year(), 0, 0).UTC()), true
	}
	if t, err := time.ParseInLocation("15:04:05", s, o.Zone); err == nil {
		y, mon, d := o.Day.In(o.Zone).Date()
		return inspect.At(time.Date(y, mon, d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), o.Zone).UTC()), true
	}
	return inspect.Time{}, false
}

var secret = regexp.MustCompile(`(?i)((?:password|passwd|secret|token|jaas\.config|credential|api[._-]?key)[A-Za-z._-]*["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;}]+)`)

// quote is a line as an event keeps it: at most 400 bytes, on one line, without
// secrets.
func quote(s string) string {
	s = secret.ReplaceAllString(s, "$1***")
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if len(s) > 400 {
		s = s[:400]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
	}
	return strings.TrimSpace(s)
}
