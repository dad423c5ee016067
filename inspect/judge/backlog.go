package judge

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect/membership"
)

// backlog is whether records waited on the departed member's partitions while it was
// silent, from what the next owner worked off, and whether the member had committed the
// same offsets for a while. An idle partition makes silence meaningless.
type backlog struct {
	waiting int      // records waited in the silence: 1 yes, 0 not known, -1 no
	frozen  int      // trailing commits that moved nothing, while others later moved
	stuck   []string // partitions whose offset did not move while it owned them
}

func (g *group) backlogOf(e *evidence) backlog {
	if e.n == 0 {
		return backlog{}
	}
	b := backlog{waiting: g.askedFor(e)}
	if b.waiting == 0 {
		b.waiting = g.waitingFor(e)
	}
	ticks := e.cad.ticks
	for i := len(ticks) - 1; i >= 0 && !ticks[i].advanced; i-- {
		b.frozen++
	}
	if b.frozen == len(ticks) {
		b.frozen = 0
	}
	b.stuck = g.stoodStill(e, b.waiting)
	return b
}

// waitingFor says whether records waited in the silence: 1 yes, 0 not known, -1 no.
func (g *group) waitingFor(e *evidence) int {
	due := g.workRateOf(e)
	gained, meanwhile, seen := 0.0, 0.0, false
	for _, k := range e.idle {
		list := g.commits[k]
		next := firstAfter(list, e.Pos-1)
		if next == 0 || next == len(list) {
			seen = seen || next < len(list)
			continue
		}
		seen = true
		got, waited := firstWork(list[next:], list[next-1].offset, max(time.Second, e.cad.median), orZero(e.rebalance))
		gained += float64(got)
		meanwhile = max(meanwhile, waited.Seconds())
	}
	silence := max(e.gapLo, e.gapHi/2)
	if e.advanceAt.Before(e.lastAt) {
		silence = max(silence, e.hi.Sub(e.advanceAt))
	}
	switch {
	case !seen:
		return 0
	case gained >= max(1, due*(silence.Seconds()/2+meanwhile)) || g.caughtUp(e, silence):
		return 1
	}
	return -1
}

// caughtUp reports whether the next owners, in as much time as the silence lasted, worked
// off at least half as many records more than can have come in that time: a consumer that
// commits each record as it goes needs more than a second for a long backlog.
func (g *group) caughtUp(e *evidence, silence time.Duration) bool {
	more, due := 0.0, 0.0
	for _, k := range e.idle {
		list := g.commits[k]
		next := firstAfter(list, e.Pos-1)
		rate := rateOf(g.ownCommits(e.departure, k), e.advanceAt)
		if next == 0 || rate == 0 {
			continue
		}
		due += rate * silence.Seconds()
		most := 0.0
		for _, cm := range list[next:] {
			since := cm.at.Sub(e.hi)
			if since > silence {
				break
			}
			most = max(most, float64(cm.offset-list[next-1].offset)-rate*since.Seconds())
		}
		more += most
	}
	return due > 0 && more >= max(1, due/2)
}

// firstWork is how many records the next owner of a partition had done within a span
// of its first commit, and how long it took to begin: it commits the offset at which
// it takes over, again and again, until its first records arrive.
func firstWork(list []commit, from int64, span, limit time.Duration) (records int64, waited time.Duration) {
	begin := 0
	for begin < len(list)-1 && list[begin].offset == from && list[begin+1].at.Sub(list[0].at) <= limit {
		begin++
	}
	if waited = list[begin].at.Sub(list[0].at); waited <= span {
		begin, waited = 0, 0
	}
	for _, cm := range list[begin:] {
		if cm.at.Sub(list[begin].at) > span {
			break
		}
		records = max(0, cm.offset-from)
	}
	return records, waited
}

// workRateOf is the member's pace in records a second before it fell silent: of each
// partition by its own recent commits, since one that is committed rarely moves far
// at a time.
func (g *group) workRateOf(e *evidence) float64 {
	sum := 0.0
	for _, k := range e.idle {
		sum += rateOf(g.ownCommits(e.departure, k), e.advanceAt)
	}
	return sum
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

// ownCommits are the departed member's own commits on one partition, the last
// mostTicks of them.
func (g *group) ownCommits(d *departure, k membership.TopicPartition) []commit {
	list := g.commits[k]
	hi := firstAfter(list, d.Pos-1)
	lo := max(firstAfter(list, d.Held[k]), hi-mostTicks)
	return list[min(lo, hi):hi]
}

// stoodStill are the partitions whose committed offset did not move while their
// neighbours' did, or while it was committed again and again.
func (g *group) stoodStill(e *evidence, waiting int) []string {
	var out []string
	for _, k := range e.idle {
		own := g.ownCommits(e.departure, k)
		if n := len(own); n >= 2 && own[0].offset == own[n-1].offset && g.hasWork(k, e, waiting) {
			out = append(out, stuckText(k, own[0].offset))
		}
	}
	return out
}

// hasWork reports whether a partition whose offset stands still has records: its
// lag says so, or else its neighbours went on, or its next owner did.
func (g *group) hasWork(k membership.TopicPartition, e *evidence, waiting int) bool {
	if o := g.liveOffset(k); o != nil && o.Lag != nil {
		return *o.Lag > 0
	}
	if waiting == 1 {
		return true
	}
	for _, c := range e.cad.ticks {
		if c.step > 0 {
			return true
		}
	}
	return false
}
