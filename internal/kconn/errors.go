package kconn

import (
	"errors"
	"fmt"
)

// Kind names a way of failing to connect. The names are stable: check prints
// them in its JSON.
type Kind string

// The kinds of errors that this package returns.
const (
	KindUsage            Kind = "usage"              // a flag, key or file is wrong; nothing was dialled
	KindNoCluster        Kind = "no_cluster"         // nothing names a cluster; a usage error too
	KindUnresolvable     Kind = "unresolvable"       // the name has no address
	KindRefused          Kind = "refused"            // nothing listens there
	KindTimeout          Kind = "timeout"            // no answer in time
	KindUnreachable      Kind = "unreachable"        // no route
	KindTLSToPlaintext   Kind = "tls_to_plaintext"   // the listener does not speak TLS
	KindPlaintextToTLS   Kind = "plaintext_to_tls"   // the listener speaks TLS
	KindUnknownCA        Kind = "unknown_ca"         // nobody trusted signed the broker's certificate
	KindHostname         Kind = "hostname"           // the certificate is for other names
	KindExpired          Kind = "expired"            // the broker's certificate has expired
	KindNotYetValid      Kind = "not_yet_valid"      // the broker's certificate begins in the future
	KindClientCert       Kind = "client_certificate" // the broker wants a client certificate, or another one
	KindTLS              Kind = "tls"                // any other failure of the handshake
	KindMechanism        Kind = "mechanism"          // the listener does not offer the SASL mechanism
	KindCredentials      Kind = "credentials"        // user, password or token refused
	KindToken            Kind = "token"              // no usable OAuth token could be had
	KindSASLRequired     Kind = "sasl_required"      // the listener asks for SASL and none is set
	KindSASLUnexpected   Kind = "sasl_unexpected"    // the listener knows no SASL
	KindNotKafka         Kind = "not_kafka"          // another protocol answers there
	KindController       Kind = "controller"         // a KRaft controller, which serves no clients
	KindAdvertised       Kind = "advertised"         // the bootstrap address works, the advertised ones do not
	KindProxy            Kind = "proxy"              // the SOCKS5 proxy
	KindUnauthorized     Kind = "unauthorized"       // connected, and not even Metadata is allowed
	KindConnection       Kind = "connection"         // connected, then cut
	KindBrokerTooOld     Kind = "broker_too_old"     // before Kafka 0.10
	KindCancelled        Kind = "cancelled"          // the caller gave up
	kindNone             Kind = ""
	messageClosedAtStart      = "the connection was closed before an answer"
)

// Error is a failed attempt to find out how to connect, or to connect. Its text
// is one line; Hint says what to do about it.
type Error struct {
	Kind Kind
	Addr string // host:port it is about; "" for usage errors
	msg  string
	hint string
	err  error

	unclear bool // asking the listener may tell more
}

// Error is the address, where there is one, and what is wrong with it.
func (e *Error) Error() string {
	if e.Addr != "" {
		return e.Addr + ": " + e.msg
	}
	return e.msg
}

// Hint is what the user can do, in one or two lines, or "".
func (e *Error) Hint() string { return e.hint }

// Usage reports whether the command line, a variable or a file has to be
// corrected (exit code 2), as opposed to a cluster that could not be reached (3).
func (e *Error) Usage() bool { return e.Kind == KindUsage || e.Kind == KindNoCluster }

// Unwrap is the error of the library or the operating system beneath.
func (e *Error) Unwrap() error { return e.err }

func usagef(hint, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: KindUsage, msg: err.Error(), hint: hint, err: errors.Unwrap(err)}
}

// asError finds the *Error that a client library has wrapped.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
