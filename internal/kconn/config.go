package kconn

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/internal/kconn/credentials"
	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/kconn/settings"
	"github.com/kgdiag/kgdiag/internal/kconn/stores"
)

// Options is what a user has said about the cluster, and how kgdiag is to connect. The
// strings are those of the command line: leave them empty where a flag was not given.
type Options struct {
	Bootstrap     string        // --bootstrap-server: host[:port], comma separated
	CommandConfig string        // --command-config: path
	X             []string      // -X: key=value
	Context       string        // --context: name
	BrokerMap     string        // --broker-map: ID=HOST:PORT,… or one HOST:PORT
	Timeout       time.Duration // --timeout: for a request; 0 means DefaultTimeout
	Debug         io.Writer     // --debug: the client's log, without payloads and secrets; nil for none

	// Dial opens TCP connections; a net.Dialer if nil. A proxy of the settings is not
	// asked where it is set.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	Getenv  func(string) string // nil means no environment
	Home    string              // the user's home directory, for contexts and ~/; "" for none
	Version string              // of kgdiag, for the client id and software version

	// Prompt asks for a secret on the terminal, without echo; nil where there is
	// no terminal, and a missing secret is then an error.
	Prompt func(label string) (string, error)
}

// input is what package settings weighs.
func (o Options) input() settings.Input {
	return settings.Input{Bootstrap: o.Bootstrap, CommandConfig: o.CommandConfig, X: o.X, Context: o.Context, BrokerMap: o.BrokerMap,
		Getenv: o.Getenv, Home: o.Home, Prompt: o.Prompt}
}

// DefaultTimeout bounds a request; a sixth of the timeout bounds reaching a broker.
const DefaultTimeout = 30 * time.Second

// Config is a resolved connection. It prints without secrets.
type Config struct {
	Bootstrap string // the addresses that will be dialled, comma separated
	Source    string // what named them: "--bootstrap-server", "context prod", "client.properties:1", …
	Context   string // the name of the context, or ""

	Protocol  string // PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL
	Mechanism string // the SASL mechanism, or ""
	User      string // who connects: user name, client id or principal, or ""

	seeds    []string
	settings *settings.Settings
	tls      *tls.Config             // nil for plaintext
	login    credentials.Credentials // zero without SASL
	brokers  brokerMap
	timeout  time.Duration
	debug    io.Writer
	version  string
	proxy    *proxy
	dial     func(ctx context.Context, network, addr string) (net.Conn, error) // nil means a net.Dialer
	book     *book                                                             // shared by the clients of this Config
}

// String names the cluster and how it is spoken to, without secrets.
func (c Config) String() string {
	s := c.Bootstrap + " " + c.Protocol
	if c.Mechanism != "" {
		s += " " + c.Mechanism
	}
	return s
}

// GoString is String: %#v must not print secrets either.
func (c Config) GoString() string { return c.String() }

// Timeout bounds a request, in whole.
func (c Config) Timeout() time.Duration { return c.timeout }

// BrokerTimeout bounds reaching one broker: 5s at the default timeout of 30s,
// and a sixth of any other.
func (c Config) BrokerTimeout() time.Duration { return c.timeout / 6 }

// Resolve finds out which cluster is meant and how to speak to it. It reads files and
// dials nothing. Package settings says what outranks what. The warnings are for
// stderr, one line each. Errors are *fault.Error with Usage() true.
func Resolve(opt Options) (Config, []string, error) {
	s, cluster, err := settings.Read(opt.input())
	if err != nil {
		return Config{}, s.Warnings(), err
	}
	c := Config{Bootstrap: cluster.Servers, Source: cluster.Source, Context: cluster.Context, settings: s,
		timeout: opt.Timeout, debug: opt.Debug, version: opt.Version, dial: opt.Dial, book: newBook()}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	if c.debug != nil {
		c.book.wire = &wire{out: c.debug, greeting: len(c.greeting())}
	}
	for _, step := range []func() error{c.addresses, c.protocol, c.secure, c.authenticate, c.network} {
		if err := step(); err != nil {
			return Config{}, s.Warnings(), err
		}
	}
	return c, s.Warnings(), nil
}

// addresses checks the list of servers.
func (c *Config) addresses() error {
	seeds, err := settings.SplitServers(c.Bootstrap)
	if err == nil && len(seeds) == 0 {
		err = fmt.Errorf("%q names no host", c.Bootstrap)
	}
	if err != nil {
		return fault.Usagef("addresses are HOST:PORT, several are separated by commas", "%s: %w", c.Source, err)
	}
	c.seeds = seeds
	c.Bootstrap = strings.Join(seeds, ",")
	return nil
}

// protocol is security.protocol; PLAINTEXT without, as Kafka's own clients have it.
func (c *Config) protocol() error {
	s := c.settings.At("security.protocol")
	switch p := strings.ToUpper(s.Value); p {
	case "":
		c.Protocol = "PLAINTEXT"
		if k := c.settings.Higher("sasl.mechanism", "sasl.jaas.config", "sasl.username", "ssl.truststore.location", "ssl.keystore.location", "ssl.ca.location", "ssl.truststore.certificates"); k != "" {
			c.settings.Warn("%s is set and security.protocol is not: the connection is PLAINTEXT, as Kafka's own clients have it; add security.protocol=SSL, SASL_SSL or SASL_PLAINTEXT", c.settings.At(k).Where())
		}
	case "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL":
		c.Protocol = p
	case "TLS":
		return fault.Usagef("security.protocol=SSL is what Kafka calls TLS", "%s: %q is no protocol", s.Where(), s.Value)
	default:
		return fault.Usagef("PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL", "%s: %q is no protocol", s.Where(), s.Value)
	}
	return nil
}

func (c *Config) secure() (err error) {
	if strings.HasSuffix(c.Protocol, "SSL") {
		c.tls, err = stores.TLS(c.settings)
	}
	return err
}

func (c *Config) authenticate() (err error) {
	if !strings.HasPrefix(c.Protocol, "SASL_") {
		return nil
	}
	about := credentials.About{Bootstrap: c.Bootstrap, Agent: "kgdiag/" + softwareVersion(c.version), Timeout: c.BrokerTimeout()}
	c.login, err = credentials.SASL(c.settings, about)
	c.Mechanism, c.User = c.login.Mechanism, c.login.User
	return err
}
