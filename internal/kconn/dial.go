package kconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/internal/hedge"
	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// Dial connects, authenticates and asks for Metadata of the topics, without creating
// anything. When it returns a client, a bootstrap broker and at least one of the
// advertised addresses have answered; Met is what the first one said. Errors are
// *fault.Error and name the address. The caller closes the client.
func (c Config) Dial(ctx context.Context, topics ...string) (*kgo.Client, error) {
	if c.settings.Get("client.dns.lookup") == "resolve_canonical_bootstrap_servers_only" {
		c.seeds = canonicalSeeds(ctx, c.seeds)
	}
	cl, err := c.connect(ctx, newDialer(c), topics)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, ctx.Err() // whatever was said about a broker came of giving up
	}
	if err != nil {
		return nil, c.masked(err)
	}
	return cl, nil
}

// Met is the Metadata answer with which Dial connected; nil before. Whoever needs it
// anew asks for it: it tells of the moment of connecting.
func (c Config) Met() *kmsg.MetadataResponse {
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	return c.book.met
}

func (c Config) connect(ctx context.Context, d *dialer, topics []string) (*kgo.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	w, err := c.firstSeed(ctx, d, topics)
	if err != nil {
		return nil, err
	}
	d.learnAll(w.meta)
	d.mu.Lock()
	d.met, d.seeds = w.meta, []string{w.seed}
	d.look = func(ctx context.Context, b *book) {
		if m, err := metadata(ctx, w.client); err == nil {
			b.learnAll(m)
		}
	}
	d.mu.Unlock()
	d.belongsTo(w.client)
	if len(w.meta.Brokers) <= mostPrepared {
		for _, x := range w.meta.Brokers {
			d.prepare(net.JoinHostPort(x.Host, strconv.Itoa(int(x.Port))))
			d.logIn(w.client, x.NodeID)
		}
	}
	if err := c.checkAdvertised(ctx, w.client, d, w.seed, w.meta); err != nil {
		w.client.Close()
		return nil, err
	}
	return w.client, nil
}

// metadata asks through any broker, whereupon the client knows all of them.
func metadata(ctx context.Context, cl *kgo.Client) (*kmsg.MetadataResponse, error) {
	return metadataOf(nil).RequestWith(ctx, cl)
}

// metadataOf is a request that creates nothing.
func metadataOf(topics []string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	req.Topics = []kmsg.MetadataRequestTopic{} // none, as opposed to nil, which is all
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, t)
	}
	return req
}

func (b *book) learnAll(m *kmsg.MetadataResponse) {
	for _, x := range m.Brokers {
		b.learn(net.JoinHostPort(x.Host, strconv.Itoa(int(x.Port))), x.NodeID)
	}
}

// welcome is a bootstrap broker that has answered, with a client that knows the
// cluster from it.
type welcome struct {
	seed   string
	client *kgo.Client
	meta   *kmsg.MetadataResponse
}

// firstSeed asks the bootstrap brokers, each a second after the one before or as
// soon as that has failed, and takes the first that answers. Each has a client of its
// own, so that those that failed, or have not answered yet, are not asked again, and
// the connection of the one that did goes on being used.
func (c Config) firstSeed(ctx context.Context, d *dialer, topics []string) (welcome, error) {
	var mu sync.Mutex
	var all []*kgo.Client
	over := false
	w, errs := hedge.First(ctx, c.seeds, time.Second, func(ctx context.Context, seed string) (welcome, error) {
		mu.Lock()
		if over {
			mu.Unlock()
			return welcome{}, ctx.Err()
		}
		open := make(opened, 1)
		cl, err := kgo.NewClient(c.options(d, kgo.SeedBrokers(seed), kgo.WithHooks(open))...)
		if err != nil {
			mu.Unlock()
			return welcome{}, fault.Usagef("", "connection settings: %w", err)
		}
		all = append(all, cl)
		mu.Unlock()
		meta, err := c.greet(ctx, cl, open, topics)
		if err != nil {
			return welcome{}, d.explain(ctx, seed, err)
		}
		return welcome{seed, cl, meta}, nil
	})
	mu.Lock()
	defer mu.Unlock()
	over = true
	for _, cl := range all {
		if cl != w.client {
			cl.Close()
		}
	}
	if errs != nil {
		return w, joinErrors(errs)
	}
	return w, nil
}

// opened is a hook that is told once of the first connection that stands, with login.
type opened chan struct{}

// OnBrokerConnect is kgo's.
func (o opened) OnBrokerConnect(_ kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err != nil {
		return
	}
	select {
	case o <- struct{}{}:
	default: // nobody waits any more
	}
}

// greet asks the one bootstrap broker of a client for Metadata. The same is asked of
// the client itself right behind it, on the same connection: that is how it learns
// the brokers, but by itself it would go on trying an address or a login that fails.
func (c Config) greet(ctx context.Context, cl *kgo.Client, open opened, topics []string) (*kmsg.MetadataResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*c.BrokerTimeout())
	defer cancel()
	learnt := make(chan error, 1)
	go func() {
		select {
		case <-open:
		case <-ctx.Done():
			learnt <- ctx.Err()
			return
		}
		_, err := metadata(ctx, cl)
		learnt <- err
	}()
	meta, err := metadataOf(topics).RequestWith(ctx, cl.SeedBrokers()[0])
	if err != nil {
		return nil, err
	}
	return meta, <-learnt
}

// joinErrors makes one line of the failures of several addresses: alike ones are
// named together, the hint is that of the first.
func joinErrors(errs []error) error {
	var list []*fault.Error
	for _, err := range errs {
		if e := fault.As(err); e != nil {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return errors.Join(errs...)
	}
	// What an answering broker said is worth more than an address that is dead.
	slices.SortStableFunc(list, func(a, b *fault.Error) int { return rank(a.Kind) - rank(b.Kind) })
	first := *list[0]
	var alike, different []string
	for _, e := range list[1:] {
		if e.Msg == first.Msg {
			alike = append(alike, e.Addr)
		} else {
			different = append(different, e.Error())
		}
	}
	if len(alike) > 0 {
		first.Addr = strings.Join(append([]string{first.Addr}, alike...), ", ")
	}
	if len(different) > 0 {
		first.Msg += "; " + different[0]
		if len(different) > 1 {
			first.Msg += fmt.Sprintf(" (and %d more)", len(different)-1)
		}
	}
	return &first
}

func rank(k fault.Kind) int {
	switch k {
	case fault.Unresolvable, fault.Refused, fault.Timeout, fault.Unreachable, fault.Connection:
		return 1
	case fault.Cancelled:
		return 2
	}
	return 0
}
