package judge

import (
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// presence is what shows whether the member took part in the group, and whether the
// coordinator was there for it.
type presence struct {
	polled       bool      // commits, or what leaders answered, show a poll within the poll interval before it was out: it did not overrun
	moved        bool      // the coordinator moved in between
	silentBroker bool      // by polls alone: it did not answer for a while, which may have been a move
	aliveAt      time.Time // latest moment at which records show that it took part; zero unknown
	tailed       bool      // the log goes on long enough to have shown a return
	tenure       time.Duration
}

func (g *group) presenceOf(e *evidence) presence {
	var p presence
	p.polled = e.rebalance > 0 && (polledSince(e.cad.ticks, e.hi.Add(-e.rebalance), e.Member) || e.workedNew)
	moved, away := g.liveMoved(e)
	p.silentBroker = away && g.ByPolls
	p.moved = g.coordinatorMoved(e) || moved || away && !g.ByPolls
	p.aliveAt = g.tookPart(e.departure)
	p.tailed = g.end.Sub(e.step.EndAt) >= max(e.rebalance, e.session)
	if !e.Member.Since.IsZero() {
		p.tenure = max(0, e.hi.Sub(e.Member.Since))
	}
	return p
}

// tookPart is the latest moment at which records show the member at work in the
// group: the end of the last join phase that it was part of (every classic
// rebalance asks a JoinGroup of every member), or its last own record under KIP-848.
func (g *group) tookPart(d *departure) time.Time {
	if d.step.ServerSide {
		if d.Member.StateAt.After(d.Member.Since) {
			return d.Member.StateAt
		}
		return d.Member.Since
	}
	var at time.Time
	for _, s := range g.steps {
		if s == d.step {
			break
		}
		if s.After[d.Member.ID] == nil || s.ServerSide {
			continue
		}
		for _, r := range s.replaced {
			if r.New.ID == d.Member.ID {
				at = s.At
			}
		}
		if len(s.replaced) == 0 && !s.StateTime.IsZero() && s.StateTime.Before(s.EndAt) {
			at = s.StateTime
		}
	}
	return at
}

// coordinatorMoved reports whether the leader epoch of the offsets partition
// changed between the member's recent commits and the record of its departure:
// sessions start again when the new coordinator has loaded the group, so every
// gap is void.
func (g *group) coordinatorMoved(e *evidence) bool {
	from := max(0, e.Pos-1)
	if ticks := e.cad.ticks; len(ticks) > 0 {
		from = ticks[max(0, len(ticks)-2)].pos
	}
	return g.leaderChanged(from, e.Pos)
}

// liveMoved reports whether the coordinator was seen to move, or not to answer for a
// while, within the member's timeouts before it was out. Its sessions then began
// anew, and clients that lose their coordinator may join again under a new id. Polls
// that fail are no proof where records are: a busy machine fails them as well. By polls
// alone only those count that failed after the member's last commit.
func (g *group) liveMoved(e *evidence) (moved, away bool) {
	d, within := e.departure, slack+max(time.Minute, e.session, e.rebalance)
	coordinator := int32(-1)
	var lost time.Time
	for i := range g.in.Observations {
		o := &g.in.Observations[i]
		if o.From.After(d.step.EndAt) {
			break
		}
		if o.Error != "" {
			if lost.IsZero() {
				lost = o.From.Time
			}
			continue
		}
		if d.step.EndAt.Sub(o.From.Time) <= within {
			moved = moved || coordinator >= 0 && o.Coordinator >= 0 && o.Coordinator != coordinator
			away = away || !lost.IsZero() && o.From.Sub(lost) >= lostFor && !g.sameLeader(lost, d.Pos) && !(g.ByPolls && o.From.Before(e.lastFrom))
		}
		coordinator, lost = o.Coordinator, time.Time{}
	}
	return moved, away
}

// sameLeader reports whether the records prove that the offsets partition had one
// leader from a moment on up to a record: a coordinator that comes up again, be it
// the same broker, writes under a higher leader epoch.
func (g *group) sameLeader(since time.Time, pos int) bool {
	if pos >= len(g.Records) || g.Records[pos].LeaderEpoch < 0 {
		return false
	}
	for i := pos - 1; i >= 0; i-- {
		if r := g.Records[i]; r.LeaderEpoch >= 0 && r.Time.Before(since) {
			return !g.leaderChanged(i, pos)
		}
	}
	return false
}

// lostFor is how long polls must fail to mean more than a hiccup of one request.
const lostFor = 2 * time.Second

// leaderChanged reports whether the leader epoch of the offsets partition changed from
// one record to another, both included.
func (g *group) leaderChanged(from, to int) bool {
	epoch := int32(-1)
	for i := from; i <= to && i < len(g.Records); i++ {
		le := g.Records[i].LeaderEpoch
		if le < 0 {
			continue
		}
		if epoch >= 0 && le != epoch {
			return true
		}
		epoch = le
	}
	return false
}

// polledSince reports whether commits show a poll at or after a moment. A batch is
// worked record by record, and one partition of it after the other: a call that
// commits several partitions at once speaks for a whole poll, and so does the way
// back to a partition that was left. librdkafka hands out records in the order in
// which they came, so that a batch of its may go to and fro.
func polledSince(ticks []tick, since time.Time, m *membership.Member) bool {
	toAndFro := m.Client.Confidence.Rank() > 0 && m.Client.Family.PollInterval() && m.Client.Family != inspect.Librdkafka
	left := map[membership.TopicPartition]bool{}
	var at membership.TopicPartition
	for i, k := range ticks {
		if k.at.Before(since) || !k.after.IsZero() { // the order between two polls is not known
			continue
		}
		if k.whole && k.advanced || toAndFro && left[k.part] {
			return true
		}
		if i > 0 && at != k.part && at != (membership.TopicPartition{}) {
			left[at] = true
		}
		at = k.part
	}
	return false
}
