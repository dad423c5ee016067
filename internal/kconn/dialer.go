package kconn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	xproxy "golang.org/x/net/proxy"

	"github.com/kgdiag/kgdiag/internal/prose"
)

// dialer opens connections for a client: through the broker map and the proxy,
// within the time for one broker, with TLS to the advertised name. Its errors are
// *Error.
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
	failed map[string]*Error            // last failure by address: a request that ran out of time does not carry it
	look   func(context.Context, *book) // asks for Metadata again, for an address that is not in ids
	busy   bool                         // look is running; it dials too
}

func newBook() *book {
	return &book{ids: make(map[string]int32), failed: make(map[string]*Error), opened: make(map[string]bool)}
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

// dial is the function for kgo.Dialer.
func (d *dialer) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	target := d.target(ctx, addr)
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

func (d *dialer) fail(addr string, e *Error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failed[addr] = e
	return e
}

func (d *dialer) lastFailure(addr string) *Error {
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
	switch d.c.settings.get("broker.address.family") {
	case "v4":
		network = "tcp4"
	case "v6":
		network = "tcp6"
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

// via names the address that was dialled, where it is not the one in the message.
func via(addr, target string) string {
	if addr == target {
		return ""
	}
	return " (dialled at " + target + ")"
}

// dialError tells a failed TCP connection in one line.
func (d *dialer) dialError(ctx context.Context, addr, target string, err error) *Error {
	e := &Error{Addr: addr, err: err}
	suffix := via(addr, target)
	if d.c.proxy != nil {
		e.Kind, e.msg = KindProxy, proxyMessage(d.c.proxy.addr, err)
		e.hint = "proxy.url=socks5://[USER:PASSWORD@]HOST:PORT; without it the brokers are dialled directly"
		return e
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Kind, e.msg = KindUnresolvable, "no such host"
		e.hint = "is the name spelled right, and known to this machine's DNS? Behind a port-forward: --broker-map"
	case errors.As(err, &dns):
		e.Kind, e.msg = KindUnresolvable, "the name server did not answer"
		if !dns.IsTimeout {
			e.msg = "the name could not be looked up: " + dns.Err
		}
		e.hint = "try again, or give an IP address"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Kind, e.msg = KindRefused, "connection refused"
		e.hint = "nothing listens on this port: is the port right, and the broker up?"
	case isTimeout(ctx, err):
		e.Kind, e.msg = KindTimeout, "no answer within "+prose.Exact(d.timeout.Round(time.Millisecond))
		e.hint = "a firewall, a VPN that is off, or an address that is only known inside the cluster's network; --timeout 60s waits longer"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EADDRNOTAVAIL):
		e.Kind, e.msg, e.hint = d.unreachable(ctx, target)
	case ctx.Err() != nil:
		e.Kind, e.msg = KindCancelled, "cancelled"
	case noSuitable(err):
		e.Kind, e.msg = KindUnreachable, "has no address of the family "+d.c.settings.get("broker.address.family")
		e.hint = "broker.address.family=any"
	default:
		e.Kind, e.msg = KindConnection, bare(err)
	}
	e.msg += suffix
	return e
}

// unreachable looks at the addresses of a host to which no route leads: a name
// with IPv6 addresses alone is the usual reason on a machine without IPv6.
func (d *dialer) unreachable(ctx context.Context, target string) (Kind, string, string) {
	host, _, _ := net.SplitHostPort(target)
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	v6 := err == nil && len(ips) > 0
	for _, ip := range ips {
		v6 = v6 && ip.Is6() && !ip.Is4In6()
	}
	if v6 {
		return KindUnreachable, fmt.Sprintf("has IPv6 addresses alone (%s), and no route from here leads to them", ips[0]),
			"run kgdiag on a machine with IPv6, or through a proxy: -X proxy.url=socks5://HOST:PORT"
	}
	return KindUnreachable, "no route to host", "is the VPN on? From inside the cluster's network: kgdiag is one file to copy"
}

func noSuitable(err error) bool {
	var ae *net.AddrError
	return errors.As(err, &ae)
}

func proxyMessage(addr string, err error) string {
	text := bare(err)
	// x/net/proxy: "socks connect tcp PROXY->TARGET: …", the reply in words.
	if i := strings.LastIndex(text, ": "); i >= 0 && strings.HasPrefix(text, "socks connect") {
		text = text[i+2:]
	}
	text = strings.TrimPrefix(text, "unknown error ")
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "the SOCKS5 proxy " + addr + " is not there: connection refused"
	}
	return "the SOCKS5 proxy " + addr + " says: " + text
}

func isTimeout(ctx context.Context, err error) bool {
	var ne net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.As(err, &ne) && ne.Timeout()
}

// bare is the innermost text of a network error, without the addresses that the
// message has already.
func bare(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	return strings.ReplaceAll(err.Error(), "\n", " ")
}

// tlsError tells a failed handshake in one line.
func (d *dialer) tlsError(ctx context.Context, addr, target, serverName string, err error) *Error {
	e := &Error{Addr: addr, err: err, Kind: KindTLS}
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &host):
		e.Kind = KindHostname
		e.msg = fmt.Sprintf("the certificate is for %s, not for %s", certNames(host.Certificate), serverName)
		e.hint = "connect by a name that the certificate has"
		if n := firstName(host.Certificate); n != "" {
			_, port, _ := net.SplitHostPort(addr)
			e.hint += fmt.Sprintf(" (a port-forward: -b %s --broker-map %s=%s)", net.JoinHostPort(n, port), n, target)
		}
		e.hint += "\nor do not check the name: -X ssl.endpoint.identification.algorithm="
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		d.dates(e, invalid.Cert)
	case errors.As(err, &unknown):
		e.Kind = KindUnknownCA
		e.msg = "the certificate is signed by " + issuer(unknown.Cert, err) + ", which is not trusted here"
		e.hint = d.trustHint()
	case isRemoteAlert(err):
		e.Kind, e.msg, e.hint = d.alertText(err.Error())
	case errors.As(err, &record), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), isTimeout(ctx, err):
		e.unclear = true
		e.msg = "the TLS handshake was cut off: " + reason(err)
		e.hint = "is this the port of a Kafka listener? The broker's log says why it closed the connection"
	case ctx.Err() != nil:
		e.Kind, e.msg = KindCancelled, "cancelled"
	default:
		e.msg = "TLS: " + strings.TrimPrefix(strings.TrimPrefix(bare(err), "tls: "), "x509: ")
	}
	e.msg += via(addr, target)
	return e
}

