package clientconf

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// kind is the type of a setting's value.
type kind int

const (
	kindText kind = iota
	kindMillis
	kindInt
	kindBool
	kindSecret
)

// consumerKeys are the settings of the consumers of all libraries, under their Java name
// where there is one: those of the catalogue, and what Connect workers, Streams and some
// libraries have beside them.
var consumerKeys = sync.OnceValue(func() map[string]kind {
	return knownKeys(map[string]kind{
		"internal.leave.group.on.close": kindBool, "internal.throw.on.fetch.stable.offset.unsupported": kindBool,
		"rebalance.timeout.ms": kindMillis, "scheduled.rebalance.max.delay.ms": kindMillis, "worker.unsync.backoff.ms": kindMillis,
		"connect.protocol": kindText, "config.storage.topic": kindText, "offset.storage.topic": kindText, "status.storage.topic": kindText, "application.id": kindText, "probing.rebalance.interval.ms": kindMillis,
		"throttled.unprocessed-record-max-age.ms": kindMillis, // SmallRye's own
		"block.rebalance.on.poll":                 kindBool,   // franz-go's own
		"max.task.idle.ms":                        kindMillis, "num.standby.replicas": kindInt, "num.stream.threads": kindInt,
		"topic.metadata.refresh.interval.ms": kindMillis, "fetch.message.max.bytes": kindInt,
		"log.connection.close": kindBool, "go.events.channel.enable": kindBool, "go.application.rebalance.enable": kindBool, "plugin.library.paths": kindText,
	})
})

func knownKeys(own map[string]kind) map[string]kind {
	for _, client := range []inspect.Family{inspect.Java, inspect.Librdkafka} {
		for _, s := range settings.All(client) {
			if _, has := own[s.Key]; has || s.Role == "P" || connection(s.Key) || strings.Contains(s.Name, "_") || s.Key == "opaque" {
				continue
			}
			own[s.Key] = kindOf(s.Type)
		}
	}
	return own
}

func kindOf(typ string) kind {
	switch typ {
	case "ms":
		return kindMillis
	case "int", "long", "short":
		return kindInt
	case "boolean":
		return kindBool
	}
	return kindText
}

// connectionPrefixes start the keys that concern connecting alone. They are known,
// and of no interest to the rules.
var connectionPrefixes = []string{"ssl.", "sasl.", "security.protocol", "schema.registry.", "basic.auth.", "key.converter",
	"value.converter", "json.", "specific.avro.", "auto.register.", "use.latest.", "confluent."}

// brokerKeys belong into server.properties. In a consumer's file they do nothing.
var brokerKeys = map[string]bool{
	"group.min.session.timeout.ms": true, "group.max.session.timeout.ms": true, "group.max.size": true,
	"group.initial.rebalance.delay.ms": true, "group.consumer.session.timeout.ms": true, "group.consumer.heartbeat.interval.ms": true,
	"group.consumer.min.session.timeout.ms": true, "group.consumer.max.session.timeout.ms": true, "group.consumer.max.size": true,
	"group.consumer.min.heartbeat.interval.ms": true, "group.consumer.max.heartbeat.interval.ms": true,
	"group.consumer.assignors": true, "group.consumer.migration.policy": true, "group.coordinator.rebalance.protocols": true,
	"group.coordinator.new.enable": true, "consumer.session.timeout.ms": true, "consumer.heartbeat.interval.ms": true,
	"offsets.retention.minutes": true, "offsets.topic.num.partitions": true, "offsets.topic.replication.factor": true,
	"offsets.commit.timeout.ms": true, "offsets.topic.segment.bytes": true, "log.retention.hours": true, "log.dirs": true,
	"listeners": true, "advertised.listeners": true, "broker.id": true, "node.id": true, "process.roles": true,
	"zookeeper.connect": true, "num.partitions": true, "default.replication.factor": true, "min.insync.replicas": true,
	"auto.create.topics.enable": true, "num.network.threads": true, "num.io.threads": true, "log.segment.bytes": true,
	"controller.quorum.voters": true, "unclean.leader.election.enable": true, "auto.leader.rebalance.enable": true,
}

