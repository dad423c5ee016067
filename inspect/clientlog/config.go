package clientlog

import (
	"strings"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/clientconf"
	"github.com/kgdiag/kgdiag/internal/pattern"
)

// configBlock is a "ConsumerConfig values:" block while it is read.
type configBlock struct {
	kind  string // ConsumerConfig, DistributedConfig, StreamsConfig
	where inspect.Position
	pairs []pair
}

type pair struct {
	key, value string
	line       int
}

// maxPairs bounds a block; the largest real one (StreamsConfig) has under 200.
const maxPairs = 1000

var (
	blockHead = pattern.New(`\b(ConsumerConfig|DistributedConfig|StreamsConfig) values: ?$`)
	blockPair = pattern.New(`^\s+([a-zA-Z][a-zA-Z0-9._-]*) = ?(.*)$`)
)

// openBlock starts a block and reports whether the line was its head.
func (rd *reader) openBlock(s *stream, l logLine) bool {
	text := strings.TrimRight(l.text, " ")
	if s.block != nil {
		// The lines of a block that came in one JSON message.
		if m := blockPair.FindStringSubmatch(l.raw); m != nil && len(s.block.pairs) < maxPairs {
			s.block.pairs = append(s.block.pairs, pair{m[1], m[2], int(rd.sum.Lines)})
			return true
		}
		rd.closeBlock(s)
	}
	if !strings.HasSuffix(text, "Config values:") {
		return false
	}
	m := blockHead.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	rd.open++
	s.block = &configBlock{kind: m[1], where: inspect.Position{File: rd.name, Line: int(rd.sum.Lines)}}
	return true
}

// continueBlock takes a plain line into the open block, or closes it.
func (rd *reader) continueBlock(s *stream, raw []byte) bool {
	if len(raw) > 0 && raw[0] == '{' {
		return false // openBlock sees the parts of JSON messages
	}
	line := raw
	if m := criPrefix.FindIndex(raw); m != nil {
		line = raw[m[1]:]
	}
	if m := blockPair.FindSubmatch(line); m != nil && len(s.block.pairs) < maxPairs {
		s.block.pairs = append(s.block.pairs, pair{string(m[1]), string(m[2]), int(rd.sum.Lines)})
		return true
	}
	if len(strings.TrimSpace(string(line))) == 0 {
		return true // Java ends a block with an empty line
	}
	rd.closeBlock(s)
	return false
}

func (rd *reader) closeBlock(s *stream) {
	if len(s.block.pairs) > 0 && len(s.pending) < maxPairs {
		s.pending = append(s.pending, *s.block)
	}
	s.block = nil
	rd.open--
}

// version gives the waiting blocks their client version: AppInfoParser logs it right
// after the configuration.
func (rd *reader) version(s *stream, ev inspect.LogEvent) error {
	if s.block != nil {
		rd.closeBlock(s)
	}
	return rd.flush(s, ev.Version)
}

func (rd *reader) flush(s *stream, version string) error {
	for _, b := range s.pending {
		if err := rd.config(b.config(version)); err != nil {
			return err
		}
	}
	s.pending = nil
	return nil
}

// config counts a configuration and hands it out, if somebody wants it.
func (rd *reader) config(c inspect.ClientConfig) error {
	rd.sum.Configs++
	if rd.h.Config == nil {
		return nil
	}
	return rd.h.Config(c)
}

// config turns a block into a configuration: every value is in force, whether set or
// a default, which the log does not tell apart.
func (b configBlock) config(version string) inspect.ClientConfig {
	c := inspect.ClientConfig{
		Where: b.where, Dialect: "java log", Family: inspect.Java, Version: version, Assumed: version == "",
	}
	switch b.kind {
	case "DistributedConfig":
		c.Family = inspect.Connect
	case "StreamsConfig":
		c.Family = inspect.StreamsLib
	}
	for _, p := range b.pairs {
		if clientconf.Secret(p.key) {
			continue
		}
		value := javaValue(p.value)
		switch p.key {
		case "group.id", "application.id":
			if value != "null" {
				c.Group = value
			}
		case "client.id":
			c.Name = value
		}
		if value == "null" {
			continue
		}
		// A client only starts with values that parse, so problems cannot arise here.
		s, _ := clientconf.NewSetting(p.key, p.key, value, inspect.Position{File: b.where.File, Line: p.line})
		c.Settings = append(c.Settings, s)
	}
	return c
}

// javaValue undoes AbstractConfig's printing of lists: "[a, b]" and "[class x]".
func javaValue(v string) string {
	if strings.HasPrefix(v, "[") && strings.HasSuffix(v, "]") {
		parts := strings.Split(v[1:len(v)-1], ", ")
		for i, p := range parts {
			parts[i] = strings.TrimPrefix(p, "class ")
		}
		return strings.Join(parts, ",")
	}
	return strings.TrimPrefix(v, "class ")
}
