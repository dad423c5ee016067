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
	"syscall"
	"time"

	"github.com/kgdiag/kgdiag/internal/kconn/fault"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// tlsError tells a failed handshake in one line.
func (d *dialer) tlsError(ctx context.Context, addr, target, serverName string, err error) *fault.Error {
	e := &fault.Error{Addr: addr, Err: err, Kind: fault.TLS}
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &host):
		e.Kind = fault.Hostname
		e.Msg = fmt.Sprintf("the certificate is for %s, not for %s", certNames(host.Certificate), serverName)
		e.Tip = "connect by a name that the certificate has"
		if n := firstName(host.Certificate); n != "" {
			_, port, _ := net.SplitHostPort(addr)
			e.Tip += fmt.Sprintf(" (a port-forward: -b %s --broker-map %s=%s)", net.JoinHostPort(n, port), n, target)
		}
		e.Tip += "\nor do not check the name: -X ssl.endpoint.identification.algorithm="
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		d.dates(e, invalid.Cert)
	case errors.As(err, &unknown):
		e.Kind = fault.UnknownCA
		e.Msg = "the certificate is signed by " + issuer(unknown.Cert, err) + ", which is not trusted here"
		e.Tip = d.trustHint()
	case isRemoteAlert(err):
		e.Kind, e.Msg, e.Tip = d.alertText(err.Error())
	case errors.As(err, &record), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), isTimeout(ctx, err):
		e.Unclear = true
		e.Msg = "the TLS handshake was cut off: " + reason(err)
		e.Tip = "is this the port of a Kafka listener? The broker's log says why it closed the connection"
	case ctx.Err() != nil:
		e.Kind, e.Msg = fault.Cancelled, "cancelled"
	default:
		e.Msg = "TLS: " + strings.TrimPrefix(strings.TrimPrefix(fault.Bare(err), "tls: "), "x509: ")
	}
	e.Msg += via(addr, target)
	return e
}

func (d *dialer) dates(e *fault.Error, cert *x509.Certificate) {
	kind, text := expired(cert, time.Now())
	if kind == "" {
		kind, text = fault.Expired, "is outside its dates"
	}
	e.Kind, e.Msg = kind, fmt.Sprintf("the certificate of %s %s", subject(cert), text)
	e.Tip = "it has to be renewed on the broker; every other client fails alike"
	if kind == fault.NotYetValid {
		e.Tip = "is the clock of this machine right? Else the certificate has to be replaced on the broker"
	}
}

// trustHint says what is trusted now and how to trust more.
func (d *dialer) trustHint() string {
	key := d.c.settings.Higher("ssl.truststore.certificates", "ssl.truststore.location", "ssl.ca.location")
	switch key {
	case "":
		return "the system's CAs are trusted now; name the cluster's: ssl.truststore.location=FILE or ssl.ca.location=FILE"
	case "ssl.truststore.certificates":
		return key + " has to hold the CA that signed it"
	}
	return d.c.settings.At(key).Value + " has to hold the CA that signed it (" + d.c.settings.At(key).Where() + ")"
}

// alert is what the broker said about our side of the handshake.
func (d *dialer) alert(a tls.AlertError) (fault.Kind, string, string) {
	text := strings.TrimPrefix(a.Error(), "tls: ")
	const certHint = "ssl.keystore.location (JKS, PKCS12, PEM), or ssl.certificate.location and ssl.key.location"
	if len(d.c.tls.Certificates) == 0 && (a == alertHandshakeFailure || a == alertBadCertificate || a == alertCertificateRequired) {
		return fault.ClientCert, "the broker asks for a client certificate, and none is set", certHint
	}
	switch a {
	case alertBadCertificate, alertUnsupportedCertificate, alertCertificateRevoked, alertCertificateExpired, alertCertificateUnknown, alertUnknownCA, alertCertificateRequired:
		hint := "the broker has to trust the CA of " + d.ownCertificate()
		if k, s := d.ownDates(); k != "" {
			hint = d.ownCertificate() + " " + s
		}
		return fault.ClientCert, "the broker refuses the client certificate: " + text, hint
	case alertProtocolVersion:
		return fault.TLS, "no version of TLS in common: " + text, "ssl.enabled.protocols=TLSv1.2,TLSv1.3 is spoken unless set otherwise; TLSv1.1,TLSv1 have to be named"
	case alertUnrecognizedName:
		return fault.TLS, "the broker knows no such name (SNI)", "connect by the name that the listener advertises"
	}
	return fault.TLS, "the broker ends the TLS handshake: " + text, "its log says why; ssl.enabled.protocols and ssl.cipher.suites have to overlap"
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

func (d *dialer) ownDates() (fault.Kind, string) {
	if cert := d.ownLeaf(); cert != nil {
		return expired(cert, time.Now())
	}
	return "", ""
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

// expired says what a certificate's dates mean now, or "".
func expired(cert *x509.Certificate, now time.Time) (fault.Kind, string) {
	const day = "2006-01-02 15:04 MST"
	switch {
	case now.After(cert.NotAfter):
		return fault.Expired, "expired on " + cert.NotAfter.UTC().Format(day)
	case now.Before(cert.NotBefore):
		return fault.NotYetValid, "is valid from " + cert.NotBefore.UTC().Format(day) + " on, and here it is " + now.UTC().Format(day)
	}
	return "", ""
}
