package judge

import (
	"slices"
	"strconv"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
	"github.com/kgdiag/kgdiag/inspect/settings"
)

// Settings that tell the timeouts which the offsets topic would have told. The session of
// a KIP-848 member is the broker's.
var (
	sessionKeys       = []string{"session.timeout.ms"}
	serverSessionKeys = []string{"consumer.session.timeout.ms", "group.consumer.session.timeout.ms"}
	pollKeys          = []string{"max.poll.interval.ms"}
)

// assume fills in timeouts that were not read: out of the group's configuration, where
// one was given, else the default of the client library that the member seems to use. It
// says which and from where, and a default is told from what somebody set.
func (t *timeouts) assume(m *membership.Member, group string, configs []inspect.ClientConfig) {
	keys := sessionKeys
	if m.ServerSide {
		keys = serverSessionKeys
	}
	configs = configsOf(m, group, configs)
	if t.session == 0 {
		a := assumption(m, keys, configs)
		t.session, t.assumed = a.value.Duration(), a.byDefault
		t.note(a)
	}
	if t.rebalance == 0 && (t.family.PollInterval() || t.family == inspect.Unknown) {
		a := assumption(m, pollKeys, configs)
		t.rebalance, t.guessed = a.value.Duration(), a.byDefault
		t.note(a)
	}
}

func (t *timeouts) note(a assumed) {
	if a.value > 0 {
		t.basis = append(t.basis, a.key+" "+dur(a.value.Duration())+" ("+a.from+")")
	}
}

// assumed is a timeout that was not read; the zero value if there is none.
type assumed struct {
	key, from string
	value     inspect.Millis
	byDefault bool
}

// configsOf are the configurations that a member may have: those of its client id, else
// those of its group, else those that name no group.
func configsOf(m *membership.Member, group string, all []inspect.ClientConfig) []inspect.ClientConfig {
	var named, others []inspect.ClientConfig
	for i := range all {
		c := &all[i]
		if id, ok := c.Get("client.id"); ok && c.Group == group && id.Value == m.ClientID && m.ClientID != "" {
			return all[i : i+1]
		}
		switch c.Group {
		case group:
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

// assumption is what the configurations say, where they agree, else the default.
func assumption(m *membership.Member, keys []string, configs []inspect.ClientConfig) assumed {
	var out assumed
	for i := range configs {
		a := setIn(&configs[i], keys)
		if a.value == 0 {
			a = defaultOf(configs[i].Family, configs[i].Version, keys[0])
		}
		if out.value != 0 && a.value != out.value {
			return assumed{}
		}
		if out.value == 0 || out.byDefault {
			out = a
		}
	}
	if out.value == 0 && len(configs) == 0 {
		return defaultOf(m.Client.Family, "", keys[0])
	}
	return out
}

// setIn is what a configuration sets.
func setIn(c *inspect.ClientConfig, keys []string) assumed {
	i := slices.IndexFunc(c.Settings, func(s inspect.Setting) bool { return slices.Contains(keys, s.Key) })
	if i < 0 {
		return assumed{}
	}
	s := c.Settings[i]
	from := s.Where.File
	if s.Origin == inspect.OriginFlag || from == "" {
		from = "--set"
	}
	if s.Millis != nil {
		return assumed{key: s.Key, from: from, value: *s.Millis}
	}
	n, err := strconv.ParseInt(s.Value, 10, 64) // a broker's setting, which the client's catalogue does not know
	if err != nil {
		return assumed{}
	}
	return assumed{key: s.Key, from: from, value: inspect.Millis(time.Duration(n) * time.Millisecond)}
}

// defaultOf is a client library's own value.
func defaultOf(f inspect.Family, version, key string) assumed {
	s, ok := settings.Lookup(f, version, key)
	n, err := strconv.ParseInt(s.Default, 10, 64)
	if !ok || err != nil || n <= 0 {
		return assumed{}
	}
	return assumed{key: key, from: "the default of " + string(f), value: inspect.Millis(time.Duration(n) * time.Millisecond), byDefault: true}
}

// byDefault reports a cause whose timeout is a default that nobody read: it rules nothing
// out.
func (t *timeouts) byDefault(c inspect.Cause) bool {
	return t.assumed && c == inspect.SessionExpired || t.guessed && c == inspect.PollIntervalExceeded
}

// sessionMayHaveEnded reports a silence in which the shortest session that the broker
// allows can have ended, where nobody told how long the member's is.
func (e *evidence) sessionMayHaveEnded() bool { return e.least > 0 && e.gapHi >= e.least-slack }

// measured reports whether there are commits enough for silence to mean something, up to
// the departure.
func (e *evidence) measured() bool { return e.silent && !e.unseen }

// mayHaveIdled reports a silence of commits that polls saw which means nothing unless
// records waited, and nothing shows that they did.
func (e *evidence) mayHaveIdled(v *verdict) bool {
	return e.cad.grain > 0 && e.waiting != 1 && (v.cause == inspect.SessionExpired || v.cause == inspect.PollIntervalExceeded)
}
