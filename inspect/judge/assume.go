package judge

import (
	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/assume"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// assume fills in timeouts that were not read, and says which and from where. A default is
// kept apart from what somebody set.
func (t *timeouts) assume(m *membership.Member, group string, configs []inspect.ClientConfig) {
	who := assume.Member{Group: group, ClientID: m.ClientID, Family: m.Client.Family, ServerSide: m.ServerSide}
	if t.session == 0 {
		v := assume.Session(who, configs)
		t.session, t.assumed = v.Value.Duration(), v.Default
		t.note(v)
	}
	if t.rebalance == 0 && (t.family.PollInterval() || t.family == inspect.Unknown) {
		v := assume.PollInterval(who, configs)
		t.rebalance, t.guessed = v.Value.Duration(), v.Default
		t.note(v)
	}
}

func (t *timeouts) note(v assume.Value) {
	if v.Value > 0 {
		t.basis = append(t.basis, v.String())
	}
}

// byDefault reports a cause whose timeout is a default that nobody read: it rules nothing
// out.
func (t *timeouts) byDefault(c inspect.Cause) bool {
	return t.assumed && c == inspect.SessionExpired || t.guessed && c == inspect.PollIntervalExceeded
}

// sessionMayHaveEnded reports a silence in which the shortest session that the broker
// allows can have ended, where nobody told how long the member's is.
func (e *evidence) sessionMayHaveEnded() bool { return e.least > 0 && e.gapHi >= e.least-slack }

// measured reports whether there are commits enough for silence to mean something, up to
// the departure.
func (e *evidence) measured() bool { return e.silent && !e.unseen && len(e.blind) == 0 }

// mayHaveIdled reports a silence of commits that polls saw which means nothing unless
// records waited, and nothing shows that they did.
func (e *evidence) mayHaveIdled(v *verdict) bool {
	return e.cad.grain > 0 && e.waiting != 1 && (v.cause == inspect.SessionExpired || v.cause == inspect.PollIntervalExceeded)
}
