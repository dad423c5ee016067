package judge

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// deploy is a rolling restart that a step is part of.
type deploy struct {
	replaced, of int
	conf         inspect.Confidence
}

// set names a rebalance after the deploy.
func (d *deploy) set(out *inspect.Rebalance) {
	if out.Cause == inspect.UnknownCause {
		out.Rivals = []inspect.Rival{}
	}
	out.Cause, out.Confidence, out.Basis = inspect.RollingRestart, d.conf, inspect.Inferred
	out.Evidence = append([]string{itoa(int32(d.replaced)) + " of " + itoa(int32(d.of)) + " members were replaced one after another"}, out.Evidence...)
}

// Bounds of a rolling restart.
const (
	// rollGap is the longest pause between two members of one rolling restart.
	rollGap = 10 * time.Minute
	// rollLeast is how many different members must be replaced.
	rollLeast = 2
	// mostDeploys is how many deploys in rollGap before and after are still taken for
	// deploys (policy).
	mostDeploys = 3
)

// deploys finds runs in which several members are replaced one after another,
// each once, and says of which deploy a step is a part. Where the same members go again
// and again it is none; stuck are the records at which they did.
func (g *group) deploys(stuck map[*departure][]string) map[*step]*deploy {
	out := map[*step]*deploy{}
	roots := g.roots()
	for _, chain := range g.chains(roots) {
		if g.churns(chain, roots, stuck) {
			continue
		}
		for _, r := range chain {
			r.mark(out)
		}
	}
	return out
}

// chains are the runs of the group, those that follow one another without a rest
// together.
func (g *group) chains(roots map[string]string) [][]roll {
	var out [][]roll
	var last *step // of the newest run; nil after a rest
	for _, s := range g.steps {
		gone := g.replacedLanes(s)
		if gone == nil {
			last = nil
			continue
		}
		for i, l := range gone {
			if r, ok := roots[l]; ok {
				gone[i] = r
			}
		}
		if last == nil || s.At.Sub(last.At) > rollGap {
			out = append(out, []roll{{lanes: map[string]bool{}}})
		}
		chain := &out[len(out)-1]
		if run := (*chain)[len(*chain)-1]; slices.ContainsFunc(gone, func(l string) bool { return run.lanes[l] }) {
			*chain = append(*chain, roll{lanes: map[string]bool{}})
		}
		(*chain)[len(*chain)-1].add(s, gone)
		last = s
	}
	return out
}

// add appends a step in which some members were replaced.
func (r *roll) add(s *step, gone []string) {
	r.steps = append(r.steps, s)
	for _, l := range gone {
		r.lanes[l] = true
	}
}

// mark says of which deploy the steps of a run are a part, if it is one.
func (r *roll) mark(out map[*step]*deploy) {
	found := r.deploy()
	if found == nil {
		return
	}
	for i, s := range r.steps {
		if i > 0 || len(s.left)+len(s.replaced) > 0 {
			out[s] = found
		}
	}
}

// roll is a run of rebalances in which each member was replaced at most once.
type roll struct {
	steps []*step
	lanes map[string]bool
}

// roots maps the member id of each process that came in another's place to the id
// of the first of them, so that a member that goes a second time is known again.
func (g *group) roots() map[string]string {
	out := map[string]string{}
	for _, s := range g.steps {
		for _, d := range s.left {
			if d.ret == nil || d.ret.m.ID == d.Member.ID {
				continue
			}
			root := d.Member.ID
			if r, ok := out[root]; ok {
				root = r
			}
			out[d.ret.m.ID] = root
		}
	}
	return out
}

// churns reports whether runs that follow one another are no deploys: a member went
// twice without closing, or went three times around then and more often than the
// others or without closing, or at the same record as before, or too often.
func (g *group) churns(chain []roll, roots map[string]string, stuck map[*departure][]string) bool {
	lanes, clean, twice := map[string]int{}, true, false
	for _, r := range chain {
		for l := range r.lanes {
			lanes[l]++
			twice = twice || lanes[l] > 1
		}
		for _, d := range r.departures() {
			clean = clean && d.v.cause == inspect.MemberLeft
			if len(stuck[d]) > 0 {
				return true
			}
		}
	}
	last := chain[len(chain)-1].steps
	around := g.goings(roots, chain[0].steps[0].At.Add(-rollGap), last[len(last)-1].At.Add(rollGap))
	most, least := 0, 0
	for l := range lanes {
		n := max(1, around[l])
		most = max(most, n)
		if least == 0 || n < least {
			least = n
		}
	}
	return twice && !clean || most >= 3 && (!clean || most >= 2*least) || most > mostDeploys
}

