package fault

import (
	"errors"
	"fmt"
	"net"
	"strings"
)

// Kind names a way of failing to connect. The names are stable: check prints
// them in its JSON.
type Kind string

// The kinds of errors that this package returns.
const (
	Usage          Kind = "usage"              // a flag, key or file is wrong; nothing was dialled
	NoCluster      Kind = "no_cluster"         // nothing names a cluster; a usage error too
	Unresolvable   Kind = "unresolvable"       // the name has no address
	Refused        Kind = "refused"            // nothing listens there
	Timeout        Kind = "timeout"            // no answer in time
	Unreachable    Kind = "unreachable"        // no route
	TLSToPlaintext Kind = "tls_to_plaintext"   // the listener does not speak TLS
	PlaintextToTLS Kind = "plaintext_to_tls"   // the listener speaks TLS
	UnknownCA      Kind = "unknown_ca"         // nobody trusted signed the broker's certificate
	Hostname       Kind = "hostname"           // the certificate is for other names
	Expired        Kind = "expired"            // the broker's certificate has expired
	NotYetValid    Kind = "not_yet_valid"      // the broker's certificate begins in the future
	ClientCert     Kind = "client_certificate" // the broker wants a client certificate, or another one
	TLS            Kind = "tls"                // any other failure of the handshake
	Mechanism      Kind = "mechanism"          // the listener does not offer the SASL mechanism
	Credentials    Kind = "credentials"        // user, password or token refused
	Token          Kind = "token"              // no usable OAuth token could be had
	SASLRequired   Kind = "sasl_required"      // the listener asks for SASL and none is set
	SASLUnexpected Kind = "sasl_unexpected"    // the listener knows no SASL
	NotKafka       Kind = "not_kafka"          // another protocol answers there
	Controller     Kind = "controller"         // a KRaft controller, which serves no clients
	Advertised     Kind = "advertised"         // the bootstrap address works, the advertised ones do not
	Proxy          Kind = "proxy"              // the SOCKS5 proxy
	Unauthorized   Kind = "unauthorized"       // connected, and not even Metadata is allowed
	Connection     Kind = "connection"         // connected, then cut
	BrokerTooOld   Kind = "broker_too_old"     // before Kafka 0.10
	Cancelled      Kind = "cancelled"          // the caller gave up
)

// Error is a failed attempt to find out how to connect, or to connect. Its text
// is one line; Hint says what to do about it.
type Error struct {
	Kind Kind
	Addr string // host:port it is about; "" for usage errors
	Msg  string // what is wrong, in one line
	Tip  string // what the user can do, in one or two lines, or ""
	Err  error  // of the library or the operating system beneath; nil for none

	Unclear bool // asking the listener may tell more
}

// Error is the address, where there is one, and what is wrong with it.
func (e *Error) Error() string {
	if e.Addr != "" {
		return e.Addr + ": " + e.Msg
	}
	return e.Msg
}

// Hint is what the user can do, in one or two lines, or "".
func (e *Error) Hint() string { return e.Tip }

// Usage reports whether the command line, a variable or a file has to be
// corrected (exit code 2), as opposed to a cluster that could not be reached (3).
func (e *Error) Usage() bool { return e.Kind == Usage || e.Kind == NoCluster }

// Unwrap is the error of the library or the operating system beneath.
func (e *Error) Unwrap() error { return e.Err }

// Usagef is an error of Kind Usage; what its format wraps is its Err.
func Usagef(hint, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: Usage, Msg: err.Error(), Tip: hint, Err: errors.Unwrap(err)}
}

// As finds the *Error that a client library has wrapped, or nil.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// Bare is the innermost text of a network error in one line, without the addresses
// that a message has already.
func Bare(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	return strings.ReplaceAll(err.Error(), "\n", " ")
}
