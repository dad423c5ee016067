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
	assumed   bool // the session timeout is a default, not read
	rebalance time.Duration
	guessed   bool          // the rebalance timeout is a default, not read
	basis     []string      // what stands in for timeouts that were not read, and where it is from
	least     time.Duration // the shortest session that the broker allows, where the session is a default or not known
	heartbeat time.Duration
	family    inspect.Family // inspect.Unknown where it is not sure enough to rule anything out
}

func (g *group) timeoutsOf(m *membership.Member) timeouts {
	limits := g.limits
	t := timeouts{family: familyOf(m), session: inspect.Or(m.Session, 0), rebalance: inspect.Or(m.Rebalance, 0)}
	if g.ByPolls {
		t.assume(m, g.in.Group, g.in.Configs)
	}
	if t.session == 0 && m.ServerSide {
		t.session, t.assumed = defaultServerSession, true
	}
	if g.ByPolls && (t.session == 0 || t.assumed) {
		t.least = inspect.Or(limits.SessionMin, defaultLeastSession)
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
	// defaultLeastSession is group.min.session.timeout.ms (Kafka 0.9 to 4.3).
	defaultLeastSession = 6 * time.Second
)

// familyOf is the client library, where it is sure enough to rule windows out.
func familyOf(m *membership.Member) inspect.Family {
	if m.Client.Confidence != inspect.High || m.Client.Family == "" {
		return inspect.Unknown
	}
	return m.Client.Family
}
