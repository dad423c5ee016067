package clientconf

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf/properties"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// The dialect of the Java client: a .properties file with dotted keys at top
// level. librdkafka's key=value files are near enough to be read as this dialect
// with Options.Family set.
var (
	_ = register(dialect{name: "java", sniff: sniffJava, read: readJava})
	_ = register(dialect{name: "prefixed", sniff: sniffPrefixed, read: readPrefixed})
)

// sniffJava knows a Java file by its keys; its name alone is a weak hint.
func sniffJava(name string, data []byte) int {
	if nested(name, data) || looksCode(name, data) || mirrorFlow.Match(data) {
		return 0
	}
	f, err := properties.Parse(data)
	if err != nil {
		return 1 // so that the error names the line
	}
	known := 0
	for _, e := range f.Entries {
		if Known(e.Key) || brokerKeys[e.Key] || producerKeys[e.Key] {
			known++
		}
	}
	score := 0
	switch {
	case known > 0:
		score = 40
	case filepath.Ext(name) == ".properties" || len(f.Entries) == 0 && len(strings.TrimSpace(string(data))) == 0:
		score = 10
	}
	if score > 0 && filepath.Ext(name) == ".properties" {
		score += 10
	}
	return score
}

func readJava(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	f, err := properties.Parse(data)
	if err != nil {
		return nil, err
	}
	c := inspect.ClientConfig{Where: inspect.Position{File: name}, Dialect: "java",
		Family: o.Family, Version: o.Version, Assumed: o.Family == "" || o.Version == "", Settings: []inspect.Setting{}}
	if c.Family == "" {
		c.Family = inspect.Java
	}
	for _, e := range f.Entries {
		addEntry(&c, e.Key, e.Key, e.Value, inspect.Position{File: name, Line: e.Line})
	}
	return []inspect.ClientConfig{c}, nil
}

// cutPrefix splits a key into what a program has put before a consumer's key, and that
// key; "" where none of its endings is one.
func cutPrefix(path string) (prefix, key string) {
	for i := strings.IndexByte(path, '.'); i >= 0; {
		if _, ok := consumerKeys()[path[i+1:]]; ok && strings.Contains(path[i+1:], ".") {
			return path[:i+1], path[i+1:]
		}
		next := strings.IndexByte(path[i+1:], '.')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return "", ""
}

// notConsumers are prefixes behind which a consumer's key means something else.
var notConsumers = pattern.New(`producer|admin|debezium|group\.(?:min|max|consumer|initial)\.$`)

// sniffPrefixed knows a program's own .properties, in which a consumer's keys stand
// behind a prefix such as kafka.consumer.
func sniffPrefixed(name string, data []byte) int {
	if nested(name, data) || looksCode(name, data) {
		return 0
	}
	if configs, err := readPrefixed(name, data, Options{}); err == nil && len(configs) > 0 {
		return 30
	}
	return 0
}

// readPrefixed makes a consumer of each prefix with a key that only consumers have.
func readPrefixed(name string, data []byte, o Options) ([]inspect.ClientConfig, error) {
	f, err := properties.Parse(data)
	if err != nil {
		return nil, err
	}
	byPrefix := map[string]*builder{}
	var order []string
	for _, e := range entriesOfProperties(f) {
		prefix, key := cutPrefix(e.path)
		if prefix == "" || notConsumers.MatchString(prefix) || brokerKeys[prefix+key] {
			continue
		}
		b := byPrefix[prefix]
		if b == nil {
			b = newBuilder(name, "prefixed", inspect.Java, o, e.line)
			b.c.Name = strings.TrimSuffix(prefix, ".")
			byPrefix[prefix] = b
			order = append(order, prefix)
		}
		b.set(key, e.path, e.value, e.line, rankOwn)
	}
	var out []inspect.ClientConfig
	for _, prefix := range order {
		for _, s := range byPrefix[prefix].c.Settings {
			if tellingKeys[s.Key] {
				out = append(out, byPrefix[prefix].c)
				break
			}
		}
	}
	return out, nil
}

// addEntry adds one line of a file to c: a later line of the same key wins, as in
// Java, and both are named.
func addEntry(c *inspect.ClientConfig, key, spelled, value string, where inspect.Position) {
	if p := classify(key, value, where); p != nil {
		c.Problems = append(c.Problems, *p)
		return
	}
	if _, ok := consumerKeys()[Canonical(key)]; !ok {
		return // a connection's key
	}
	s, problem := NewSetting(key, spelled, value, where)
	for i := range c.Settings {
		if old := c.Settings[i]; old.Key == s.Key {
			c.Problems = dropProblemAt(c.Problems, old.Where)
			c.Problems = append(c.Problems, inspect.ConfigProblem{Kind: "duplicate_key", Where: where, Key: spelled,
				Message: fmt.Sprintf("%s is set on line %d and again on line %d; the last one counts, %s",
					spelled, old.Where.Line, where.Line, inForce(s))})
			s.Overrides = &old.Where
			c.Settings = append(c.Settings[:i], c.Settings[i+1:]...)
			break
		}
	}
	if problem != nil {
		c.Problems = append(c.Problems, *problem)
	}
	c.Settings = append(c.Settings, s)
	if s.Key == "group.id" {
		c.Group = s.Value
	}
}

func inForce(s inspect.Setting) string {
	if s.Value == "" {
		return s.Spelled
	}
	return s.Spelled + "=" + shorten(s.Value)
}

// dropProblemAt forgets what was wrong with a value that another line overrode.
func dropProblemAt(ps []inspect.ConfigProblem, at inspect.Position) []inspect.ConfigProblem {
	out := ps[:0]
	for _, p := range ps {
		if p.Where != at || p.Kind != "not_a_number" {
			out = append(out, p)
		}
	}
	return out
}

// nested reports whether a text is of a language with structure, which no reader of
// key=value lines may take: its section names would become keys.
func nested(name string, data []byte) bool {
	switch filepath.Ext(name) {
	case ".yml", ".yaml", ".json", ".jsonc", ".toml", ".tf", ".hcl", ".xml", ".hocon":
		return true
	case ".properties":
		return false
	}
	return nestedLine.Match(data)
}

// nestedLine is a line that opens or closes a block, or assigns as Ruby and Logstash do.
var nestedLine = pattern.New(`(?m)^\s*(?:[^#=\n]*\{|[}\]],?|\w+:)\s*$|^\s*[\w"']+\s*=>|^\s*<\w+[^>]*>`)
