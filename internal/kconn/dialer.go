package kconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	xproxy "golang.org/x/net/proxy"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// dialer opens connections for a client: through the broker map and the proxy,
// within the time for one broker, with TLS to the advertised name. Its errors are
// *fault.Error.
type dialer struct {
	*book
	c       Config
	timeout time.Duration
}

// book is what the clients of one Config have found out, for all of them.
type book struct {
	mu     sync.Mutex
	seeds  []string                     // bootstrap addresses that have answered; nil before
	ids    map[string]int32             // advertised address -> node id, from Metadata
	opened map[string]bool              // addresses to which TCP has connected
	met    *kmsg.MetadataResponse       // the first answer; nil before
	failed map[string]*fault.Error      // last failure by address: a request that ran out of time does not carry it
	look   func(context.Context, *book) // asks for Metadata again, for an address that is not in ids
	wire   *wire                        // nil without --debug
	busy   bool                         // look is running; it dials too

	main   *kgo.Client           // when it closes, the run is over
	life   context.Context       // of the run
	cancel context.CancelFunc    // ends it
	over   bool                  // it has ended
	ready  map[string][]*promise // connections that nobody has asked for yet, by address
	shy    map[string]bool       // addresses that did not answer the greeting
}

func newBook() *book {
	b := &book{ids: make(map[string]int32), failed: make(map[string]*fault.Error), opened: make(map[string]bool),
		ready: make(map[string][]*promise), shy: make(map[string]bool)}
	b.life, b.cancel = context.WithCancel(context.Background())
	return b
}

// belongsTo says which client's end is that of the run.
func (b *book) belongsTo(cl *kgo.Client) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.main = cl
}

// OnClientClosed is kgo's.
func (b *book) OnClientClosed(cl *kgo.Client) {
	b.mu.Lock()
	last := cl == b.main && !b.over
	b.mu.Unlock()
	if last {
		b.end()
		b.wire.write()
	}
}

func newDialer(c Config) *dialer {
	return &dialer{book: c.book, c: c, timeout: c.BrokerTimeout()}
}

// learn notes which broker advertises which address.
func (b *book) learn(addr string, id int32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids[addr] = id
}

// target finds where to dial for an address. Only a map by node id has to know
// whose address it is; a broker that came up since is looked for once.
func (d *dialer) target(ctx context.Context, addr string) string {
	d.mu.Lock()
	id, ok := d.ids[addr]
	ask := !ok && !d.busy && d.look != nil && len(d.c.brokers.byID) > 0
	if ask {
		d.busy = true
	}
	d.mu.Unlock()
	if ask {
		d.look(ctx, d.book)
		d.mu.Lock()
		d.busy = false
		id, ok = d.ids[addr]
		d.mu.Unlock()
	}
	if !ok {
		id = -1
	}
	return d.c.brokers.target(addr, id)
}

// dial is the function for kgo.Dialer: a connection that was prepared, or a new one.
func (d *dialer) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	if conn, ok, err := d.take(ctx, addr); ok {
		return conn, err
	}
	return d.establish(ctx, addr)
}

// connect opens a connection, with TLS.
func (d *dialer) connect(ctx context.Context, addr string) (_ net.Conn, err error) {
	target := d.target(ctx, addr)
	began := time.Now()
	defer func() {
		d.wire.note(crossing{what: connecting, broker: d.label(addr), sent: began, answered: time.Now(), failed: err != nil})
	}()
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	conn, err := d.dialTCP(ctx, target)
	if err != nil && caller.Err() != nil {
		return nil, caller.Err() // says nothing about the broker
	}
	if err != nil {
		return nil, d.fail(addr, d.dialError(ctx, addr, target, err))
	}
	d.mu.Lock()
	d.opened[addr] = true
	d.mu.Unlock()
	if d.c.tls == nil {
		return conn, nil
	}
	cfg := d.c.tls.Clone()
	cfg.ServerName, _, _ = net.SplitHostPort(addr)
	tc := tls.Client(conn, cfg)
	if err := tc.HandshakeContext(ctx); err != nil {
		conn.Close()
		if caller.Err() != nil && !isRemoteAlert(err) {
			return nil, caller.Err()
		}
		return nil, d.fail(addr, d.tlsError(ctx, addr, target, cfg.ServerName, err))
	}
	return tc, nil
}

// label names the broker of an address in the log of the wire.
func (d *dialer) label(addr string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if id, ok := d.ids[addr]; ok {
		return fmt.Sprint("broker ", id)
	}
	return "bootstrap"
}

func (d *dialer) fail(addr string, e *fault.Error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed[addr] = e
	return e
}

func (d *dialer) lastFailure(addr string) *fault.Error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed[addr]
}

func (d *dialer) wasOpen(addr string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opened[addr]
}

func (d *dialer) dialTCP(ctx context.Context, target string) (net.Conn, error) {
	network := "tcp"
	switch d.c.settings.Get("broker.address.family") {
	case "v4":
		network = "tcp4"
	case "v6":
		network = "tcp6"
	}
	if d.c.dial != nil {
		return d.c.dial(ctx, network, target)
	}
	nd := &net.Dialer{}
	if d.c.proxy == nil {
		return nd.DialContext(ctx, network, target)
	}
	p, err := xproxy.SOCKS5("tcp", d.c.proxy.addr, d.c.proxy.auth, nd)
	if err != nil {
		return nil, err
	}
	cd, ok := p.(xproxy.ContextDialer)
	if !ok {
		return nil, errors.New("the proxy cannot be dialled with a deadline")
	}
	return cd.DialContext(ctx, "tcp", target)
}
