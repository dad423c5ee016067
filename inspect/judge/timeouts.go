package judge

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// timeouts are the member's, 0 where they are not known, its heartbeat interval, and the
// client library that decides what each of them means.
type timeouts struct {
	session   time.Duration
	assumed   bool // the session timeout is the default, not read
	rebalance time.Duration
	heartbeat time.Duration
	family    inspect.Family // inspect.Unknown where it is not sure enough to rule anything out
}

func timeoutsOf(m *membership.Member, limits inspect.Limits) timeouts {
	t := timeouts{family: familyOf(m), session: inspect.Or(m.Session, 0), rebalance: inspect.Or(m.Rebalance, 0)}
	if t.session == 0 && m.ServerSide {
		t.session, t.assumed = defaultServerSession, true
	}
	switch {
	case m.ServerSide:
		t.heartbeat = inspect.Or(limits.Heartbeat, defaultServerHeartbeat)
	case t.session > 0:
		t.heartbeat = min(defaultHeartbeat, t.session/inspect.HeartbeatsPerSession)
	default:
		t.heartbeat = defaultHeartbeat
	}
	return t
}

// leavesItself reports a member whose client leaves the group when its poll loop is too
// slow, and whose session would have ended before the rebalance timeout had it stood
// still as a whole.
func (t *timeouts) leavesItself() bool {
	if !t.family.PollInterval() && t.family != inspect.AIOKafka {
		return false
	}
	return t.session == 0 || t.rebalance == 0 || t.session < t.rebalance
}

// equal: the rebalance timeout is the session timeout. Some libraries send it so, and
// then it is no poll interval; in others both run out together.
func (t *timeouts) equal() bool {
	return t.rebalance > 0 && t.rebalance == t.session
}

// Defaults that stand in where a timeout is on no record: the broker's
// group.consumer.session.timeout.ms and group.consumer.heartbeat.interval.ms
// (Kafka 3.7 to 4.3), and the clients' heartbeat.interval.ms.
const (
	defaultServerSession   = 45 * time.Second
	defaultServerHeartbeat = 5 * time.Second
	defaultHeartbeat       = 3 * time.Second
)

// familyOf is the client library, where it is sure enough to rule windows out.
func familyOf(m *membership.Member) inspect.Family {
	if m.Client.Confidence != inspect.High || m.Client.Family == "" {
		return inspect.Unknown
	}
	return m.Client.Family
}
