package judge

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/platform"
)

// swapVerdict tells a static member that restarted from two processes under one id.
type swapVerdict struct {
	conf   inspect.Confidence
	fenced bool
	// KIP-848: a static client that overran says that it goes for a while, just as one
	// that is stopped does, and comes back.
	overran    bool
	mayOverran bool
	why        string // of overran
	stated     bool   // by what the platform says of the process whose place was taken
	process    string // what it says; "" nothing
}

// judgeSwap tells a restarted static member from two processes under one id.
func (g *group) judgeSwap(s *step, r *replacement) swapVerdict {
	v := g.judgeRead(s, r)
	if g.ByPolls {
		v = g.judgePolledSwap(s, r)
	}
	v.hear(g.processOfSwap(s, r), r)
	return v
}

// processOfSwap is what the platform says of the process whose place was taken.
func (g *group) processOfSwap(s *step, r *replacement) platform.Testimony {
	if len(g.in.Processes) == 0 {
		return platform.Testimony{}
	}
	a := platform.Absence{Member: platform.Member{ClientID: r.Old.ClientID, Host: r.Old.Host, InstanceID: r.Old.Instance()},
		From: s.At, To: s.At, Session: inspect.Or(r.Old.Session, 0), Taken: true}
	if ticks := g.commitsOf(r.Held, s.Pos); len(ticks) > 0 {
		a.LastCommit = ticks[len(ticks)-1].at
	}
	return platform.Testify(g.in.Processes, a)
}

// hear takes what the platform says: a process that had ended was restarted, and one that
// ran on while another host took its id shares it.
func (v *swapVerdict) hear(t platform.Testimony, r *replacement) {
	if t.Fate == "" {
		return
	}
	v.process = t.Text
	switch {
	case t.Fate == inspect.FateEnded:
		*v = swapVerdict{conf: inspect.High, stated: true, process: t.Text}
	case r.Old.Host != "" && r.New.Host != r.Old.Host:
		*v = swapVerdict{fenced: true, conf: inspect.High, stated: true, process: t.Text}
	}
}

// judgePolledSwap is what polls show of it: when the old process went is not among that,
// nor, under KIP-848, that it said so.
func (g *group) judgePolledSwap(s *step, r *replacement) swapVerdict {
	v := g.judgeRead(s, r)
	v.conf = inspect.LessSure(v.conf, inspect.Medium)
	v.mayOverran = v.mayOverran || s.ServerSide && r.Old.Host == r.New.Host
	return v
}

func (g *group) judgeRead(s *step, r *replacement) swapVerdict {
	end := s.Pos
	if !r.Old.StaticLeft.IsZero() {
		end = r.Old.StaticLeftPos
	}
	c := g.paceOf(r.Held, end)
	ticks := c.ticks
	moved := r.Old.Host != "" && r.New.Host != r.Old.Host
	if moved && !s.ServerSide {
		return swapVerdict{fenced: true, conf: inspect.Low}
	}
	if s.ServerSide { // a duplicate is refused under KIP-848 and writes nothing
		if moved { // another process for sure
			return swapVerdict{conf: inspect.High}
		}
		return r.absent(s, ticks, c)
	}
	if len(ticks) < leastCommits {
		return swapVerdict{conf: inspect.Medium}
	}
	gap := s.At.Sub(ticks[len(ticks)-1].at)
	switch {
	case gap >= 2*c.most:
		return swapVerdict{conf: inspect.High}
	case gap < leastRestart && !c.timer || g.swappedAgain(s, r):
		// No process starts that quickly, or the two put each other out in turn.
		return swapVerdict{fenced: true, conf: inspect.Medium}
	}
	return swapVerdict{conf: inspect.Low}
}

// absent looks at a static KIP-848 member that said that it goes for a while, and
// came back within its session. Who stops a process and who overruns the poll
// interval says the same; the silence before it tells them apart, and the return:
// a process that lives on has its member id, or is back at once.
func (r *replacement) absent(s *step, ticks []tick, c cadence) swapVerdict {
	left := r.Old.StaticLeft
	if left.IsZero() {
		return swapVerdict{conf: inspect.High}
	}
	away, lives := s.At.Sub(left), r.Old.ID == r.New.ID
	if len(ticks) < leastCommits && !lives {
		return swapVerdict{mayOverran: true, conf: inspect.Medium}
	}
	var gap time.Duration
	if len(ticks) > 0 {
		gap = left.Sub(ticks[len(ticks)-1].at)
	}
	var limit time.Duration
	if r.Old.Rebalance != nil {
		limit = r.Old.Rebalance.Duration()
	}
	switch {
	case lives:
		return swapVerdict{overran: true, conf: inspect.Medium, why: "the process that said that it goes came back under its own member id: it did not stop"}
	case away < atOnce:
		return swapVerdict{overran: true, conf: inspect.Medium, why: "it was back " + dur(away) + " after it said that it goes: no process starts that quickly"}
	case limit > 0 && gap >= limit-100*time.Millisecond && gap <= limit+c.most+slack:
		return swapVerdict{overran: true, conf: inspect.Medium, why: "it said that it goes " + dur(gap) + " after its last commit, that is max.poll.interval.ms " + dur(limit)}
	case limit > 0 && gap >= limit-c.most && c.timer:
		return swapVerdict{mayOverran: true, conf: inspect.Low}
	case !c.timer && !c.polls(familyOf(r.Old)) && !polledSince(ticks, left.Add(-limit), r.Old) && gap <= c.most+300*time.Millisecond:
		return swapVerdict{mayOverran: true, conf: inspect.Low}
	}
	return swapVerdict{conf: inspect.High}
}

// Bounds of telling a static restart from a duplicate.
const (
	// leastRestart is less than any process needs to stop and start again.
	leastRestart = time.Second
	// atOnce is less than any process needs to start and join, even where another one
	// stood ready to take its place.
	atOnce = 200 * time.Millisecond
	// swapAgain is how soon a process that was put out by its twin comes back.
	swapAgain = 2 * time.Minute
)

// swappedAgain reports whether the same instance id changed hands in another record
// close by.
func (g *group) swappedAgain(s *step, r *replacement) bool {
	for _, o := range g.steps {
		if o == s || o.At.Sub(s.At).Abs() > swapAgain {
			continue
		}
		for _, p := range o.replaced {
			if p.New.Instance() == r.New.Instance() {
				return true
			}
		}
	}
	return false
}
