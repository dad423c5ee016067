package timeline

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// secondLook judges what only several rebalances together show, and then names
// every step.
func (t *track) secondLook() {
	t.tenures()
	t.repeated()
	for _, s := range t.steps {
		t.conclude(s)
		t.liveStart(s)
	}
	t.stuckAgain()
	t.rolling()
}

// tenures finds overruns inside batches whose records are committed one by one.
// Each looks like a close; but a member that goes every time as long after it
// came as its poll interval is, and comes back, does not close.
func (t *track) tenures() {
	byLane := map[string][]*departure{}
	for _, s := range t.steps {
		for _, d := range s.left {
			if d.ev.rebalance == nil || d.Member.Since.IsZero() || d.ret == nil || d.v.basis == inspect.Stated {
				continue
			}
			r := *d.ev.rebalance
			if d.ev.tenure >= r-r/50 && d.ev.tenure <= r+slack+d.ev.hi.Sub(d.ev.lo) && d.v.cause != inspect.SessionExpired {
				byLane[d.Member.Name()+"\x00"+d.Member.Host] = append(byLane[d.Member.Name()+"\x00"+d.Member.Host], d)
			}
		}
	}
	for _, list := range byLane {
		if len(list) < 2 {
			continue
		}
		for _, d := range list {
			if d.v.cause == inspect.PollIntervalExceeded && rank(d.v.conf) > 0 {
				continue
			}
			old := d.v.cause
			d.v.cause, d.v.conf, d.v.inBatch = inspect.PollIntervalExceeded, inspect.Medium, d.ev.gapHi <= d.ev.cad.most+soonBack
			d.v.rivals = slices.DeleteFunc(d.v.rivals, func(r inspect.Rival) bool { return r.Cause == inspect.PollIntervalExceeded })
			if old != inspect.UnknownCause {
				d.v.add(old, "")
			}
			d.v.say(itoa(int32(len(list))) + " times it went " + dur(round(d.ev.tenure)) + " after it had joined, as long as its poll interval: a batch longer than that")
		}
	}
}

