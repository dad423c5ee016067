package kconn

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/kconn/settings"
)

// ReadOnlyKeys are the request kinds that kgdiag's client knows. Everything else,
// above all everything that writes, is refused by the client before it is sent.
// FindCoordinator is among them and creates its topic where that is missing:
// callers ask it only after Metadata has shown the topic.
var ReadOnlyKeys = map[int16]string{
	1:  "Fetch",
	2:  "ListOffsets",
	3:  "Metadata",
	9:  "OffsetFetch",
	10: "FindCoordinator",
	15: "DescribeGroups",
	16: "ListGroups",
	17: "SaslHandshake",
	18: "ApiVersions",
	23: "OffsetForLeaderEpoch",
	29: "DescribeAcls",
	32: "DescribeConfigs",
	36: "SaslAuthenticate",
	60: "DescribeCluster",
	66: "ListTransactions",
	69: "ConsumerGroupDescribe",
	75: "DescribeTopicPartitions",
	77: "ShareGroupDescribe",
	89: "StreamsGroupDescribe",
	90: "DescribeShareGroupOffsets",
}

// sameForAll is the newest ApiVersions that the client asks alike of every broker.
const sameForAll = 3

// readOnlyVersions is the newest stable version of each of ReadOnlyKeys.
func (c Config) readOnlyVersions() *kversion.Versions {
	stable, out := kversion.Stable(), new(kversion.Versions)
	for key := range ReadOnlyKeys {
		if v, ok := stable.LookupMaxKeyVersion(key); ok {
			out.SetMaxKeyVersion(key, v)
		}
	}
	if len(c.brokers.byID) == 0 {
		// Every broker since 2.4 knows v3, which says all that the client needs. One that
		// does not know the version refuses, and each connection pays a round trip. From v5
		// on the client names the broker that it expects (KIP-1242): that is worth it where
		// a map by id may be wrong; one address for all would be refused as misrouted.
		out.SetMaxKeyVersion(18, sameForAll)
	}
	return out
}

// Options are the options of a client for this connection, for callers that
// consume partitions and so need a client of their own; they end with extra, and
// then with what keeps the client read-only. After Dial they know what it found out:
// which bootstrap address answers, and which broker advertises what.
func (c Config) Options(extra ...kgo.Opt) []kgo.Opt {
	return c.options(newDialer(c), extra...)
}

func (c Config) options(d *dialer, extra ...kgo.Opt) []kgo.Opt {
	seeds := c.seeds
	d.mu.Lock()
	if d.seeds != nil {
		seeds = d.seeds // a further client need not find out again which are dead
	}
	d.mu.Unlock()
	opts := []kgo.Opt{
		kgo.SeedBrokers(seeds...),
		kgo.ClientID(c.clientID()),
		kgo.SoftwareNameAndVersion(softwareName, softwareVersion(c.version)),
		kgo.WithHooks(d.book),
		kgo.Dialer(d.dial),
		kgo.RetryTimeout(c.timeout),
		kgo.RequestTimeoutOverhead(max(c.timeout/3, 100*time.Millisecond)),
		kgo.DisableClientMetrics(), // telemetry would be a write
	}
	if c.login.Mechanisms != nil {
		opts = append(opts, kgo.SASL(c.login.Mechanisms...))
	}
	if c.debug != nil {
		opts = append(opts, kgo.WithLogger(kgo.BasicLogger(maskWriter{c.debug, c.settings}, kgo.LogLevelDebug, nil)), kgo.WithHooks(d.wire))
	}
	opts = append(opts, extra...)
	return append(opts, kgo.MaxVersions(c.readOnlyVersions()))
}

// maskWriter hides the secrets of the settings in what is written, a line at a time.
type maskWriter struct {
	to      io.Writer
	secrets *settings.Settings
}

func (w maskWriter) Write(b []byte) (int, error) {
	_, err := io.WriteString(w.to, w.secrets.Mask(string(b)))
	return len(b), err
}

// masked is an error of this package in which no broker repeats a secret.
func (c Config) masked(err error) error {
	e := fault.As(err)
	if e == nil {
		return err
	}
	out := *e
	out.Msg = c.settings.Mask(e.Msg)
	return &out
}

// softwareName is what brokers are told (KIP-511).
const softwareName = "kgdiag"

// clientID is what brokers log.
func (c Config) clientID() string { return softwareName + "/" + cmp.Or(c.version, "dev") }

// softwareVersion keeps what brokers accept in ApiVersions (KIP-511): letters,
// digits, dots and hyphens, neither first nor last.
func softwareVersion(v string) string {
	v = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' {
			return c
		}
		return '-'
	}, v)
	return cmp.Or(strings.Trim(v, ".-"), "dev")
}
