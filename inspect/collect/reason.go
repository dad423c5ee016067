package collect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// subject names the broker for a sentence.
func (e *BrokerError) subject() string {
	switch {
	case e.Broker < 0:
		return "bootstrap broker"
	case e.Addr == "":
		return fmt.Sprintf("broker %d", e.Broker)
	}
	return fmt.Sprintf("broker %d (%s)", e.Broker, e.Addr)
}

// brokerTrouble turns an error of the client into the end of a sentence that
// begins with the broker.
func brokerTrouble(err error, limit time.Duration) string {
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "did not answer within " + prose.Exact(limit)
	case unsupported(err):
		return "does not offer this request"
	case errors.As(err, &op) && op.Op == "dial" && errors.Is(err, syscall.ECONNREFUSED):
		return "refuses connections"
	}
	return "did not answer: " + err.Error()
}

// unsupported reports whether the broker, or the set of requests that kgdiag's
// client may send, lacks the request. The client has no exported value for it.
func unsupported(err error) bool {
	if errors.Is(err, kerr.UnsupportedVersion) {
		return true
	}
	var be *BrokerError
	if errors.As(err, &be) {
		err = be.Err
	}
	s := err.Error()
	return strings.Contains(s, "broker is too old") || strings.Contains(s, "request key is unknown")
}

// need says what a request needs, for the Gap of its failure (KafkaApis.scala and
// ConfigHelper.scala of Kafka 4.1; facts B3).
type need struct {
	fact    inspect.Fact
	what    string // the thing that was not read, in a reader's words
	acl     string // the ACL
	version string // the Kafka release that offers the request; "" all
}

// gap explains err as a Gap of group ("" for all).
func (n need) gap(group string, err error) inspect.Gap {
	why, needs := explain(err, n)
	return inspect.Gap{Group: group, Fact: n.fact, What: n.what, Why: why, Needs: needs}
}

// explain puts err into a reader's words, with what would help.
func explain(err error, n need) (why, needs string) {
	var ke *kerr.Error
	switch {
	case denied(err):
		return "not authorised (" + codeName(err) + ")", n.acl
	case errors.Is(err, errHidden):
		return err.Error(), n.acl
	case unsupported(err):
		needs = ""
		if n.version != "" {
			needs = "Kafka " + n.version
		}
		var be *BrokerError
		if errors.As(err, &be) {
			return be.subject() + " does not offer the request", needs
		}
		return "the broker does not offer the request", needs
	case errors.Is(err, context.Canceled):
		return "cancelled", ""
	case errors.Is(err, context.DeadlineExceeded) && !isBroker(err):
		return "the time that --timeout allows was over", ""
	case errors.As(err, &ke):
		return kafkaError(err), ""
	}
	return err.Error(), ""
}

// isBroker reports whether err is about one broker.
func isBroker(err error) bool {
	var be *BrokerError
	return errors.As(err, &be)
}

// denied reports whether err is one of Kafka's authorisation errors.
func denied(err error) bool {
	for _, e := range []error{kerr.GroupAuthorizationFailed, kerr.TopicAuthorizationFailed,
		kerr.ClusterAuthorizationFailed, kerr.TransactionalIDAuthorizationFailed} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// transient reports whether a coordinator that answers err may answer better soon.
func transient(err error) bool {
	return errors.Is(err, kerr.NotCoordinator) || errors.Is(err, kerr.CoordinatorNotAvailable) ||
		errors.Is(err, kerr.CoordinatorLoadInProgress)
}

// codeName is Kafka's name for the code of err.
func codeName(err error) string {
	var ke *kerr.Error
	if errors.As(err, &ke) {
		return ke.Message
	}
	return err.Error()
}

// kafkaError is the broker's own message where it sent one, else Kafka's name and
// sentence for the code.
func kafkaError(err error) string {
	var said *brokerSaid
	if errors.As(err, &said) {
		return said.Error()
	}
	var ke *kerr.Error
	if errors.As(err, &ke) {
		return ke.Message
	}
	return err.Error()
}

// brokerSaid is an error code with the broker's own message.
type brokerSaid struct {
	code error
	text string
}

// Error is the name of the code, then what the broker said.
func (e *brokerSaid) Error() string {
	var ke *kerr.Error
	if errors.As(e.code, &ke) {
		return ke.Message + ": " + e.text
	}
	return e.text
}

// Unwrap is the code.
func (e *brokerSaid) Unwrap() error { return e.code }

// answerError is the error that a response carries: nil, a *kerr.Error, or that
// with the broker's message.
func answerError(code int16, message *string) error {
	err := kerr.ErrorForCode(code)
	if err == nil {
		return nil
	}
	if message != nil && *message != "" {
		return &brokerSaid{code: err, text: *message}
	}
	return err
}
