package clientconf

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// NotRecognised says that a file holds no consumer setting that this package knows.
// Nothing may be concluded from such a file, least of all that it is in order.
type NotRecognised struct {
	File  string
	Looks string // what it looks like: "a log", "a broker's configuration"; "" unknown
}

func (e *NotRecognised) Error() string {
	if e.Looks == "" {
		return e.File + ": no consumer setting recognised"
	}
	return fmt.Sprintf("%s: no consumer setting recognised: it looks like %s", e.File, e.Looks)
}

// LookedFor names what would have been recognised, for a hint.
const LookedFor = "a consumer's settings such as group.id, session.timeout.ms or max.poll.interval.ms, in a client's or a framework's spelling; --dialect reads a file as one of the known dialects"

// recognised reports whether anything in a file concerned a consumer: a setting, or a key
// that was meant to be one.
func recognised(configs []inspect.ClientConfig) bool {
	for _, c := range configs {
		if c.Framework != "" || len(c.Acts) > 0 || c.Dialect == dependencies {
			return true
		}
		for _, s := range c.Settings {
			if _, ok := consumerKeys()[s.Key]; ok {
				return true
			}
		}
		for _, p := range c.Problems {
			switch {
			case p.Kind == "unknown_key" && (p.Nearest == "" || !strings.ContainsAny(p.Key, "._-")), p.Kind == "producer_key", p.Kind == "duplicate_key":
			default:
				return true
			}
		}
	}
	return false
}

var (
	logLine    = pattern.New(`^\W{0,3}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|%\d\|)`)
	jsonLog    = pattern.New(`^\{.*"(?:level|severity|@timestamp|msg|message)"\s*:`)
	kindLine   = pattern.New(`(?m)^kind:\s*"?([A-Za-z0-9]+)`)
	dockerLine = pattern.New(`(?m)^FROM\s+\S+`)
	// brokerMarks are keys that only a broker's own file has.
	brokerMarks = []string{"broker.id", "node.id", "process.roles", "listeners", "advertised.listeners", "log.dirs", "zookeeper.connect",
		"controller.quorum.voters", "controller.quorum.bootstrap.servers", "inter.broker.listener.name", "num.network.threads", "num.io.threads"}
)

// brokerFile reports whether a text is a broker's configuration: two of its marks, and
// nothing that only a consumer has.
func brokerFile(data []byte) bool {
	marks, consumer := 0, false
	for _, k := range brokerMarks {
		if hasKey(data, k) {
			marks++
		}
	}
	for k := range groupKeys {
		consumer = consumer || hasKey(data, k)
	}
	return marks >= 2 && !consumer
}

// looksLike guesses what a file without consumer settings is.
func looksLike(name string, data []byte) string {
	text := bytes.TrimSpace(data)
	switch {
	case len(text) == 0:
		return "an empty file"
	case brokerFile(data):
		return "a broker's configuration"
	case manyLines(text, logLine) || manyLines(text, jsonLog):
		return "a log: name it with --log"
	case hasKey(data, "debezium.source.connector.class"):
		return "Debezium Server's, which reads a database and is in no consumer group"
	case mirrorFlow.Match(data):
		return "MirrorMaker 2's, whose consumers assign themselves their partitions and are in no group"
	case bytes.HasPrefix(text, []byte("<")):
		return "XML or HTML"
	case dockerLine.Match(text):
		return "a Dockerfile"
	case isYAML(name, data) && kindLine.Match(text) && bytes.Contains(text, []byte("apiVersion:")):
		return "a Kubernetes " + string(kindLine.FindSubmatch(text)[1]) + " without consumer settings"
	}
	if f, err := properties.Parse(data); err == nil {
		for _, e := range f.Entries {
			if producerKeys[e.Key] {
				return "a producer's configuration"
			}
		}
	}
	return ""
}

// manyLines reports whether two lines, and a third of the first fifty, have a form.
func manyLines(text []byte, form *pattern.Pattern) bool {
	n, of := 0, 0
	for _, line := range strings.SplitN(string(text), "\n", 51) {
		if line = strings.TrimSpace(line); line == "" || of == 50 {
			continue
		}
		of++
		if form.MatchString(line) {
			n++
		}
	}
	return n >= 2 && 3*n >= of
}
