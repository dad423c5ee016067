package kconn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/internal/hedge"
	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// Dial connects, authenticates and asks for Metadata, without creating anything.
// When it returns a client, a bootstrap broker and at least one of the advertised
// addresses have answered. Errors are *fault.Error and name the address. The caller
// closes the client.
func (c Config) Dial(ctx context.Context) (*kgo.Client, error) {
	if c.settings.Get("client.dns.lookup") == "resolve_canonical_bootstrap_servers_only" {
		c.seeds = canonicalSeeds(ctx, c.seeds)
	}
	d := newDialer(c)
	cl, err := kgo.NewClient(c.options(d)...)
	if err != nil {
		return nil, fault.Usagef("", "connection settings: %w", err)
	}
	if err := c.connect(ctx, cl, d); err != nil {
		cl.Close()
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err() // whatever was said about a broker came of giving up
		}
		return nil, c.masked(err)
	}
	return cl, nil
}

func (c Config) connect(ctx context.Context, cl *kgo.Client, d *dialer) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	seed, err := c.firstSeed(ctx, cl, d)
	if err != nil {
		return err
	}
	// The seeds that failed, or have not answered yet, must not be asked again.
	if len(c.seeds) > 1 {
		if err := cl.UpdateSeedBrokers(c.seeds[seed]); err != nil {
			return &fault.Error{Kind: fault.Connection, Addr: c.seeds[seed], Msg: fault.Bare(err), Err: err}
		}
	}
	meta, err := metadata(ctx, cl)
	if err != nil {
		return d.explain(ctx, c.seeds[seed], err)
	}
	d.learnAll(meta)
	d.mu.Lock()
	d.seeds = []string{c.seeds[seed]}
	d.look = func(ctx context.Context, b *book) {
		if m, err := metadata(ctx, cl); err == nil {
			b.learnAll(m)
		}
	}
	d.mu.Unlock()
	return c.checkAdvertised(ctx, cl, d, c.seeds[seed], meta)
}

func metadata(ctx context.Context, cl *kgo.Client) (*kmsg.MetadataResponse, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none, as opposed to nil, which is all
	return req.RequestWith(ctx, cl)
}

func (b *book) learnAll(m *kmsg.MetadataResponse) {
	for _, x := range m.Brokers {
		b.learn(net.JoinHostPort(x.Host, strconv.Itoa(int(x.Port))), x.NodeID)
	}
}

// firstSeed asks the bootstrap brokers, each a second after the one before or as
// soon as that has failed, and returns the first that answers.
func (c Config) firstSeed(ctx context.Context, cl *kgo.Client, d *dialer) (int, error) {
	numbers := make([]int, len(c.seeds))
	for i := range numbers {
		numbers[i] = i
	}
	won, errs := hedge.First(ctx, numbers, time.Second, func(ctx context.Context, i int) (int, error) {
		ctx, cancel := context.WithTimeout(ctx, 2*c.BrokerTimeout())
		defer cancel()
		req := kmsg.NewPtrMetadataRequest()
		req.Topics = []kmsg.MetadataRequestTopic{}
		// kgo numbers its seeds from the smallest id on.
		_, err := cl.Broker(math.MinInt32+i).Request(ctx, req)
		if err != nil {
			return 0, d.explain(ctx, c.seeds[i], err)
		}
		return i, nil
	})
	if errs != nil {
		return 0, joinErrors(errs)
	}
	return won, nil
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
