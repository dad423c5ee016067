package clientlog

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// logLine is one message with its envelope taken off.
type logLine struct {
	raw     string // the line as it is, without what containers put before it
	dayless bool   // the time is one of the day alone
	text    string // the message, with the error that a structured line has beside it
	message string // the message alone
	time    inspect.Time
	zoned   bool // the time tells its zone
	level   string
	logger  string
	thread  string
	tag     string // librdkafka's facility, "MAXPOLL"
	context lineContext
	// structured: the message came in a field of its own, whole.
	structured bool
}

var (
	composePrefix = pattern.New(`^([A-Za-z0-9][A-Za-z0-9_.-]*) +\| `)
	podPrefix     = pattern.New(`^\[pod/([^\]]+)\] `)
	criPrefix     = pattern.New(`^(\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d)) (?:stdout|stderr) [FP] `)
	ansi          = pattern.New("\x1b\\[[0-9;]*[A-Za-z]|#?\\^\\[\\[[0-9;]*m")
)

// maxPrefix bounds the name of a container before its bar.
const maxPrefix = 128

// unwrap takes the name of a container off the front; the CRI time stays, for it is
// the only time that some programs' lines have.
func unwrap(raw []byte) (string, []byte) {
	if bytes.IndexByte(raw, 0x1b) >= 0 || bytes.Contains(raw, []byte("^[[")) {
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
	if len(raw) < 20 || raw[4] != '-' || raw[10] != 'T' {
		// no time of a container's log
	} else if m := criPrefix.FindSubmatchIndex(raw); m != nil {
		outer, _, _ = parseTime(string(raw[m[2]:m[3]]), o)
		raw = raw[m[1]:]
	}
	if lines, ok := structuredLines(raw, outer, o); ok {
		return lines
	}
	l := plainLine(strings.ToValidUTF8(string(raw), "\ufffd"), o)
	if !outer.IsZero() && (l.time.IsZero() || l.dayless) {
		l.time, l.zoned = outer, true
	}
	return []logLine{l}
}

var (
	javaFrame  = pattern.New(`\[(?:Consumer|Worker|ShareConsumer|Producer|AdminClient) (?:instanceId=([^,\]]*), )?clientId=([^,\]]*)(?:, groupId=([^\]]*))?\]:? ?`)
	oldBroker  = pattern.New(`\[GroupCoordinator (\d+)\]: `)
	newBroker  = pattern.New(`\[GroupCoordinator id=(\d+)(?: topic=__consumer_offsets partition=(\d+))?\] `)
	groupTag   = pattern.New(`\[Group(?:Id)?[ =]([^\]]*)\] ?`)
	kafkaNode  = pattern.New(`\[(?:ReplicaManager|Partition (?:__consumer_offsets-(\d+)|\S+)|GroupMetadataManager|KafkaServer|ReplicaFetcherManager on|Log partition=\S+)[^\]]*broker(?:Id)?=(\d+)[^\]]*\] `)
	javaLogger = pattern.New(` \((?:org\.apache\.kafka|kafka|state\.change|io\.confluent)\.[\w.$]+(?::\d+)?\)$`)
	rdkafka    = pattern.New(`(?:%(\d)\|(\d+(?:\.\d+)?)\|)?\b([A-Z][A-Z0-9_]+)\|([^|]*)\| ?(?:\[thrd:[^\]]*\]: ?)?`)
	rdThread   = pattern.New(`\[thrd:[^\]]*\]: ?`)
	rdBroker   = pattern.New(`^(?:\S+/)?(?:[^\s/]+:\d+/|GroupCoordinator/)(\d+): `)
	rubyFrame  = pattern.New(`^\[\[([^\]]+)\] \{[^}]*\}:\] `)
	goTail     = pattern.New(`^([a-z][^;]{3,200}); (\w+: .*)$`)
	klog       = pattern.New(`^([IWEF])(\d{4}) (\d\d:\d\d:\d\d(?:\.\d+)?) +\d+ \S+\] `)
)

// plainLine takes the envelope off one line of text.
func plainLine(text string, o Options) logLine {
	l := logLine{raw: text, text: text}
	if !o.Start.IsZero() && strings.HasPrefix(text, "[") {
		if m := uptimeOnly.FindStringSubmatch(text); m != nil {
			l.time = inspect.At(o.Start.Add(fraction(m[1], time.Second)).UTC())
		}
	}
	rest := l.head(text, o)
	if strings.Contains(rest, "|") || strings.Contains(rest, "[thrd:") {
		rest = l.librdkafka(rest, o)
	}
	rest = l.frames(text, rest)
	rest = withoutLogger(rest)
	if !strings.Contains(rest, "; ") {
		// not the form of franz-go's own logger
	} else if m := goTail.FindStringSubmatch(rest); m != nil && l.context.family == "" && (l.level != "" || l.context.broker == nil) {
		l.pairs(m[2])
		rest = m[1] + errorSuffix(m[2])
		l.message, l.structured = m[1], true
	}
	if l.context.family == "" {
		l.context.family = familyOfLogger(l.logger)
	}
	l.text = rest
	if l.message == "" {
		l.message = rest
	}
	return l
}

// withoutLogger takes the name of a logger off the end, as Kafka's own log4j pattern
// has it.
func withoutLogger(s string) string {
	if !strings.HasSuffix(s, ")") {
		return s
	}
	return javaLogger.ReplaceAllString(s, "")
}

// errorSuffix is the error among the pairs behind a message.
func errorSuffix(pairs string) string {
	if i := strings.Index(pairs, "err: "); i >= 0 {
		return " error: " + pairs[i+len("err: "):]
	}
	return ""
}

// pairs takes what franz-go's plain logger puts behind a message, "k: v, k: v".
func (l *logLine) pairs(tail string) {
	for _, kv := range strings.Split(tail, ", ") {
		k, v, ok := strings.Cut(kv, ": ")
		if !ok {
			continue
		}
		switch k {
		case "group":
			l.context.group = v
		case "member_id":
			l.context.member = v
		case "generation":
			l.context.gen = v
		case "instance_id":
			l.context.instance = v
		}
	}
}

// frames reads who speaks from the brackets that libraries put before a message.
func (l *logLine) frames(text, rest string) string {
	if strings.Contains(text, "lientId=") {
		if m := javaFrame.FindStringSubmatchIndex(rest); m != nil {
			l.context.family = inspect.Java
			if strings.HasPrefix(rest[m[0]:], "[Worker") {
				l.context.family = inspect.Connect
			}
			l.context.instance, l.context.client, l.context.group = sub(rest, m, 1), sub(rest, m, 2), sub(rest, m, 3)
			if l.context.group == "null" {
				l.context.group = ""
			}
			l.text = rest
			rest = rest[m[1]:]
		}
	}
	if !strings.HasPrefix(rest, "[[") {
		// no frame of ruby-kafka
	} else if m := rubyFrame.FindStringSubmatch(rest); m != nil {
		l.context.family, l.context.group = inspect.RubyKafka, m[1]
		return rest[len(m[0]):]
	}
	if !strings.Contains(text, "oordinator") && !strings.Contains(text, "[Group") && !strings.Contains(text, "roker") {
		return rest
	}
	for i, re := range []*pattern.Pattern{newBroker, oldBroker, kafkaNode} {
		m := re.FindStringSubmatchIndex(rest)
		if m == nil {
			continue
		}
		if i == 2 {
			l.context.partition, l.context.broker = int32Of(sub(rest, m, 1)), int32Of(sub(rest, m, 2))
			return rest // its name of the partition is part of the sentence
		}
		l.context.broker = int32Of(sub(rest, m, 1))
		if i == 0 {
			l.context.partition = int32Of(sub(rest, m, 2))
		}
		rest = rest[m[1]:]
		break
	}
	if m := groupTag.FindStringSubmatch(rest); m != nil {
		l.context.group = m[1]
	}
	return rest
}

func sub(s string, m []int, i int) string {
	if 2*i+1 >= len(m) || m[2*i] < 0 {
		return ""
	}
	return s[m[2*i]:m[2*i+1]]
}

// librdkafka takes "%4|time|MAXPOLL|name#consumer-1| [thrd:main]: " off, which may
// stand behind an application's own envelope, or lack its first fields.
func (l *logLine) librdkafka(text string, o Options) string {
	m := rdkafka.FindStringSubmatchIndex(text)
	switch {
	case m != nil && (m[2] >= 0 || strings.Contains(text[m[0]:m[1]], "[thrd:")):
		if t, _, ok := parseTime(sub(text, m, 2), o); ok {
			l.time, l.zoned = t, true
		}
		l.tag = sub(text, m, 3)
		l.context.client = sub(text, m, 4)
		if i := strings.IndexByte(l.context.client, '#'); i > 0 { // rdkafka's own name: client.id#consumer-1
			l.context.client = l.context.client[:i]
		}
		text = text[m[1]:]
	case strings.Contains(text, "[thrd:"):
		m := rdThread.FindStringIndex(text)
		if m == nil {
			return text
		}
		text = text[m[1]:]
	default:
		return text
	}
	l.context.family = inspect.Librdkafka
	if b := rdBroker.FindStringSubmatch(text); b != nil {
		l.context.node = int32Of(b[1])
	}
	return text
}

func int32Of(s string) *int32 {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return nil
	}
	v := int32(n)
	return &v
}

