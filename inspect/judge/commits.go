package judge

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// trace is all that the offset commits around a departure show: the member's own, those
// of the members that stayed, and those of the next owners of its partitions. It is read
// once, and the kinds of evidence only look at it.
type trace struct {
	work
	others []atLast
	parts  []part // the departed member's, in order
}

// survivor is a member that stayed in a step in which another one went.
type survivor struct {
	timeouts
	serverSide bool
	cad        cadence // up to the step
	waits      bool    // it waits in poll between its commits
}

// atLast is what one of them had been doing when the departed member committed for the
// last time.
type atLast struct {
	cad  cadence
	next time.Time // its first commit after that and before the step; zero none
}

// part is a partition of the departed member.
type part struct {
	membership.TopicPartition
	own   []commit // the member's, the last mostTicks of them
	rate  float64  // its recent pace in records a second, up to the last commit that moved an offset
	begun bool     // it was committed before the member went, last at offset from
	from  int64
	next  []commit // after the member went
}

// traceOf reads the commits around a departure.
func (g *group) traceOf(d *departure, family inspect.Family) trace {
	t := trace{work: g.workOf(d, family)}
	if t.n == 0 {
		return t
	}
	for _, k := range t.idle {
		t.parts = append(t.parts, g.partOf(d, k, t.advanceAt))
	}
	for _, v := range d.step.survivors {
		ticks := v.cad.ticks
		n := 0
		for n < len(ticks) && !ticks[n].at.After(t.lastAt) {
			n++
		}
		at := atLast{cad: pace(ticks[:n])}
		if n < len(ticks) {
			at.next = ticks[n].at
		}
		t.others = append(t.others, at)
	}
	return t
}

// paceOf is the cadence of the commits on some partitions, each since a record, before a
// record.
func (g *group) paceOf(held map[membership.TopicPartition]int, before int) cadence {
	return pace(g.commitsOf(held, before))
}

func (g *group) partOf(d *departure, k membership.TopicPartition, until time.Time) part {
	list := g.commits[k]
	hi := firstAfter(list, d.Pos-1)
	lo := max(firstAfter(list, d.Held[k]), hi-mostTicks)
	p := part{TopicPartition: k, own: list[min(lo, hi):hi], begun: hi > 0, next: list[hi:]}
	p.rate = rateOf(p.own, until)
	if p.begun {
		p.from = list[hi-1].offset
	}
	return p
}

// survivorsOf are the members that stayed in a step.
func (g *group) survivorsOf(s *step) []survivor {
	var out []survivor
	for _, m := range membership.ByID(s.After) {
		if s.Before[m.ID] == nil {
			continue
		}
		v := survivor{timeouts: g.timeoutsOf(m), serverSide: m.ServerSide, cad: g.paceOf(s.Surviving[m.ID], s.First)}
		v.waits = v.cad.polls(v.family) || v.cad.perRecord && g.catchesUp(s, m, v.cad.median)
		out = append(out, v)
	}
	return out
}

// catchesUp reports whether a survivor, when records waited for it after the rebalance,
// worked them at twice its former pace or more: then it had been waiting in poll between
// its commits before.
func (g *group) catchesUp(s *step, m *membership.Member, before time.Duration) bool {
	mine := map[membership.TopicPartition]int{}
	for _, k := range m.Assigned {
		mine[k] = s.Pos
	}
	next := len(g.Records)
	if s.index+1 < len(g.steps) {
		next = g.steps[s.index+1].First
	}
	iv := slices.Sorted(slices.Values(intervals(g.commitsOf(mine, next))))
	return len(iv) >= recent && iv[len(iv)/10]*2 <= before
}

// work is what the member committed on its partitions while it owned them.
type work struct {
	cad       cadence
	polls     bool // it polls between its commits
	n         int
	compacted bool // commits may be missing
	silent    bool // there are commits enough for silence to mean something
	shares    bool // of a share group (KIP-932), which commits no offsets
	lastAt    time.Time
	lastFrom  time.Time // the earliest that the last commit can have been: lastAt, unless polls saw it
	advanceAt time.Time // last commit that moved an offset
	idle      []membership.TopicPartition
}