// repeated drops the doubt that a member drained for just as long as a timeout where
// the same member was silent for that long again and again.
func (t *track) repeated() {
	type key struct {
		lane, host string
		cause      inspect.Cause
	}
	same := map[key]int{}
	each := func(f func(*departure, key)) {
		for _, s := range t.steps {
			for _, d := range s.left {
				f(d, key{d.Member.Name(), d.Member.Host, d.v.cause})
			}
		}
	}
	each(func(d *departure, k key) {
		if d.v.drainCap {
			same[k]++
		}
	})
	each(func(d *departure, k key) {
		if !d.v.drainCap || same[k] < 2 || d.v.basis == inspect.Stated {
			return
		}
		d.v.conf = inspect.High
		for i := range d.v.rivals {
			if d.v.rivals[i].Cause == inspect.MemberLeft {
				d.v.rivals[i].WhyNot = itoa(int32(same[k])) + " times it would have drained for just as long before it closed"
			}
		}
	})
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

// rolling finds runs in which several members are replaced one after another,
// each once: a deploy. Where the same members go again and again it is none.
func (t *track) rolling() {
	roots := t.roots()
	var chain []roll // runs that follow one another without a rest
	var run roll
	flush := func(again bool) {
		if len(run.steps) > 0 {
			chain = append(chain, run)
		}
		run = roll{lanes: map[string]bool{}}
		if again {
			return
		}
		if !t.churns(chain, roots) {
			for _, r := range chain {
				t.markRolling(r.steps, r.lanes)
			}
		}
		chain = nil
	}
	flush(false)
	for _, s := range t.steps {
		gone := t.replacedLanes(s)
		if gone == nil {
			flush(false)
			continue
		}
		for i, l := range gone {
			if r, ok := roots[l]; ok {
				gone[i] = r
			}
		}
		if n := len(run.steps); n > 0 && s.At.Sub(run.steps[n-1].At) > rollGap {
			flush(false)
		} else if slices.ContainsFunc(gone, func(l string) bool { return run.lanes[l] }) {
			flush(true)
		}
		run.steps = append(run.steps, s)
		for _, l := range gone {
			run.lanes[l] = true
		}
	}
	flush(false)
}

// roll is a run of rebalances in which each member was replaced at most once.
type roll struct {
	steps []*step
	lanes map[string]bool
}

// roots maps the member id of each process that came in another's place to the id
// of the first of them, so that a member that goes a second time is known again.
func (t *track) roots() map[string]string {
	out := map[string]string{}
	for _, s := range t.steps {
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
func (t *track) churns(chain []roll, roots map[string]string) bool {
	if len(chain) == 0 {
		return false
	}
	lanes, clean, twice := map[string]int{}, true, false
	for _, r := range chain {
		for l := range r.lanes {
			lanes[l]++
			twice = twice || lanes[l] > 1
		}
		for _, s := range r.steps {
			for _, d := range s.left {
				clean = clean && d.v.cause == inspect.MemberLeft
				if len(d.ev.stuck) > 0 {
					return true
				}
			}
		}
	}
	last := chain[len(chain)-1].steps
	around := t.goings(roots, chain[0].steps[0].At.Add(-rollGap), last[len(last)-1].At.Add(rollGap))
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

// goings counts how often each member went between two moments, under the id of its
// first process.
func (t *track) goings(roots map[string]string, from, to time.Time) map[string]int {
	out := map[string]int{}
	for _, s := range t.steps {
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
func (t *track) replacedLanes(s *step) []string {
	together := len(s.left) > 1 && 2*len(s.left) > len(s.Before) // a deploy takes few at a time
	if s.Deleted || s.Base || s.Migrated || together {
		return nil
	}
	gone := []string{}
	for _, sw := range s.replaced {
		if sw.fenced && sw.conf != inspect.Low || sw.overran {
			return nil
		}
		gone = append(gone, sw.New.Instance())
	}
	for _, d := range s.left {
		ok := d.v.cause == inspect.MemberLeft || d.v.cause == inspect.RestartedWithinSession ||
			d.v.cause == inspect.UnknownCause || d.v.cause == inspect.SessionExpired && (d.Member.Static() || d.Member.Client.Family == inspect.StreamsLib)
		lives := d.step.ServerSide && d.ret != nil && d.ret.m.ID == d.Member.ID // the process was not replaced
		if !ok || lives || d.ret == nil && !t.successor(d) || d.v.basis == inspect.Stated && d.v.cause != inspect.MemberLeft {
			return nil
		}
		gone = append(gone, d.Member.ID)
	}
	if len(gone) == 0 && len(s.Joined) == 0 {
		return nil
	}
	for _, m := range s.Joined {
		if len(s.left) == 0 && !t.isBack(s, m) {
			return nil
		}
	}
	return gone
}

// successor reports whether a new member came soon after one went, under
// whatever name: a pod that is replaced has a new host, and often a new client id.
func (t *track) successor(d *departure) bool {
	for _, s := range t.steps {
		if !s.At.Before(d.step.At) && s.At.Sub(d.step.At) <= rollGap && len(s.Joined) > 0 && len(s.After) >= len(d.step.Before) {
			return true
		}
	}
	return false
}

// isBack reports whether a join fills a place that somebody left before.
func (t *track) isBack(s *step, m *membership.Member) bool {
	for _, o := range t.steps {
		for _, d := range o.left {
			if d.ret != nil && d.ret.m.ID == m.ID {
				return true
			}
			if d.ret == nil && o.At.Before(s.At) && s.At.Sub(o.At) <= rollGap && t.successor(d) {
				return true
			}
		}
	}
	return false
}

// markRolling names the steps of a run, where enough members were replaced.
func (t *track) markRolling(run []*step, lanes map[string]bool) {
	if len(lanes) < rollLeast {
		return
	}
	most, clean := 0, true
	static := true
	for _, s := range run {
		most = max(most, len(s.Before), len(s.After))
		for _, d := range s.left {
			clean = clean && d.v.cause == inspect.MemberLeft && rank(d.v.conf) > 0
			static = false
		}
	}
	if 2*len(lanes) < most || len(lanes) > most {
		return // too few for a deploy, or more than there are: some went more than once
	}
	conf := inspect.Medium
	if (clean || static) && len(lanes) >= 3 {
		conf = inspect.High
	}
	for _, s := range run {
		if len(s.left)+len(s.replaced) == 0 && s == run[0] {
			continue
		}
		text := itoa(int32(len(lanes))) + " of " + itoa(int32(most)) + " members were replaced one after another"
		was := s.out.Cause
		s.out.Cause, s.out.Confidence, s.out.Basis = inspect.RollingRestart, conf, inspect.Inferred
		s.out.Evidence = append([]string{text}, s.out.Evidence...)
		if was == inspect.UnknownCause {
			s.out.Rivals = []inspect.Rival{}
		}
	}
}
