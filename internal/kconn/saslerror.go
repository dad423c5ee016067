package kconn

import (
	"context"
	"errors"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kgdiag/kgdiag/internal/kconn/credentials"
	"github.com/kgdiag/kgdiag/internal/kconn/fault"
)

// saslError explains what a broker said to our authentication.
func (d *dialer) saslError(ctx context.Context, e *fault.Error, err error) bool {
	switch {
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		d.mechanismMissing(e, d.probe(ctx, d.targetOf(e.Addr)))
	case errors.Is(err, kerr.IllegalSaslState):
		e.Kind, e.Msg = fault.SASLUnexpected, "this listener asks for no user, and "+d.c.Mechanism+" is set"
		e.Tip = "-X security.protocol=" + strings.Replace(strings.TrimPrefix(d.c.Protocol, "SASL_"), "SASL_", "", 1)
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		e.Kind, e.Msg, e.Tip = d.refused(brokerMessage(err))
	default:
		return false
	}
	return true
}

// brokerMessage is what the broker said, without the name and the description of
// the error code that the client puts before it.
func brokerMessage(err error) string {
	text := err.Error()
	for _, prefix := range []string{kerr.SaslAuthenticationFailed.Error(), kerr.SaslAuthenticationFailed.Message, kerr.SaslAuthenticationFailed.Description} {
		if i := strings.Index(text, prefix); i >= 0 {
			text = text[i+len(prefix):]
		}
	}
	return strings.TrimSpace(strings.TrimLeft(text, ":. "))
}

func (d *dialer) mechanismMissing(e *fault.Error, l listener) {
	e.Kind, e.Msg = fault.Mechanism, "the listener does not offer "+d.c.Mechanism
	if len(l.mechanisms) > 0 {
		e.Msg += ", but " + strings.Join(l.mechanisms, ", ")
		e.Tip = "-X sasl.mechanism=" + l.mechanisms[0]
	}
}

// refused is a broker's no to user and password, or token; detail is what it said.
func (d *dialer) refused(detail string) (fault.Kind, string, string) {
	msg := "authentication of " + d.c.Mechanism
	if d.c.User != "" {
		msg += " user " + d.c.User
	}
	msg += " failed"
	if detail != "" && len(detail) < 300 {
		msg += ": " + strings.TrimSuffix(detail, ".")
	}
	switch d.c.Mechanism {
	case credentials.Plain, credentials.Scram256, credentials.Scram512:
		hint := "wrong user or password (" + d.passwordOrigin() + ")"
		if d.c.Mechanism != credentials.Plain {
			hint += "; SCRAM-SHA-256 and SCRAM-SHA-512 passwords are set separately (kafka-configs --describe --entity-type users)"
		}
		return fault.Credentials, msg, hint
	case credentials.GSSAPI:
		return fault.Credentials, msg, "the broker's own principal has to be SERVICE/HOST with the host name that is dialled, and the clocks may differ by five minutes; its log says more"
	}
	return fault.Credentials, msg, "the token is expired, or not for this cluster; the broker's log says which"
}

// passwordOrigin names the place of the password that was used, not the password.
func (d *dialer) passwordOrigin() string {
	if k := d.c.settings.Higher("sasl.jaas.config", "sasl.password"); k != "" {
		return d.c.settings.At(k).Where()
	}
	return "typed in"
}
