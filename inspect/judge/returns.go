package judge

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect/membership"
)

// comeback is the return of a departed member.
type comeback struct {
	step      *step
	m         *membership.Member
	ambiguous bool // several members share the client id and host
	newHost   bool
}

// findReturns looks for the return of everybody who went.
func (g *group) findReturns() {
	for _, s := range g.steps {
		for _, d := range s.left {
			if d.ret = g.comeback(d); d.ret != nil {
				d.ret.step.back[d.ret.m.ID] = d
			}
			if s.ServerSide {
				d.early = g.earlyReturn(d)
			}
		}
	}
}

// comeback is the first later join of the same member, instance, or client.
func (g *group) comeback(d *departure) *comeback {
	if d.Swap != nil {
		return &comeback{step: d.step, m: d.Swap, ambiguous: d.shared()}
	}
	for _, s := range g.steps[d.step.index+1:] {
		for _, r := range s.replaced {
			if d.Member.Static() && r.New.Instance() == d.Member.Instance() {
				return &comeback{step: s, m: r.New}
			}
		}
		for _, m := range s.Joined {
			switch {
			case m.ID == d.Member.ID:
				return &comeback{step: s, m: m}
			case d.Member.Static() && m.Instance() == d.Member.Instance():
				return &comeback{step: s, m: m}
			}
		}
		if c := g.byClient(d, s); c != nil {
			return c
		}
	}
	return nil
}

// byClient matches a return by client id and host, or by a client id that one
// member alone has, on a new host.
func (g *group) byClient(d *departure, s *step) *comeback {
	if d.Member.Static() || d.Member.ClientID == "" {
		return nil
	}
	for _, m := range s.Joined {
		if m.Static() || m.ClientID != d.Member.ClientID || g.returnsByID(m) {
			continue
		}
		amb := d.shared()
		if m.Host == d.Member.Host {
			return &comeback{step: s, m: m, ambiguous: amb}
		}
		if !amb {
			return &comeback{step: s, m: m, newHost: true}
		}
	}
	return nil
}

// livesOn reports a member that came back as the client that it was: under KIP-848 with its
// member id, in a classic group with the generation that it was last part of.
func (d *departure) livesOn() bool {
	switch {
	case d.ret == nil:
		return false
	case d.step.ServerSide:
		return d.ret.m.ID == d.Member.ID
	}
	r, last := d.ret.m.Recalled, d.step.PreviousGeneration
	return r != nil && last != nil && *r >= 0 && *r <= *last && !d.ret.ambiguous && !d.ret.newHost
}

// isNew reports a classic member that came back without a memory of the group, though its
// assignor keeps one: another process.
func (d *departure) isNew() bool {
	return !d.step.ServerSide && d.ret != nil && d.ret.m.Recalled != nil && *d.ret.m.Recalled < 0
}

// returnsByID reports a KIP-848 member that is itself a return under its old id.
func (g *group) returnsByID(m *membership.Member) bool {
	if !m.ServerSide {
		return false
	}
	list := g.leaves[m.ID]
	return len(list) > 0 && list[0].Before(m.Since)
}

// alike is how many members went by this client id at the time.
func (d *departure) alike() int {
	n := 0
	for _, m := range d.step.Before {
		if m.ClientID == d.Member.ClientID {
			n++
		}
	}
	return n
}

// shared reports whether several members went by this client id at the time, so
// that a return cannot be told to be this one's.
func (d *departure) shared() bool { return !d.Member.Static() && d.alike() > 1 }

// earlyReturn: under KIP-848 a restarted process joins under a new id while the
// broker still waits for the old one.
func (g *group) earlyReturn(d *departure) *comeback {
	if d.shared() && d.alike() != 2 {
		return nil // but where the only other one is the one that came later
	}
	var early *comeback
	for _, s := range g.steps {
		if s == d.step || s.At.After(d.step.At) {
			break
		}
		for _, m := range s.Joined {
			if m.ID != d.Member.ID && membership.SameClient(d.Member, m) && d.step.After[m.ID] != nil && s.Before[d.Member.ID] != nil {
				last := g.lastCommit(d)
				if last.IsZero() || s.At.After(last) {
					early = &comeback{step: s, m: m}
				}
			}
		}
	}
	return early
}

func (g *group) lastCommit(d *departure) time.Time {
	ticks := g.commitsOf(d.Held, d.Pos)
	if len(ticks) == 0 {
		return time.Time{}
	}
	return ticks[len(ticks)-1].at
}