func (d *dialer) dates(e *Error, cert *x509.Certificate) {
	kind, text := expired(cert, time.Now())
	if kind == kindNone {
		kind, text = KindExpired, "is outside its dates"
	}
	e.Kind, e.msg = kind, fmt.Sprintf("the certificate of %s %s", subject(cert), text)
	e.hint = "it has to be renewed on the broker; every other client fails alike"
	if kind == KindNotYetValid {
		e.hint = "is the clock of this machine right? Else the certificate has to be replaced on the broker"
	}
}

// trustHint says what is trusted now and how to trust more.
func (d *dialer) trustHint() string {
	key := d.c.settings.higher("ssl.truststore.certificates", "ssl.truststore.location", "ssl.ca.location")
	switch key {
	case "":
		return "the system's CAs are trusted now; name the cluster's: ssl.truststore.location=FILE or ssl.ca.location=FILE"
	case "ssl.truststore.certificates":
		return key + " has to hold the CA that signed it"
	}
	return d.c.settings[key].value + " has to hold the CA that signed it (" + d.c.settings[key].where() + ")"
}

// alert is what the broker said about our side of the handshake.
func (d *dialer) alert(a tls.AlertError) (Kind, string, string) {
	text := strings.TrimPrefix(a.Error(), "tls: ")
	const certHint = "ssl.keystore.location (JKS, PKCS12, PEM), or ssl.certificate.location and ssl.key.location"
	if len(d.c.tls.Certificates) == 0 && (a == alertHandshakeFailure || a == alertBadCertificate || a == alertCertificateRequired) {
		return KindClientCert, "the broker asks for a client certificate, and none is set", certHint
	}
	switch a {
	case alertBadCertificate, alertUnsupportedCertificate, alertCertificateRevoked, alertCertificateExpired, alertCertificateUnknown, alertUnknownCA, alertCertificateRequired:
		hint := "the broker has to trust the CA of " + d.ownCertificate()
		if k, s := d.ownDates(); k != kindNone {
			hint = d.ownCertificate() + " " + s
		}
		return KindClientCert, "the broker refuses the client certificate: " + text, hint
	case alertProtocolVersion:
		return KindTLS, "no version of TLS in common: " + text, "ssl.enabled.protocols=TLSv1.2,TLSv1.3 is spoken unless set otherwise; TLSv1.1,TLSv1 have to be named"
	case alertUnrecognizedName:
		return KindTLS, "the broker knows no such name (SNI)", "connect by the name that the listener advertises"
	}
	return KindTLS, "the broker ends the TLS handshake: " + text, "its log says why; ssl.enabled.protocols and ssl.cipher.suites have to overlap"
}