// producerKeys belong to a producer. In a consumer's file they do nothing.
var producerKeys = map[string]bool{
	"acks": true, "batch.size": true, "linger.ms": true, "buffer.memory": true, "compression.type": true,
	"delivery.timeout.ms": true, "enable.idempotence": true, "key.serializer": true, "value.serializer": true,
	"max.block.ms": true, "max.in.flight.requests.per.connection": true, "max.request.size": true, "partitioner.class": true,
	"retries": true, "transactional.id": true, "transaction.timeout.ms": true, "queue.buffering.max.ms": true,
	"message.max.bytes": true, "message.send.max.retries": true, "request.required.acks": true,
}

// Canonical is the Java name behind a spelling: dots for the underscores of Python
// libraries, and the aliases of librdkafka. Unknown spellings come back unchanged.
func Canonical(key string) string {
	if _, ok := consumerKeys()[key]; ok {
		return key
	}
	dotted := settings.Key(key)
	if _, ok := consumerKeys()[dotted]; ok {
		return dotted
	}
	return key
}

// Known reports whether key, in its canonical spelling, is a consumer's or a
// connection's setting.
func Known(key string) bool {
	if _, ok := consumerKeys()[Canonical(key)]; ok {
		return true
	}
	return connection(key)
}

// connection reports whether a key concerns connecting alone.
func connection(key string) bool {
	for _, p := range connectionPrefixes {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

// IsDuration reports whether a canonical key is a time in milliseconds.
func IsDuration(key string) bool { return consumerKeys()[key] == kindMillis }

// secretWords mark the keys whose value is never kept.
var secretWords = []string{"password", "passwd", "secret", "jaas", "token", "credential", "private", "user.info", "keystore.key",
	"key.pem", "certificate.chain", "apikey", "api.key", "authorization", "pwd", "passphrase", "passcode", "userinfo", "access.key", "account.key",
	"accesskey", "accountkey", "signature"}

// Secret reports whether the value of key must not be kept.
func Secret(key string) bool {
	k := strings.ToLower(strings.NewReplacer("_", ".", "-", ".").Replace(key))
	for _, w := range secretWords {
		if strings.Contains(k, w) {
			return true
		}
	}
	return false
}

// NewSetting builds the setting for a key as spelled in a file. Durations are
// taken as whole milliseconds, the unit of every Java consumer key; dialects with
// other units fill Millis themselves. The problem, if any, is that of the value.
func NewSetting(key, spelled, value string, where inspect.Position) (inspect.Setting, *inspect.ConfigProblem) {
	s := inspect.Setting{Key: Canonical(key), Spelled: spelled, Where: where, Origin: inspect.OriginSet}
	if Secret(key) {
		return s, nil
	}
	s.Value = inspect.MaskSecrets(strings.TrimSpace(value)) // a URL may hold a password
	k := consumerKeys()[s.Key]
	if k != kindMillis && k != kindInt {
		return s, nil
	}
	n, err := strconv.ParseInt(s.Value, 10, 64)
	if err != nil || n > math.MaxInt64/int64(time.Millisecond) || n < math.MinInt64/int64(time.Millisecond) {
		kind := "not_a_number"
		if strings.ContainsAny(s.Value, "$%{") {
			kind = "placeholder"
		}
		return s, &inspect.ConfigProblem{Kind: kind, Where: where, Key: spelled, Message: notANumber(spelled, s.Value, k)}
	}
	if k == kindMillis {
		s.Millis = inspect.Ms(time.Duration(n) * time.Millisecond)
	}
	return s, nil
}

func notANumber(spelled, value string, k kind) string {
	what := "a whole number"
	if k == kindMillis {
		what = "a whole number of milliseconds"
	}
	msg := fmt.Sprintf("%s=%s is not %s", spelled, shorten(value), what)
	if i := strings.IndexAny(value, "#;"); i > 0 {
		if _, err := strconv.Atoi(strings.TrimSpace(value[:i])); err == nil {
			return msg + ": what follows the number belongs to the value, comments stand on a line of their own"
		}
	}
	if d, err := time.ParseDuration(value); err == nil && k == kindMillis {
		return fmt.Sprintf("%s: write %d", msg, d.Milliseconds())
	}
	if strings.ContainsAny(value, "$%{") {
		return msg + ": a placeholder that nothing has filled in yet"
	}
	return msg
}

func shorten(s string) string {
	const most = 60
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}

// classify says what is odd about a key that is no consumer's setting; nil means
// that nothing is. The value is kept where the key was probably meant to be another.
func classify(key, value string, where inspect.Position) *inspect.ConfigProblem {
	p := inspect.ConfigProblem{Where: where, Key: key}
	switch {
	case Known(key) || Secret(key):
		return nil
	case brokerKeys[key]:
		p.Kind, p.Message = "broker_key", key+" is a broker's setting, a consumer ignores or refuses it"
	case producerKeys[key]:
		p.Kind, p.Message = "producer_key", key+" is a producer's setting, a consumer ignores or refuses it"
	default:
		p.Kind, p.Message = "unknown_key", key+" is no setting of a Kafka consumer"
		if plain, what := visible(key); what != "" && Known(plain) {
			p.Nearest = plain
			p.Message = fmt.Sprintf("%q %s: the client does not know it as %s, and the value has no effect", key, what, plain)
		} else if near := Nearest(key); near != "" {
			p.Nearest = near
			p.Message += ", the nearest is " + near
		}
		if p.Nearest != "" && !Secret(p.Nearest) {
			p.Value = inspect.MaskSecrets(strings.TrimSpace(value))
		}
	}
	return &p
}

// lookAlikes are Cyrillic and Greek letters that no eye tells from Latin ones.
var lookAlikes = map[rune]rune{'а': 'a', 'с': 'c', 'е': 'e', 'і': 'i', 'о': 'o', 'р': 'p', 'ѕ': 's', 'х': 'x', 'у': 'y', 'ο': 'o', 'ν': 'v', 'ɡ': 'g', 'ı': 'i'}

// visible is a key as it looks, and what in it cannot be seen: a blank at an end, a
// character without width, a letter of another script. "" where all can be seen.
func visible(key string) (plain, what string) {
	var b strings.Builder
	for _, r := range key {
		latin, foreign := lookAlikes[r]
		switch {
		case unicode.Is(unicode.Cf, r):
			what = fmt.Sprintf("holds a character without width (U+%04X)", r)
		case unicode.IsSpace(r):
			what = "holds a blank"
			if r > 0x7f {
				what = fmt.Sprintf("holds a blank that is none of the keyboard's (U+%04X)", r)
			}
		case foreign:
			what = fmt.Sprintf("holds a letter of another script (U+%04X)", r)
			b.WriteRune(latin)
		default:
			b.WriteRune(r)
		}
	}
	switch trimmed := strings.Trim(key, " \t"); {
	case what != "holds a blank" || trimmed != b.String():
	case key[0] != trimmed[0]:
		what = "begins with a blank"
	default:
		what = "ends in a blank"
	}
	return b.String(), what
}

// Nearest is the consumer setting that key was probably meant to be, or "" where
// none is near: at most one edit for every five characters, three in all.
func Nearest(key string) string {
	k := strings.ToLower(strings.NewReplacer("_", ".", "-", ".").Replace(key))
	if _, known := consumerKeys()[key]; known {
		return ""
	}
	// A forgotten or doubled unit is the commonest slip of all.
	for _, n := range []string{k + ".ms", strings.TrimSuffix(k, ".ms")} {
		if _, known := consumerKeys()[n]; known && n != k {
			return n
		}
	}
	if near := otherWord(k); near != "" {
		return near
	}
	return prose.Nearest(k, slices.Sorted(maps.Keys(consumerKeys())), min(3, len(k)/5))
}

// otherWord is the group key that differs from key in one word alone, such as
// heartbeat.interval.ms for heartbeat.timeout.ms; "" where none does.
func otherWord(key string) string {
	words := strings.Split(key, ".")
	if len(words) < 3 {
		return ""
	}
	for _, candidate := range slices.Sorted(maps.Keys(groupKeys)) {
		other := strings.Split(candidate, ".")
		if len(other) != len(words) {
			continue
		}
		differ := 0
		for i := range words {
			if words[i] != other[i] {
				differ++
			}
		}
		if differ == 1 && words[0] == other[0] {
			return candidate
		}
	}
	return ""
}
