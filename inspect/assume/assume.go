package assume

import (
	"slices"
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/settings"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// Member is whom a timeout is assumed of.
type Member struct {
	Group, ClientID string
	Family          inspect.Family // as far as it could be told
	ServerSide      bool           // KIP-848: the session is the broker's setting
}

// Value is a timeout that was not read; the zero Value where there is none.
type Value struct {
	Key     string // Java name of the setting
	From    string // "orders.properties", "--set", "the default of java"
	Value   inspect.Millis
	Default bool // nobody set it, as far as is known
}

// String is the value with where it is from: "session.timeout.ms 45s (the default of java)".
func (v Value) String() string {
	return v.Key + " " + prose.Exact(v.Value.Duration()) + " (" + v.From + ")"
}

// Settings that tell what the offsets topic would have told. The session of a KIP-848
// member is the group's or the broker's.
var (
	sessionKeys       = []string{"session.timeout.ms"}
	serverSessionKeys = []string{"consumer.session.timeout.ms", "group.consumer.session.timeout.ms"}
	pollKeys          = []string{"max.poll.interval.ms"}
)

// Session is the session timeout of a member by these configurations.
func Session(m Member, configs []inspect.ClientConfig) Value {
	if m.ServerSide {
		return value(m, serverSessionKeys, configs)
	}
	return value(m, sessionKeys, configs)
}

// PollInterval is its longest time between two polls.
func PollInterval(m Member, configs []inspect.ClientConfig) Value { return value(m, pollKeys, configs) }

// value is what the configurations say, where they agree, else the default.
func value(m Member, keys []string, all []inspect.ClientConfig) Value {
	configs := configsOf(m, all)
	if len(configs) == 0 {
		return defaultOf(m.Family, "", keys[0])
	}
	var out Value
	for i := range configs {
		v := setIn(&configs[i], keys)
		if v.Value == 0 {
			v = defaultOf(configs[i].Family, configs[i].Version, keys[0])
		}
		if out.Value != 0 && v.Value != out.Value {
			return Value{}
		}
		if out.Value == 0 || out.Default {
			out = v
		}
	}
	return out
}

// configsOf are the configurations that a member may have: the one of its client id, else
// those of its group, else those that name no group.
func configsOf(m Member, all []inspect.ClientConfig) []inspect.ClientConfig {
	var named, others []inspect.ClientConfig
	for i := range all {
		c := &all[i]
		if id, ok := c.Get("client.id"); ok && c.Group == m.Group && id.Value == m.ClientID && m.ClientID != "" {
			return all[i : i+1]
		}
		switch c.Group {
		case m.Group:
			named = append(named, *c)
		case "":
			others = append(others, *c)
		}
	}
	if len(named) > 0 {
		return named
	}
	return others
}

// setIn is what a configuration sets.
func setIn(c *inspect.ClientConfig, keys []string) Value {
	i := slices.IndexFunc(c.Settings, func(s inspect.Setting) bool { return slices.Contains(keys, s.Key) })
	if i < 0 {
		return Value{}
	}
	s := c.Settings[i]
	v := Value{Key: s.Key, From: s.Where.File}
	if s.Origin == inspect.OriginFlag || v.From == "" {
		v.From = "--set"
	}
	if s.Millis != nil {
		v.Value = *s.Millis
		return v
	}
	n, err := strconv.ParseInt(s.Value, 10, 64) // a broker's setting, which the client's catalogue does not know
	if err != nil {
		return Value{}
	}
	v.Value = inspect.Millis(time.Duration(n) * time.Millisecond)
	return v
}

// defaultOf is a client library's own value.
func defaultOf(f inspect.Family, version, key string) Value {
	s, ok := settings.Lookup(f, version, key)
	n, err := strconv.ParseInt(s.Default, 10, 64)
	if !ok || err != nil || n <= 0 {
		return Value{}
	}
	return Value{Key: key, From: "the default of " + string(f), Value: inspect.Millis(time.Duration(n) * time.Millisecond), Default: true}
}

// Of are the timeouts to assume of the members of a group of which nothing told them, each
// once and in the order of the members; nil where all were read.
func Of(g *inspect.Group, configs []inspect.ClientConfig) []string {
	if g.Type != inspect.Classic && g.Type != inspect.Consumer {
		return nil
	}
	var out []string
	add := func(v Value) {
		if text := v.String(); v.Value > 0 && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for i := range g.Members {
		m := &g.Members[i]
		who := Member{Group: g.ID, ClientID: m.ClientID, Family: m.Client.Family, ServerSide: g.Type == inspect.Consumer && m.Protocol != inspect.Classic}
		if m.Session == nil && g.Limits.Session == nil {
			add(Session(who, configs))
		}
		if m.Rebalance == nil && (m.Client.Family.PollInterval() || m.Client.Family == inspect.Unknown) {
			add(PollInterval(who, configs))
		}
	}
	return out
}
