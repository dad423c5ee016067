package assume_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/assume"
)

// config is a configuration with one timeout.
func config(group, client, key, value string, d time.Duration) inspect.ClientConfig {
	c := inspect.ClientConfig{Where: inspect.Position{File: client + group + ".properties"}, Family: inspect.Java, Version: "2.8", Group: group}
	if client != "" {
		c.Settings = append(c.Settings, inspect.Setting{Key: "client.id", Value: client})
	}
	s := inspect.Setting{Key: key, Value: value, Where: c.Where}
	if d > 0 {
		s.Millis = inspect.Ms(d)
	}
	c.Settings = append(c.Settings, s)
	return c
}

func TestWhereATimeoutIsFrom(t *testing.T) {
	const session = "session.timeout.ms"
	orders := assume.Member{Group: "orders", ClientID: "pod-1", Family: inspect.Librdkafka}
	for _, c := range []struct {
		name    string
		m       assume.Member
		configs []inspect.ClientConfig
		want    string // "" none
		byNone  bool
	}{
		{"nothing given", orders, nil, "session.timeout.ms 45s (the default of librdkafka)", true},
		{"nothing given, nobody known", assume.Member{Group: "orders", Family: inspect.Unknown}, nil, "", false},
		{"the group's", orders, []inspect.ClientConfig{config("other", "", session, "9000", 9*time.Second), config("orders", "", session, "6000", 6*time.Second)},
			"session.timeout.ms 6s (orders.properties)", false},
		{"of no group", orders, []inspect.ClientConfig{config("", "", session, "6000", 6*time.Second)}, "session.timeout.ms 6s (.properties)", false},
		{"the member's own", orders, []inspect.ClientConfig{config("orders", "", session, "6000", 6*time.Second), config("orders", "pod-1", session, "8000", 8*time.Second)},
			"session.timeout.ms 8s (pod-1orders.properties)", false},
		{"two that differ", orders, []inspect.ClientConfig{config("orders", "", session, "6000", 6*time.Second), config("orders", "", session, "9000", 9*time.Second)}, "", false},
		{"a file without it", orders, []inspect.ClientConfig{config("orders", "", "max.poll.records", "5", 0)}, "session.timeout.ms 10s (the default of java)", true},
		{"KIP-848 asks the broker", assume.Member{Group: "orders", Family: inspect.Java, ServerSide: true},
			[]inspect.ClientConfig{config("orders", "", session, "6000", 6*time.Second)}, "", false},
		{"KIP-848, the group's setting", assume.Member{Group: "orders", Family: inspect.Java, ServerSide: true},
			[]inspect.ClientConfig{config("orders", "", "consumer.session.timeout.ms", "7000", 0)}, "consumer.session.timeout.ms 7s (orders.properties)", false},
	} {
		got := assume.Session(c.m, c.configs)
		if text := got.String(); c.want == "" && got.Value != 0 || c.want != "" && text != c.want || got.Default != c.byNone {
			t.Errorf("%s: %q, by default %v; want %q, %v", c.name, text, got.Default, c.want, c.byNone)
		}
	}
	if v := assume.PollInterval(orders, nil); v.String() != "max.poll.interval.ms 5m (the default of librdkafka)" {
		t.Errorf("poll interval %s", v)
	}
	flag := config("", "", session, "6000", 6*time.Second)
	flag.Settings[0].Origin = inspect.OriginFlag
	if v := assume.Session(orders, []inspect.ClientConfig{flag}); v.From != "--set" {
		t.Errorf("a flag is from %q", v.From)
	}
}

// Of a group whose log may not be read the defaults of each client are said once; of one
// whose timeouts were read, nothing.
func TestTimeoutsOfAGroup(t *testing.T) {
	g := &inspect.Group{ID: "orders", Type: inspect.Classic, Members: []inspect.Member{{Client: inspect.ClientGuess{Family: inspect.Sarama}},
		{Client: inspect.ClientGuess{Family: inspect.Java}}, {Client: inspect.ClientGuess{Family: inspect.Java}}, {Client: inspect.ClientGuess{Family: inspect.Unknown}}}}
	want := []string{"session.timeout.ms 10s (the default of sarama)", "session.timeout.ms 45s (the default of java)", "max.poll.interval.ms 5m (the default of java)"}
	if got := assume.Of(g, nil); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range g.Members {
		g.Members[i].Session, g.Members[i].Rebalance = inspect.Ms(time.Second), inspect.Ms(time.Minute)
	}
	if got := assume.Of(g, nil); got != nil {
		t.Errorf("all were read: %q", got)
	}
}
