package clientlog

import (
	"strings"
	"unicode/utf8"

	"github.com/kgdiag/kgdiag/inspect"
)

// lineContext is what the frame of a line says about who wrote it.
type lineContext struct {
	client, group, instance, member string
	gen                             string
	broker                          *int32 // the coordinator that writes
	partition                       *int32 // of __consumer_offsets
	node                            *int32 // the broker that a client speaks of
	family                          inspect.Family
	version                         string
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
	if c.gen == "" {
		c.gen = from.gen
	}
	if c.node == nil {
		c.node = from.node
	}
	if c.family == "" {
		c.family, c.version = from.family, from.version
	}
}

// quote is a line as an event keeps it: at most 400 bytes, cut between two words, on one line, without
// secrets.
func quote(s string) string {
	s = inspect.MaskSecrets(s)
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if len(s) > 400 {
		s = s[:400-len(" …")]
		for !utf8.ValidString(s) {
			s = s[:len(s)-1]
		}
		if i := strings.LastIndexByte(s, ' '); i > 300 {
			s = s[:i]
		}
		s += " …"
	}
	return strings.TrimSpace(s)
}