func (g *group) workOf(d *departure, family inspect.Family) work {
	end := d.Pos
	if d.Member.ServerSide && d.Member.StaticLeftPos > 0 && !d.Member.StaticLeft.IsZero() {
		end = d.Member.StaticLeftPos
	}
	w := work{cad: g.paceOf(d.Held, end), shares: g.Type == inspect.Share}
	w.polls = w.cad.polls(family)
	ticks := w.cad.ticks
	w.n = len(ticks)
	if w.n >= mostTicks {
		w.n = max(w.n, g.countOf(d.Held, end))
	}
	for k := range d.Held {
		w.idle = append(w.idle, k)
	}
	slices.SortFunc(w.idle, membership.Compare)
	if len(ticks) == 0 {
		return w
	}
	w.compacted = !membership.Complete(g.in.Logs, g.Records[ticks[len(ticks)-1].pos])
	w.lastAt, w.lastFrom = ticks[len(ticks)-1].at, ticks[len(ticks)-1].from()
	w.advanceAt = w.lastAt
	for i := len(ticks) - 1; i > 0 && !ticks[i].advanced; i-- {
		w.advanceAt = ticks[i-1].at
	}
	w.silent = len(ticks) >= leastCommits && !w.compacted
	return w
}

// mostTicks is how many commits of a partition are looked at: those before tell
// nothing of the present pace.
const mostTicks = 512

// firstAfter is the index of the first commit behind a record.
func firstAfter(list []commit, pos int) int {
	i, _ := slices.BinarySearchFunc(list, pos, func(c commit, p int) int {
		if c.pos <= p {
			return -1
		}
		return 1
	})
	return i
}

// countOf is how many commits there are on some partitions, each since a record,
// before a record.
func (g *group) countOf(held map[membership.TopicPartition]int, before int) int {
	n := 0
	for k, from := range held {
		list := g.commits[k]
		n += max(0, firstAfter(list, before-1)-firstAfter(list, from))
	}
	return n
}

// commitsOf are the commits on some partitions, each since a record, before a record.
func (g *group) commitsOf(held map[membership.TopicPartition]int, before int) []tick {
	type one struct {
		commit
		part membership.TopicPartition
		step int64
	}
	var all []one
	for k, from := range held {
		list := g.commits[k]
		hi := firstAfter(list, before-1)
		lo := max(firstAfter(list, from), hi-mostTicks)
		prev := int64(-1)
		if lo > 0 && lo < hi {
			prev = list[lo-1].offset
		}
		for _, c := range list[min(lo, hi):hi] {
			step := int64(-1)
			if prev >= 0 && (!c.thin || c.offset == prev) { // what was left out moved nothing either
				step = c.offset - prev
			}
			all = append(all, one{c, k, step})
			prev = c.offset
		}
	}
	slices.SortFunc(all, func(a, b one) int { return a.pos - b.pos })
	var out []tick
	for _, c := range all {
		if n := len(out); n > 0 && c.at.Sub(out[n-1].at) <= mergeTicks && c.part != out[n-1].part {
			out[n-1].advanced = out[n-1].advanced || c.step > 0
			out[n-1].step = max(out[n-1].step, c.step)
			out[n-1].total += max(0, c.step)
			// The records of one call have one timestamp.
			out[n-1].whole = out[n-1].whole || c.after.IsZero() && c.at.Equal(out[n-1].at) && (c.step > 0 || out[n-1].advanced)
			out[n-1].pos = c.pos
			continue
		}
		out = append(out, tick{at: c.at, after: c.after, pos: c.pos, advanced: c.step != 0, step: c.step, total: max(0, c.step), part: c.part, thin: c.thin})
	}
	return out
}

// rateOf is the pace in records a second of the recent commits up to a moment.
func rateOf(list []commit, until time.Time) float64 {
	var own []commit
	for _, cm := range list {
		if !cm.at.After(until) {
			own = append(own, cm)
		}
	}
	own = own[max(0, len(own)-recent):]
	if len(own) < 2 {
		return 0
	}
	if span := own[len(own)-1].at.Sub(own[0].at); span > 0 {
		return float64(max(0, own[len(own)-1].offset-own[0].offset)) / span.Seconds()
	}
	return 0
}