// departures are all in a run.
func (r *roll) departures() []*departure {
	var out []*departure
	for _, s := range r.steps {
		out = append(out, s.left...)
	}
	return out
}

// goings counts how often each member went between two moments, under the id of its
// first process.
func (g *group) goings(roots map[string]string, from, to time.Time) map[string]int {
	out := map[string]int{}
	for _, s := range g.steps {
		if s.At.Before(from) || s.At.After(to) {
			continue
		}
		for _, d := range s.left {
			id := d.Member.ID
			if r, ok := roots[id]; ok {
				id = r
			}
			out[id]++
		}
	}
	return out
}

// replacedLanes are the members that went in a step and came back or were
// replaced; empty for the step in which they come back, nil where the step is no
// part of a deploy.
func (g *group) replacedLanes(s *step) []string {
	together := len(s.left) > 1 && 2*len(s.left) > len(s.Before) // a deploy takes few at a time
	nothing := len(s.left)+len(s.replaced)+len(s.Joined) == 0
	if s.Deleted || s.Base || s.Migrated || together || nothing {
		return nil
	}
	gone := []string{}
	for _, sw := range s.replaced {
		if sw.v.fenced && sw.v.conf != inspect.Low || sw.v.overran {
			return nil
		}
		gone = append(gone, sw.New.Instance())
	}
	for _, d := range s.left {
		if !g.mayBeReplaced(d) {
			return nil
		}
		gone = append(gone, d.Member.ID)
	}
	for _, m := range s.Joined {
		if len(s.left) == 0 && !g.isBack(s, m) {
			return nil
		}
	}
	return gone
}

// mayBeReplaced reports a departure as a deploy makes it: nothing says that the member
// was put out, and another process took its place.
func (g *group) mayBeReplaced(d *departure) bool {
	if d.v.basis == inspect.Stated && d.v.cause != inspect.MemberLeft || d.ev.livesOn() || d.ret == nil && !g.successor(d) {
		return false
	}
	switch d.v.cause {
	case inspect.MemberLeft, inspect.RestartedWithinSession, inspect.UnknownCause:
		return true
	case inspect.SessionExpired: // of clients that send no LeaveGroup
		return d.Member.Static() || d.Member.Client.Family == inspect.StreamsLib
	}
	return false
}

// successor reports whether a new member came soon after one went, under
// whatever name: a pod that is replaced has a new host, and often a new client id.
func (g *group) successor(d *departure) bool {
	for _, s := range g.steps {
		if !s.At.Before(d.step.At) && s.At.Sub(d.step.At) <= rollGap && len(s.Joined) > 0 && len(s.After) >= len(d.step.Before) {
			return true
		}
	}
	return false
}

// isBack reports whether a join fills a place that somebody left before.
func (g *group) isBack(s *step, m *membership.Member) bool {
	for _, o := range g.steps {
		for _, d := range o.left {
			if d.ret != nil && d.ret.m.ID == m.ID {
				return true
			}
			if d.ret == nil && o.At.Before(s.At) && s.At.Sub(o.At) <= rollGap && g.successor(d) {
				return true
			}
		}
	}
	return false
}

// deploy is what a run is, where enough members were replaced in it; nil none.
func (r *roll) deploy() *deploy {
	if len(r.lanes) < rollLeast {
		return nil
	}
	most, clean, static := 0, true, true
	for _, s := range r.steps {
		most = max(most, len(s.Before), len(s.After))
		for _, d := range s.left {
			clean = clean && d.v.isClose()
			static = false
		}
	}
	if 2*len(r.lanes) < most || len(r.lanes) > most {
		return nil // too few for a deploy, or more than there are: some went more than once
	}
	conf := inspect.Medium
	switch {
	case (clean || static) && len(r.lanes) >= 3:
		conf = inspect.High
	case !clean && !static && len(r.lanes) < 3: // two evictions, which two faults explain as well
		conf = inspect.Low
	}
	return &deploy{replaced: len(r.lanes), of: most, conf: conf}
}
