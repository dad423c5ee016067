package clientlog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// The names that loggers give to the parts of a line: logstash, ECS, kafkajs, zap,
// zerolog, slog, pino, winston, bunyan, Serilog, python-json-logger, GELF, journald,
// Docker's json-file, the clouds.
var (
	messageKeys = []string{"message", "msg", "Message", "@message", "@m", "short_message", "full_message", "log", "textPayload", "MESSAGE", "M", "event", "body", "Body",
		"text", "content", "RenderedMessage", "rendered", "line", "@mt"}
	timeKeys   = []string{"@timestamp", "timestamp", "time", "ts", "t", "instant", "datetime", "@t", "timeMillis", "Timestamp", "eventTime", "date", "asctime", "T", "__REALTIME_TIMESTAMP", "created"}
	levelKeys  = []string{"level", "severity", "log.level", "@l", "levelname", "lvl", "L", "Level", "PRIORITY", "SeverityText"}
	loggerKeys = []string{"logger", "logger_name", "loggerName", "log.logger", "SourceContext", "caller", "source", "scope", "N", "name", "Category"}
	threadKeys = []string{"thread", "thread_name", "threadName", "process.thread.name", "_thread"}
	groupKeys  = []string{"groupId", "group_id", "group.id", "GroupId", "group", "consumer_group", "consumerGroup"}
	clientKeys = []string{"clientId", "client_id", "client.id", "client"}
	memberKeys = []string{"memberId", "member_id", "member"}
	errorKeys  = []string{"error", "err", "exception", "error.message", "exception.exception_message", "exception.exceptionMessage", "thrown.message", "@x", "Exception", "exc_info_message", "reason"}
	stackKeys  = []string{"stack_trace", "stackTrace", "stacktrace", "exc_info", "error.stack_trace", "error.stack", "err.stack", "exception.stacktrace", "exception.stack_trace", "exception.stackTrace",
		"thrown.extendedStackTrace", "thrown.stack", "attributes.exception.stacktrace", "stack", "traceback"}
	wrapperKeys = []string{"logEvent", "jsonPayload", "fields", "event", "log", "record"}
)

// object is a structured line with the nesting of its names taken away.
type object map[string]any

// first is the first of some fields that holds a text or a number.
func (o object) first(keys []string) string {
	for _, k := range keys {
		switch v := o.value(k).(type) {
		case string:
			if v != "" {
				return v
			}
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64)
		case map[string]any: // kafkajs and pino nest errors
			for _, inner := range []string{"message", "name", "text"} {
				if s, ok := v[inner].(string); ok && s != "" {
					return s
				}
			}
		}
	}
	return ""
}

// value is a field by its name, whose dots may stand for objects within objects.
func (o object) value(key string) any {
	if v, ok := o[key]; ok {
		return v
	}
	outer, rest, dotted := strings.Cut(key, ".")
	if inner, ok := o[outer].(map[string]any); dotted && ok {
		return object(inner).value(rest)
	}
	return nil
}

// structuredLines reads JSON and logfmt, also behind the head of a syslog or journal.
func structuredLines(raw []byte, outer inspect.Time, o Options) ([]logLine, bool) {
	raw = bytes.TrimRight(raw, " \r")
	if len(raw) < 2 {
		return nil, false
	}
	if i := bytes.IndexByte(raw, '{'); i >= 0 && i < 160 && raw[len(raw)-1] == '}' {
		if lines, ok := jsonLines(raw[i:], outer, o); ok {
			if i > 0 && len(lines) > 0 && lines[0].time.IsZero() {
				lead := plainLine(string(raw[:i]), o)
				for k := range lines {
					lines[k].time, lines[k].zoned = lead.time, lead.zoned
				}
			}
			return lines, true
		}
	}
	if bytes.Contains(raw, []byte("msg=")) || bytes.Contains(raw, []byte("message=")) {
		return logfmtLines(string(raw), outer, o)
	}
	return nil, false
}

func jsonLines(raw []byte, outer inspect.Time, o Options) ([]logLine, bool) {
	var obj object
	if json.Unmarshal(raw, &obj) != nil {
		return nil, false
	}
	return obj.lines(outer, o, 0)
}

