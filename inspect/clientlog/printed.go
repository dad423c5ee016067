package clientlog

import (
	"slices"
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// Programs print the settings that they give to a consumer: a map of Java, Python, Go or
// JavaScript within one line, or librdkafka's own list with debug=conf. What they print
// was given, while a ConsumerConfig block (config.go) has the defaults too.

var (
	printedPair = pattern.New(`(?:^|[{,;\[\s("'])["']?([a-z][a-zA-Z0-9._]+)["']?\s*(?:=>|=|:)\s*("[^"]*"|'[^']*'|\[[^\]]*\]|[^,;\s}\])({\["'][^,;\s}\])]*)`)
	rdkafkaPair = pattern.New(`^\s+([a-z][a-z0-9._]+) = (.*)$`)
	number      = pattern.New(`^\d+$`)
)

// printedMarks make the first look find such lines.
var printedMarks = []string{"session.timeout.ms", "max.poll.interval.ms", "heartbeat.interval.ms", "max.poll.records", "session_timeout_ms", "max_poll_interval_ms",
	"heartbeatInterval", "[thrd:app]:   "}

// timings are the settings of which one with a number must be in what is taken for a
// consumer's.
var timings = map[string]bool{"session.timeout.ms": true, "max.poll.interval.ms": true, "heartbeat.interval.ms": true, "max.poll.records": true}

// timingWords are the parts that every spelling of a key of timings has.
var timingWords = []string{"ession.timeout", "ession_timeout", "essionTimeout", "oll.interval", "oll_interval", "ollInterval", "oll.records", "oll_records", "ollRecords",
	"eartbeat.interval", "eartbeat_interval", "eartbeatInterval"}

// printed takes the settings that a line prints for a consumer's configuration.
func (rd *reader) printed(s *stream, l *logLine, line string) error {
	if l.tag == "CONF" {
		if m := rdkafkaPair.FindStringSubmatch(l.text); m != nil && len(s.listed) < maxPairs {
			s.listed = append(s.listed, pair{m[1], m[2], int(rd.sum.Lines)})
		}
		return nil
	}
	if err := rd.listed(s); err != nil {
		return err
	}
	if !slices.ContainsFunc(timingWords, func(w string) bool { return strings.Contains(line, w) }) {
		return nil // the pattern is dear
	}
	var pairs []pair
	for _, m := range printedPair.FindAllStringSubmatch(line, maxPairs) {
		pairs = append(pairs, pair{m[1], strings.Trim(m[2], `"'`), int(rd.sum.Lines)})
	}
	family := l.context.family
	if family == "" && (strings.Contains(line, ".ms': ") || strings.Contains(line, "map[")) {
		family = inspect.Librdkafka // dicts of Python and maps of Go go to its bindings
	}
	return rd.given(pairs, family)
}

// listed hands out librdkafka's own list when it has ended.
func (rd *reader) listed(s *stream) error {
	pairs := s.listed
	s.listed = nil
	return rd.given(pairs, inspect.Librdkafka)
}

// given makes a configuration of the settings that a program says it has given; nothing
// where they are no consumer's, or were told before.
func (rd *reader) given(pairs []pair, family inspect.Family) error {
	if len(pairs) < 2 {
		return nil
	}
	c := inspect.ClientConfig{Where: inspect.Position{File: rd.name, Line: pairs[0].line}, Dialect: "printed", Family: familyOfPairs(pairs, family), Assumed: true}
	told, timed, software := []string{}, false, ""
	for _, p := range pairs {
		key := clientconf.KeyOf(p.key, c.Family)
		switch {
		case p.key == "client.software.name":
			software = p.value
		case p.key == "client.software.version" && software == "librdkafka":
			c.Version, c.Assumed = p.value, false
		}
		if _, had := c.Get(key); had || key == "" || clientconf.Secret(p.key) {
			continue
		}
		s, problem := clientconf.NewSetting(key, p.key, javaValue(p.value), inspect.Position{File: rd.name, Line: p.line})
		if problem != nil || s.Value == "null" || s.Value == "None" {
			continue
		}
		timed = timed || timings[key] && number.MatchString(s.Value)
		told = append(told, s.Key+"="+s.Value)
		c.Settings = append(c.Settings, s)
		switch key {
		case "group.id":
			c.Group = s.Value
		case "client.id":
			c.Name = s.Value
		}
	}
	if !timed || len(c.Settings) < 2 {
		return nil
	}
	slices.Sort(told)
	once := strings.Join(told, " ")
	if rd.told[once] {
		return nil
	}
	rd.told[once] = true
	return rd.config(c)
}

// familyOfPairs is the client whose spelling the settings have; "" where several share it.
func familyOfPairs(pairs []pair, spoke inspect.Family) inspect.Family {
	has := func(words ...string) bool {
		return slices.ContainsFunc(pairs, func(p pair) bool { return slices.Contains(words, p.key) })
	}
	switch {
	case has("sessionTimeout") && has("heartbeatInterval"):
		return inspect.KafkaJS
	case has("session_timeout_ms", "max_poll_interval_ms") && spoke != inspect.AIOKafka:
		return inspect.KafkaPython
	case has("metadata.broker.list", "enable.auto.offset.store", "enable.partition.eof", "statistics.interval.ms", "auto.commit.enable", "go.events.channel.enable"):
		return inspect.Librdkafka
	case has("key.deserializer", "value.deserializer", "max.poll.records"):
		return inspect.Java
	}
	return spoke
}
