package cmd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kgdiag/kgdiag/internal/kconn"
	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/render"
	"github.com/kgdiag/kgdiag/locate"
)

// connectOptions are the flags of connecting as internal/kconn weighs them.
func (a *app) connectOptions() (kconn.Options, error) {
	timeout, err := a.timeout()
	if err != nil {
		return kconn.Options{}, err
	}
	o := kconn.Options{
		Bootstrap: strings.Join(a.flags.bootstrap, ","), CommandConfig: a.flags.commandConfig, X: a.flags.x,
		Context: a.flags.context, BrokerMap: a.flags.brokerMap, Timeout: timeout,
		Dial: a.dial, Getenv: a.getenv, Home: a.home, Version: Version(),
	}
	if a.flags.debug {
		o.Debug = render.CleanLines(a.streams.Err)
	}
	if a.streams.InTTY && a.streams.ErrTTY {
		o.Prompt = func(label string) (string, error) {
			return a.streams.ReadSecret(label + ": ")
		}
	}
	return o, nil
}

// resolve finds out which cluster is meant, without dialling it; warnings go to stderr.
func (a *app) resolve() (kconn.Config, error) {
	o, err := a.connectOptions()
	if err != nil {
		return kconn.Config{}, err
	}
	c, warnings, err := kconn.Resolve(o)
	for _, w := range warnings {
		a.warn("%s", w)
	}
	return c, err
}

// connect resolves and dials; the caller closes the client.
func (a *app) connect(ctx context.Context) (*kgo.Client, kconn.Config, error) {
	c, err := a.resolve()
	if err != nil {
		return nil, c, err
	}
	cl, err := c.Dial(ctx, locate.OffsetsTopic, locate.TransactionsTopic)
	return cl, c, err
}

// configured says which cluster the environment and the default context name, for
// the bare command; it asks no network and no terminal.
func (a *app) configured() string {
	o, err := a.connectOptions()
	if err == nil {
		o.Prompt = func(string) (string, error) { return "asked for later", nil }
		var c kconn.Config
		if c, _, err = kconn.Resolve(o); err == nil {
			return fmt.Sprintf("cluster: %s (from %s)", c.Bootstrap, c.Source)
		}
	}
	var e *fault.Error
	if errors.As(err, &e) && e.Kind == fault.NoCluster {
		return "no cluster is configured: add -b HOST:PORT, or --command-config FILE"
	}
	return "cluster: " + err.Error()
}

// secretKey matches the keys of connection settings that hold secrets.
var secretKey = regexp.MustCompile(`(?i)password|secret|jaas|token|\.key$`)

// connectWords are the flags that named the cluster, for commands to copy; none where
// the environment or a context did, which is there for the next command too. What is
// secret is left to be filled in.
func (a *app) connectWords() string {
	words := flagWords("-b", strings.Join(a.flags.bootstrap, ",")) + flagWords("--command-config", a.flags.commandConfig) +
		flagWords("--context", a.flags.context) + flagWords("--broker-map", a.flags.brokerMap)
	for _, kv := range a.flags.x {
		if key, _, _ := strings.Cut(kv, "="); secretKey.MatchString(key) {
			kv = key + "=…"
		}
		words += flagWords("-X", kv)
	}
	return words
}
