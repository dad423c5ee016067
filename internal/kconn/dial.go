package kconn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/internal/hedge"
)

// Dial connects, authenticates and asks for Metadata, without creating anything.
// When it returns a client, a bootstrap broker and at least one of the advertised
// addresses have answered. Errors are *Error and name the address. The caller
// closes the client.
func (c Config) Dial(ctx context.Context) (*kgo.Client, error) {
	if c.settings.get("client.dns.lookup") == "resolve_canonical_bootstrap_servers_only" {
		c.seeds = canonicalSeeds(ctx, c.seeds)
	}
	d := newDialer(c)
	cl, err := kgo.NewClient(c.options(d)...)
	if err != nil {
		return nil, usagef("", "connection settings: %w", err)
	}
	if err := c.connect(ctx, cl, d); err != nil {
		cl.Close()
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err() // whatever was said about a broker came of giving up
		}
		return nil, err
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
			return &Error{Kind: KindConnection, Addr: c.seeds[seed], msg: bare(err), err: err}
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
	var list []*Error
	for _, err := range errs {
		if e := asError(err); e != nil {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return errors.Join(errs...)
	}
	// What an answering broker said is worth more than an address that is dead.
	slices.SortStableFunc(list, func(a, b *Error) int { return rank(a.Kind) - rank(b.Kind) })
	first := *list[0]
	var alike, different []string
	for _, e := range list[1:] {
		if e.msg == first.msg {
			alike = append(alike, e.Addr)
		} else {
			different = append(different, e.Error())
		}
	}
	if len(alike) > 0 {
		first.Addr = strings.Join(append([]string{first.Addr}, alike...), ", ")
	}
	if len(different) > 0 {
		first.msg += "; " + different[0]
		if len(different) > 1 {
			first.msg += fmt.Sprintf(" (and %d more)", len(different)-1)
		}
	}
	return &first
}

func rank(k Kind) int {
	switch k {
	case KindUnresolvable, KindRefused, KindTimeout, KindUnreachable, KindConnection:
		return 1
	case KindCancelled:
		return 2
	}
	return 0
}

// checkAdvertised makes sure that at least one broker can be reached under the
// name by which it calls itself: every request but the first ones goes there.
func (c Config) checkAdvertised(ctx context.Context, cl *kgo.Client, d *dialer, seed string, meta *kmsg.MetadataResponse) error {
	brokers := slices.Clone(meta.Brokers)
	if len(brokers) == 0 {
		return &Error{Kind: KindConnection, Addr: seed, msg: "answers, but knows no broker", hint: "the cluster is starting; try again"}
	}
	slices.SortFunc(brokers, func(a, b kmsg.MetadataResponseBroker) int { return int(a.NodeID) - int(b.NodeID) })
	addr := func(b kmsg.MetadataResponseBroker) string {
		return net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
	}
	for _, b := range brokers {
		if addr(b) == seed && d.c.brokers.target(seed, b.NodeID) == d.c.brokers.target(seed, -1) {
			return nil // it has just answered under that name
		}
	}
	asked := brokers[:min(len(brokers), 12)]
	_, errs := hedge.First(ctx, asked, 500*time.Millisecond, func(ctx context.Context, b kmsg.MetadataResponseBroker) (kmsg.Response, error) {
		req := kmsg.NewPtrMetadataRequest()
		req.Topics = []kmsg.MetadataRequestTopic{}
		resp, err := cl.Broker(int(b.NodeID)).Request(ctx, req)
		if err != nil {
			return nil, d.explain(ctx, addr(b), err)
		}
		return resp, nil
	})
	if errs == nil {
		return nil
	}
	return c.advertisedError(seed, asked, joinErrors(errs))
}

// advertisedError is for a cluster whose bootstrap address works while none of
// the addresses that its brokers give out does.
func (c Config) advertisedError(seed string, brokers []kmsg.MetadataResponseBroker, err error) error {
	e := asError(err)
	if e == nil {
		return err
	}
	switch e.Kind {
	case KindUnresolvable, KindRefused, KindTimeout, KindUnreachable, KindConnection:
	default:
		return err // TLS or SASL: the error says it all
	}
	names := make([]string, 0, 2)
	for _, b := range brokers[:min(len(brokers), 2)] {
		names = append(names, net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))))
	}
	calls := "calls itself " + names[0]
	if len(brokers) > 1 {
		calls = "its brokers call themselves " + strings.Join(names, ", ")
		if len(brokers) > 2 {
			calls += ", …"
		}
	}
	reason := e.msg
	if i := strings.Index(reason, ";"); i > 0 {
		reason = reason[:i]
	}
	return &Error{Kind: KindAdvertised, Addr: "", err: err,
		msg:  fmt.Sprintf("%s answers, but %s: %s", seed, calls, reason),
		hint: "through a port-forward: --broker-map " + sampleMap(brokers)}
}

// sampleMap writes a broker map with the right ids and invented ports.
func sampleMap(brokers []kmsg.MetadataResponseBroker) string {
	var parts []string
	for i, b := range brokers {
		if i == 4 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%d=localhost:%d", b.NodeID, 19091+i))
	}
	return strings.Join(parts, ",")
}