// Alerts of TLS (RFC 8446, section 6.2).
const (
	alertHandshakeFailure       tls.AlertError = 40
	alertBadCertificate         tls.AlertError = 42
	alertUnsupportedCertificate tls.AlertError = 43
	alertCertificateRevoked     tls.AlertError = 44
	alertCertificateExpired     tls.AlertError = 45
	alertCertificateUnknown     tls.AlertError = 46
	alertUnknownCA              tls.AlertError = 48
	alertProtocolVersion        tls.AlertError = 70
	alertUnrecognizedName       tls.AlertError = 112
	alertCertificateRequired    tls.AlertError = 116
)

func (d *dialer) ownLeaf() *x509.Certificate {
	if d.c.tls == nil || len(d.c.tls.Certificates) == 0 || len(d.c.tls.Certificates[0].Certificate) == 0 {
		return nil
	}
	cert, err := x509.ParseCertificate(d.c.tls.Certificates[0].Certificate[0])
	if err != nil {
		return nil
	}
	return cert
}

func (d *dialer) ownCertificate() string {
	if cert := d.ownLeaf(); cert != nil {
		return subject(cert)
	}
	return "the client certificate"
}

func (d *dialer) ownDates() (Kind, string) {
	if cert := d.ownLeaf(); cert != nil {
		return expired(cert, time.Now())
	}
	return kindNone, ""
}

func subject(cert *x509.Certificate) string {
	if s := cert.Subject.String(); s != "" {
		return s
	}
	return certNames(cert)
}

// issuer names who signed a certificate that nobody trusted vouches for: the end of
// the chain that the broker sent, if it sent one.
func issuer(cert *x509.Certificate, err error) string {
	var v *tls.CertificateVerificationError
	leaf := cert
	if errors.As(err, &v) && len(v.UnverifiedCertificates) > 0 {
		leaf = v.UnverifiedCertificates[0]
		cert = v.UnverifiedCertificates[len(v.UnverifiedCertificates)-1]
	}
	switch {
	case cert == nil:
		return "somebody"
	case cert.Issuer.String() == "":
		return "an authority without a name"
	case cert == leaf && cert.Issuer.String() == cert.Subject.String():
		return "itself (" + subject(cert) + ")"
	}
	return cert.Issuer.String()
}

func certNames(cert *x509.Certificate) string {
	var names []string
	names = append(names, cert.DNSNames...)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no host (" + cert.Subject.String() + ")"
	}
	return prose.Few(names, 4)
}

func firstName(cert *x509.Certificate) string {
	for _, n := range cert.DNSNames {
		if !strings.Contains(n, "*") {
			return n
		}
	}
	return ""
}
