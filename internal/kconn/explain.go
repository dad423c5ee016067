package kconn

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// probing is the time for asking a listener after a failure: what is left of the whole
// run, and where nothing is, enough for one that answers at once.
func (d *dialer) probing(ctx context.Context) (context.Context, context.CancelFunc) {
	allowed := 4 * probeTime
	if end, ok := ctx.Deadline(); ok {
		allowed = min(allowed, max(time.Until(end), d.c.timeout/20))
	}
	return context.WithTimeout(context.WithoutCancel(ctx), allowed)
}

// explain turns the error of a request to one broker into an *fault.Error. Where the
// error leaves open what is wrong, the listener is asked.
func (d *dialer) explain(ctx context.Context, addr string, err error) *fault.Error {
	own := fault.As(err)
	if own == nil && isTimeout(ctx, err) {
		own = d.lastFailure(addr)
	}
	if own != nil && own.Kind == fault.Timeout && d.wasOpen(addr) {
		own = nil // the port opens; a second attempt merely ran out of time
	}
	probing, cancel := d.probing(ctx)
	defer cancel()
	if own != nil {
		e := *own
		if e.Addr == "" {
			e.Addr = addr // a token or credential, of which the mechanism knows no address
		}
		if e.Unclear && !errors.Is(ctx.Err(), context.Canceled) {
			d.notTLS(probing, &e)
		}
		return &e
	}
	e := &fault.Error{Addr: addr, Err: err}
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
		e.Kind, e.Msg, e.Tip = d.alertText(text)
	case errors.Is(err, context.Canceled) && ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Kind, e.Msg = fault.Cancelled, "cancelled"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &alert) && alert.Timeout(), strings.Contains(text, "invalid large response size"), strings.Contains(text, "correlation"),
		strings.Contains(text, "not enough data"), strings.Contains(text, "negative response size"):
		d.closed(probing, e, err)
	case errors.Is(err, kerr.ClusterAuthorizationFailed), errors.Is(err, kerr.TopicAuthorizationFailed):
		e.Kind, e.Msg = fault.Unauthorized, "connected, but not allowed to ask for metadata"
	case strings.Contains(text, "broker connection has died") && !d.c.brokers.empty():
		// ApiVersions v5 (KIP-1242) was answered with REBOOTSTRAP_REQUIRED.
		e.Kind, e.Msg = fault.Advertised, "another broker, or another cluster, answers at "+d.targetOf(addr)
		e.Tip = "--broker-map has ids or ports mixed up"
	default:
		e.Kind, e.Msg = fault.Connection, fault.Bare(err)
	}
	return e
}

// closed explains a connection that opened and then broke before the first
// answer: the settings do not fit the listener, and the listener tells which do.
func (d *dialer) closed(ctx context.Context, e *fault.Error, err error) {
	target := d.targetOf(e.Addr)
	l := d.probe(ctx, target)
	switch {
	case d.misfit(e, l):
	case l.tls && d.c.tls == nil:
		e.Kind, e.Msg = fault.PlaintextToTLS, "this listener speaks TLS, the connection is plaintext"
		e.Tip = l.settings(d.c)
		if !l.kafka {
			e.Tip = "-X security.protocol=SSL (or SASL_SSL), or --command-config FILE"
		}
	case l.kafka && l.sasl && d.c.login.Mechanisms == nil:
		e.Kind, e.Msg = fault.SASLRequired, "this listener asks for SASL ("+strings.Join(l.mechanisms, ", ")+"), and none is set"
		e.Tip = l.settings(d.c)
	case l.kafka && l.noSASL && d.c.login.Mechanisms != nil:
		e.Kind, e.Msg = fault.SASLUnexpected, "this listener asks for no user, and "+d.c.Mechanism+" is set"
		e.Tip = l.settings(d.c)
	case l.kafka && l.sasl && !slices.Contains(l.mechanisms, d.c.Mechanism):
		d.mechanismMissing(e, l)
	case l.kafka && l.sasl && errors.Is(err, io.EOF):
		// Event Hubs and some proxies close the connection instead of saying no.
		e.Kind, e.Msg, e.Tip = d.refused("the connection was closed without a word")
	case isTimeout(ctx, err):
		e.Kind, e.Msg = fault.Timeout, "connects, but does not answer as Kafka does"
		e.Tip = "is this the port of a Kafka listener? --timeout 60s waits longer"
	default:
		e.Kind, e.Msg = fault.Connection, "the connection was closed before an answer"
		e.Tip = "is this the port of a Kafka listener? The broker's log says why it closed the connection"
	}
	e.Msg += via(e.Addr, target)
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

func (d *dialer) alertText(text string) (fault.Kind, string, string) {
	for _, code := range []uint8{40, 42, 43, 44, 45, 46, 48, 70, 112, 116} {
		alert := tls.AlertError(code)
		if strings.HasSuffix(text, "remote error: "+alert.Error()) {
			return d.alert(alert)
		}
	}
	return fault.TLS, "the broker ends the TLS connection: " + text[strings.LastIndex(text, "tls: ")+5:], "its log says why"
}
