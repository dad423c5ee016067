package kconn

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// listener is what was found out about an address by asking it.
type listener struct {
	open       bool     // TCP connects
	tls        bool     // a TLS handshake begins
	kafka      bool     // ApiVersions is answered
	controller bool     // without Metadata: a KRaft controller
	sasl       bool     // SaslHandshake is answered with mechanisms
	noSASL     bool     // SaslHandshake is refused: the listener knows no SASL
	mechanisms []string // enabled ones, sorted
	other      string   // name of another protocol that answered
}

// probeTime bounds each question to a listener: this runs after a failure, and
// the user is waiting for the error.
const probeTime = 2 * time.Second

// probe asks an address what it speaks: Kafka in plaintext, else Kafka within
// TLS (certificates are not checked: nothing secret is sent), and with which SASL
// mechanisms. It sends ApiVersions and SaslHandshake, which need no rights.
func (d *dialer) probe(ctx context.Context, target string) listener {
	var l listener
	conn, err := d.open(ctx, target)
	if err != nil {
		return l
	}
	l.open = true
	defer conn.Close()
	if l.ask(conn) {
		return l
	}
	conn2, err := d.open(ctx, target)
	if err != nil {
		return l
	}
	defer conn2.Close()
	cfg := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10} //nolint:gosec // a question, not a session
	if d.c.tls != nil {
		cfg.Certificates = d.c.tls.Certificates
	}
	cfg.ServerName, _, _ = net.SplitHostPort(target)
	tc := tls.Client(conn2, cfg)
	if err := tc.HandshakeContext(ctx); err != nil {
		l.tls = isRemoteAlert(err)
		if !l.tls && l.other == "" {
			l.other = d.banner(ctx, target)
		}
		return l
	}
	l.tls = true
	l.ask(tc)
	return l
}

// banner asks as a browser would and names the protocol that answers, or "".
func (d *dialer) banner(ctx context.Context, target string) string {
	conn, err := d.open(ctx, target)
	if err != nil {
		return ""
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return ""
	}
	head := make([]byte, 8)
	n, err := io.ReadFull(conn, head)
	if err != nil && n == 0 {
		return ""
	}
	return foreign(head[:n])
}

func (d *dialer) open(ctx context.Context, target string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	conn, err := d.dialTCP(ctx, target)
	if end, ok := ctx.Deadline(); err == nil && ok {
		err = conn.SetDeadline(end)
	}
	return conn, err
}

// ask reports whether Kafka answers on conn, and fills l.
func (l *listener) ask(conn net.Conn) bool {
	versions := kmsg.NewPtrApiVersionsRequest() // v0, which every broker since 0.10 answers
	raw, err := roundTrip(conn, versions, 1)
	var other protocolError
	if errors.As(err, &other) {
		l.other = string(other)
		l.tls = l.tls || other == "TLS"
	}
	if err != nil {
		return false
	}
	resp := kmsg.NewPtrApiVersionsResponse()
	if err := resp.ReadFrom(raw); err != nil {
		return false
	}
	l.kafka = true
	has := func(key int16) bool {
		return slices.ContainsFunc(resp.ApiKeys, func(k kmsg.ApiVersionsResponseApiKey) bool { return k.ApiKey == key })
	}
	l.controller = len(resp.ApiKeys) > 0 && !has(3)
	if !has(17) {
		l.noSASL = true
		return true
	}
	hs := kmsg.NewPtrSASLHandshakeRequest()
	hs.Version = 1
	hs.Mechanism = "?" // no such mechanism: the answer lists those that are enabled
	if raw, err = roundTrip(conn, hs, 2); err != nil {
		return true
	}
	hr := kmsg.NewPtrSASLHandshakeResponse()
	hr.Version = 1
	if err := hr.ReadFrom(raw); err != nil {
		return true
	}
	l.mechanisms = slices.Sorted(slices.Values(hr.SupportedMechanisms))
	l.sasl = len(l.mechanisms) > 0
	l.noSASL = !l.sasl // ILLEGAL_SASL_STATE (34)
	return true
}