// levels are the words for them in upper case.
const levels = `TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|FATAL|CRITICAL|SEVERE|INF|WRN|ERR|DBG|VRB|CONFIG|FINE`

var (
	levelWord  = pattern.New(`^(?:[\[<(](?i:(` + levels + `))[\])>]|(` + levels + `)(?:[\s:|,>]|\[\d+\]|$)|(?i:(` + levels + `))[:=|])[:|]?`)
	sourceWord = pattern.New(`^((?:[a-zA-Z_$][\w$]*\.){1,12}[A-Za-z_$][\w$]*|(?:[\w.@-]+/)*[\w.-]+\.(?:go|py|rb|js|ts|rs|erl|ex)(?::\d+))(?::\d+)?(?:\(\))?\s*(?:[:|-]\s|\s-\s|\s|:)`)
	plainWord  = pattern.New(`^(?:\d{1,7}|-{1,3}|\||:|--|[A-Z],|<\d+>1?)(?:\s+|$)`)
)

// head takes time, level, thread and logger off the front, in whatever order a
// pattern has them, and returns the message.
func (l *logLine) head(text string, o Options) string {
	if len(text) < 5 || text[1] < '0' || text[1] > '9' || text[0] < 'E' || text[0] > 'W' {
		// no line of glog
	} else if m := klog.FindStringSubmatch(text); m != nil {
		l.level = m[1]
		if t, _, ok := parseTime(m[3], o); ok {
			l.time = t
		}
		return text[len(m[0]):]
	}
	rest := text
	for range 16 { // parts of an envelope; none has more
		rest = strings.TrimLeft(rest, " \t")
		n := l.headPart(rest, o)
		if n == 0 {
			break
		}
		rest = rest[n:]
	}
	if l.time.IsZero() {
		l.timeWithin(text, o)
	}
	return rest
}