// lines makes the messages of a structured line; depth bounds wrappers in wrappers.
func (obj object) lines(outer inspect.Time, o Options, depth int) ([]logLine, bool) {
	at, zoned := outer, !outer.IsZero()
	if t, z, ok := parseTime(obj.first(timeKeys), o); ok {
		at, zoned = t, z
	}
	msg := obj.first(messageKeys)
	if depth < 3 {
		for _, k := range wrapperKeys {
			inner, ok := obj[k].(map[string]any)
			if !ok || object(inner).first(messageKeys) == "" {
				continue
			}
			lines, ok := object(inner).lines(at, o, depth+1)
			base := obj.base(at, zoned)
			for i := range lines {
				lines[i].fill(base)
			}
			return lines, ok
		}
		if strings.HasPrefix(msg, "{") && strings.HasSuffix(strings.TrimSpace(msg), "}") {
			if lines, ok := jsonLines([]byte(strings.TrimSpace(msg)), at, o); ok {
				return lines, true
			}
		}
	}
	if msg == "" {
		return nil, false
	}
	return obj.base(at, zoned).messages(msg, obj.first(errorKeys), obj.first(stackKeys), o), true
}

// base is what a structured line says beside its message.
func (obj object) base(at inspect.Time, zoned bool) logLine {
	logger := obj.first(loggerKeys)
	l := logLine{time: at, zoned: zoned, level: strings.ToLower(obj.first(levelKeys)), logger: logger, thread: obj.first(threadKeys), structured: true, tag: obj.first([]string{"fac"})}
	l.context = lineContext{client: obj.first(clientKeys), group: obj.first(groupKeys), member: obj.first(memberKeys),
		gen: obj.first([]string{"generation", "generationId", "generation_id"}), instance: obj.first([]string{"instance_id", "groupInstanceId", "group_instance_id"}), family: familyOfLogger(logger)}
	if m := goModule.FindStringSubmatch(logger); m != nil {
		l.context.family, l.context.version = goFamily[strings.ToLower(m[1])], m[2]
	}
	if l.tag != "" {
		l.context.family = inspect.Librdkafka
	}
	return l
}

// goModule is a source position of a Go library with its version.
var goModule = pattern.New(`(?i)(twmb/franz-go|ibm/sarama|shopify/sarama|segmentio/kafka-go)@v(\d[\w.-]*)`)

var goFamily = map[string]inspect.Family{"twmb/franz-go": inspect.FranzGo, "ibm/sarama": inspect.Sarama, "shopify/sarama": inspect.Sarama, "segmentio/kafka-go": inspect.KafkaGo}

// fill takes what l leaves open from another reading of the same line.
func (l *logLine) fill(from logLine) {
	l.context.inherit(from.context)
	if l.context.member == "" {
		l.context.member = from.context.member
	}
	for _, p := range []struct{ to, from *string }{{&l.level, &from.level}, {&l.logger, &from.logger}, {&l.thread, &from.thread}, {&l.tag, &from.tag}} {
		if *p.to == "" {
			*p.to = *p.from
		}
	}
	if l.time.IsZero() {
		l.time, l.zoned = from.time, from.zoned
	}
}

// messages splits a message into its lines, each with what the envelope says.
func (l logLine) messages(msg, err, stack string, o Options) []logLine {
	var out []logLine
	for i, text := range strings.Split(strings.TrimRight(msg+"\n"+stack, "\n"), "\n") {
		in := plainLine(text, o)
		in.structured = true
		if i == 0 && err != "" && !strings.Contains(in.text, err) {
			in.text += " error: " + err
			in.raw += " error: " + err
		}
		if i > 0 { // the stack of the first line's error
			in.context.family = ""
		}
		in.fill(l)
		out = append(out, in)
	}
	return out
}

var logfmtPair = pattern.New(`(?:^|\s)([A-Za-z_@][\w.@/-]*)=("(?:[^"\\]|\\.)*"|\S*)`)

// logfmtLines reads key=value lines: logrus, slog's text form, go-kit, dapr.
func logfmtLines(text string, outer inspect.Time, o Options) ([]logLine, bool) {
	obj := object{}
	for _, m := range logfmtPair.FindAllStringSubmatch(text, -1) {
		v := m[2]
		if strings.HasPrefix(v, `"`) {
			if u, err := strconv.Unquote(v); err == nil {
				v = u
			}
		}
		if _, had := obj[m[1]]; !had {
			obj[m[1]] = v
		}
	}
	if len(obj) < 2 || obj.first([]string{"msg", "message"}) == "" || obj.first(levelKeys)+obj.first(timeKeys) == "" {
		return nil, false
	}
	// A message without quotes ends at the next key.
	return obj.lines(outer, o, 0)
}