// protocolError names another protocol by what it answered.
type protocolError string

func (p protocolError) Error() string { return "speaks " + string(p) }

func roundTrip(conn net.Conn, req kmsg.Request, corr int32) ([]byte, error) {
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID("kgdiag"))
	if _, err := conn.Write(f.AppendRequest(nil, req, corr)); err != nil {
		return nil, err
	}
	head := make([]byte, 8)
	if n, err := io.ReadFull(conn, head); err != nil {
		if p := foreign(head[:n]); p != "" {
			return nil, protocolError(p)
		}
		return nil, err
	}
	size := int32(binary.BigEndian.Uint32(head))
	if p := foreign(head); p != "" || size < 4 || size > 1<<20 || int32(binary.BigEndian.Uint32(head[4:])) != corr {
		return nil, protocolError(cmp.Or(p, "something else"))
	}
	body := make([]byte, size-4)
	_, err := io.ReadFull(conn, body)
	return body, err
}

// foreign recognises the first bytes of other protocols.
func foreign(b []byte) string {
	switch s := string(b); {
	case len(b) >= 2 && b[0] == 0x15 && b[1] == 0x03:
		return "TLS"
	case strings.HasPrefix(s, "HTTP"), strings.HasPrefix(s, "<html"), strings.HasPrefix(s, "<!DOC"):
		return "HTTP"
	case strings.HasPrefix(s, "SSH-"):
		return "SSH"
	case strings.HasPrefix(s, "-ERR"):
		return "Redis"
	case strings.HasPrefix(s, "AMQP"):
		return "AMQP"
	case strings.HasPrefix(s, "220 "), strings.HasPrefix(s, "220-"):
		return "SMTP or FTP"
	}
	return ""
}

// notTLS explains a handshake that the other side did not take part in, if the
// listener tells.
func (d *dialer) notTLS(ctx context.Context, e *fault.Error) {
	target := d.targetOf(e.Addr)
	l := d.probe(ctx, target)
	switch {
	case l.kafka && !l.tls:
		e.Kind, e.Msg = fault.TLSToPlaintext, "this listener speaks plaintext, the connection is TLS"+via(e.Addr, target)
		e.Tip = l.settings(d.c)
	default:
		d.misfit(e, l)
	}
}

// misfit handles what is wrong whatever the security settings are.
func (d *dialer) misfit(e *fault.Error, l listener) bool {
	switch {
	case l.controller:
		e.Kind, e.Msg = fault.Controller, "this is a KRaft controller, which serves no clients"
		e.Tip = "name the listener of a broker, 9092 in most clusters"
	case l.other != "" && l.other != "TLS" && !l.kafka:
		e.Kind, e.Msg = fault.NotKafka, "this port speaks "+l.other+", not Kafka"
		e.Tip = "name the listener of a broker, 9092 in most clusters"
	default:
		return false
	}
	return true
}

// settings are the -X options that fit the listener.
func (l listener) settings(c Config) string {
	proto := "PLAINTEXT"
	if l.tls {
		proto = "SSL"
	}
	if !l.sasl {
		if !l.noSASL {
			return "-X security.protocol=" + proto + " (or SASL_" + strings.TrimPrefix(proto, "SASL_") + "), or --command-config FILE"
		}
		return "-X security.protocol=" + proto + ", or --command-config FILE"
	}
	hint := "-X security.protocol=SASL_" + proto
	if !slices.Contains(l.mechanisms, c.Mechanism) {
		hint += " -X sasl.mechanism=" + l.mechanisms[0]
		if len(l.mechanisms) > 1 {
			hint += fmt.Sprintf(" (or %s)", strings.Join(l.mechanisms[1:], ", "))
		}
	}
	return hint + " with user and password, or --command-config FILE"
}

func reason(err error) string {
	switch {
	case errors.Is(err, io.EOF):
		return "the other side closed the connection"
	case isTimeout(context.Background(), err):
		return "no answer"
	}
	return fault.Bare(err)
}