// timeWithin looks for a time behind something that is not known: the names that
// stern and syslog put first.
func (l *logLine) timeWithin(text string, o Options) {
	head := text[:min(len(text), 120)]
	if strings.Count(head, ":") < 2 {
		return
	}
	if m := timeWithin.FindStringSubmatch(head); m != nil {
		l.time, l.zoned, _ = parseTime(m[1], o)
	}
}

// headPart recognises one part of an envelope at the front and returns its length;
// 0 where the message begins.
func (l *logLine) headPart(s string, o Options) int {
	if s == "" {
		return 0
	}
	if l.time.IsZero() && (s[0] >= '0' && s[0] <= '9' || s[0] >= 'A' && s[0] <= 'Z') {
		if m := timeAtFront(s); m != "" {
			if t, z, ok := parseTime(strings.TrimRight(m, " "), o); ok {
				l.time, l.zoned, l.dayless = t, z, m[2] == ':'
				return len(m) + seps(s[len(m):])
			}
		}
	}
	if l.level == "" {
		if m := levelWord.FindStringSubmatch(s); m != nil {
			l.level = strings.ToLower(m[1] + m[2] + m[3])
			return len(m[0])
		}
	}
	if s[0] == '[' || s[0] == '(' {
		return l.bracket(s, o)
	}
	if l.logger == "" && (!l.time.IsZero() || l.level != "") {
		if m := sourceWord.FindStringSubmatch(s); m != nil {
			l.logger = m[1]
			return len(m[0])
		}
	}
	if m := plainWord.FindString(s); m != "" && (l.level != "" || !l.time.IsZero() || s[0] == '<' || strings.HasPrefix(s[1:], ",")) {
		return len(m)
	}
	return 0
}