// explain turns the error of a request to one broker into an *Error. Where the
// error leaves open what is wrong, the listener is asked.
func (d *dialer) explain(ctx context.Context, addr string, err error) *Error {
	own := asError(err)
	if own == nil && isTimeout(ctx, err) {
		own = d.lastFailure(addr)
	}
	if own != nil && own.Kind == KindTimeout && d.wasOpen(addr) {
		own = nil // the port opens; a second attempt merely ran out of time
	}
	probing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 4*probeTime)
	defer cancel()
	if own != nil {
		e := *own
		if e.Addr == "" {
			e.Addr = addr // a token or credential, of which the mechanism knows no address
		}
		if e.unclear && !errors.Is(ctx.Err(), context.Canceled) {
			d.notTLS(probing, &e)
		}
		return &e
	}
	e := &Error{Addr: addr, err: err}
	if d.saslError(probing, e, err) {
		return e
	}
	var alert interface {
		error
		Timeout() bool
	}
	text := err.Error()
	switch {
	case d.c.tls != nil && isRemoteAlert(err):
		// In TLS 1.3 the broker judges the client's certificate after the handshake.
		e.Kind, e.msg, e.hint = d.alertText(text)
	case errors.Is(err, context.Canceled) && ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Kind, e.msg = KindCancelled, "cancelled"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &alert) && alert.Timeout(), strings.Contains(text, "invalid large response size"), strings.Contains(text, "correlation"),
		strings.Contains(text, "not enough data"), strings.Contains(text, "negative response size"):
		d.closed(probing, e, err)
	case errors.Is(err, kerr.ClusterAuthorizationFailed), errors.Is(err, kerr.TopicAuthorizationFailed):
		e.Kind, e.msg = KindUnauthorized, "connected, but not allowed to ask for metadata"
	case strings.Contains(text, "broker connection has died") && !d.c.brokers.empty():
		// ApiVersions v5 (KIP-1242) was answered with REBOOTSTRAP_REQUIRED.
		e.Kind, e.msg = KindAdvertised, "another broker, or another cluster, answers at "+d.targetOf(addr)
		e.hint = "--broker-map has ids or ports mixed up"
	default:
		e.Kind, e.msg = KindConnection, bare(err)
	}
	return e
}

// closed explains a connection that opened and then broke before the first
// answer: the settings do not fit the listener, and the listener tells which do.
func (d *dialer) closed(ctx context.Context, e *Error, err error) {
	target := d.targetOf(e.Addr)
	l := d.probe(ctx, target)
	switch {
	case d.misfit(e, l):
	case l.tls && d.c.tls == nil:
		e.Kind, e.msg = KindPlaintextToTLS, "this listener speaks TLS, the connection is plaintext"
		e.hint = l.settings(d.c)
		if !l.kafka {
			e.hint = "-X security.protocol=SSL (or SASL_SSL), or --command-config FILE"
		}
	case l.kafka && l.sasl && d.c.sasl == nil:
		e.Kind, e.msg = KindSASLRequired, "this listener asks for SASL ("+strings.Join(l.mechanisms, ", ")+"), and none is set"
		e.hint = l.settings(d.c)
	case l.kafka && l.noSASL && d.c.sasl != nil:
		e.Kind, e.msg = KindSASLUnexpected, "this listener asks for no user, and "+d.c.Mechanism+" is set"
		e.hint = l.settings(d.c)
	case l.kafka && l.sasl && !slices.Contains(l.mechanisms, d.c.Mechanism):
		d.mechanismMissing(e, l)
	case l.kafka && l.sasl && errors.Is(err, io.EOF):
		// Event Hubs and some proxies close the connection instead of saying no.
		e.Kind, e.msg, e.hint = d.refused("the connection was closed without a word")
	case isTimeout(ctx, err):
		e.Kind, e.msg = KindTimeout, "connects, but does not answer as Kafka does"
		e.hint = "is this the port of a Kafka listener? --timeout 60s waits longer"
	default:
		e.Kind, e.msg = KindConnection, messageClosedAtStart
		e.hint = "is this the port of a Kafka listener? The broker's log says why it closed the connection"
	}
	e.msg += via(e.Addr, target)
}

// targetOf is where addr is dialled, as far as is known without asking.
func (d *dialer) targetOf(addr string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, ok := d.ids[addr]
	if !ok {
		id = -1
	}
	return d.c.brokers.target(addr, id)
}

func isRemoteAlert(err error) bool { return strings.Contains(err.Error(), "remote error: tls:") }

func (d *dialer) alertText(text string) (Kind, string, string) {
	for _, code := range []uint8{40, 42, 43, 44, 45, 46, 48, 70, 112, 116} {
		alert := tls.AlertError(code)
		if strings.HasSuffix(text, "remote error: "+alert.Error()) {
			return d.alert(alert)
		}
	}
	return KindTLS, "the broker ends the TLS connection: " + text[strings.LastIndex(text, "tls: ")+5:], "its log says why"
}