// seps counts what may follow a time: closing brackets, commas, a zone's name.
func seps(s string) int {
	return len(s) - len(strings.TrimLeft(s, "]),;|- "))
}

// speakers begin brackets that are part of the message or say who speaks.
var speakers = []string{"[Consumer ", "[Worker ", "[ShareConsumer ", "[Producer ", "[AdminClient ", "[GroupCoordinator", "[GroupId", "[Group ", "[Group=", "[ReplicaManager", "[Partition ",
	"[GroupMetadataManager", "[KafkaServer", "[ReplicaFetcherManager", "[Log partition", "[Error ", "[[", "[thrd:", "[join_group]", "[GC", "[Full GC", "[group.instance"}

// bracket takes a bracket at the front: a time, a level, a thread, a logger.
func (l *logLine) bracket(s string, o Options) int {
	for _, p := range speakers {
		if strings.HasPrefix(s, p) {
			return 0
		}
	}
	end := strings.IndexAny(s, "])")
	if end < 0 || end > 160 {
		return 0
	}
	inner := s[1:end]
	n := end + 1
	switch {
	case strings.HasPrefix(s, "(Re-)"):
		return 0
	case inner == "sarama" || inner == "Sarama":
		l.context.family = inspect.Sarama
	case l.time.IsZero() && timeAtFront(inner) != "":
		m := timeAtFront(inner)
		t, z, ok := parseTime(strings.TrimRight(m, " "), o)
		if !ok {
			return 0
		}
		l.time, l.zoned = t, z
		if lv := levelWord.FindStringSubmatch(strings.TrimLeft(inner[len(m):], " ,")); lv != nil {
			l.level = strings.ToLower(lv[1] + lv[2] + lv[3])
		}
	case kafkajsPart[inner]:
		l.context.family = inspect.KafkaJS
	case familyOfLogger(inner) != "" || strings.HasPrefix(inner, "org.") || strings.HasPrefix(inner, "o.a.k."):
		l.logger = inner
	case strings.ContainsAny(inner, "=") && l.time.IsZero():
		return 0
	default:
		l.thread = strings.TrimSpace(inner)
	}
	return n + len(s[n:]) - len(strings.TrimLeft(s[n:], " :-|]"))
}

// kafkajsPart are the names that kafkajs puts before its messages.
var kafkajsPart = map[string]bool{"Runner": true, "ConsumerGroup": true, "Connection": true, "Consumer": true, "Cluster": true, "BrokerPool": true, "FetchManager": true}

// familyOfLogger is the library that a logger's name gives away.
func familyOfLogger(name string) inspect.Family {
	switch {
	case strings.HasPrefix(name, "kafkajs"):
		return inspect.KafkaJS
	case strings.HasPrefix(name, "aiokafka"):
		return inspect.AIOKafka
	case strings.HasPrefix(name, "kafka.coordinator.group"), strings.HasPrefix(name, "kafka.server"), strings.HasPrefix(name, "kafka.cluster"):
		return ""
	case strings.HasPrefix(name, "kafka.coordinator"), strings.HasPrefix(name, "kafka.consumer"), strings.HasPrefix(name, "kafka.client"), strings.HasPrefix(name, "kafka.conn"), strings.HasPrefix(name, "kafka.heartbeat"):
		return inspect.KafkaPython
	case strings.HasPrefix(name, "org.apache.kafka.clients"), strings.HasPrefix(name, "o.a.k.c."), strings.HasPrefix(name, "or.ap.ka.cl"),
		strings.HasPrefix(name, "org.springframework.kafka"), strings.HasPrefix(name, "o.s.k."), strings.HasPrefix(name, "akka.kafka"), strings.HasPrefix(name, "reactor.kafka"),
		strings.HasPrefix(name, "io.smallrye.reactive.messaging.kafka"), strings.HasPrefix(name, "io.sma.rea.mes.kafka"):
		return inspect.Java
	case strings.HasPrefix(name, "org.apache.kafka.streams"), strings.HasPrefix(name, "o.a.k.s."):
		return inspect.StreamsLib
	case strings.HasPrefix(name, "org.apache.kafka.connect"):
		return inspect.Connect
	}
	return ""
}
