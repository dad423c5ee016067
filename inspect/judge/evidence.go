package judge

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// The bounds of the decision procedure, each measured on Apache Kafka 4.1.1 with
// four client families (docs/accuracy.md) unless said otherwise.
const (
	// slack is how late a broker's timers and a rejoin may be: sessions fired up to
	// 1.15 s late on a loaded broker.
	slack = 1300 * time.Millisecond
	// recent is how many commit intervals speak for the present pace.
	recent = 8
	// leastCommits is below how many commits silence says nothing.
	leastCommits = 4
	// sureCommits is how many commits "high" asks for.
	sureCommits = 8
	// mergeTicks: commits of several partitions this close are one commit call.
	mergeTicks = 20 * time.Millisecond
	// closeCommit is how soon after its closing commit an auto-committing client leaves.
	closeCommit = time.Second
	// joinNoise is what a join adds to the slowest survivor's poll and heartbeat.
	joinNoise = 500 * time.Millisecond
	// quickRestart is how long a supervisor takes to start a process again (policy).
	quickRestart = 10 * time.Second
	// soonBack is how soon a consumer rejoins whose commit failed inside a batch
	// (measured: within 1.6 s), beyond its cadence and the join of the others.
	soonBack = 3 * time.Second
)

// evidence is what is known of one departure: one embedded value for each kind of it. It
// is gathered before anything is judged, and all that a verdict is made of.
type evidence struct {
	*departure
	timeouts
	work
	interval
	silence
	backlog
	presence
	seen
	joinWait
	logLines
	process
	fitting
	alone   verdict // what these say by themselves
	company         // what the departures of the group say together
}

// weigh gathers the evidence of one departure, kind by kind: each may read those before
// it. What a kind means, its type says.
func (g *group) weigh(d *departure) *evidence {
	e := &evidence{departure: d}
	e.timeouts = timeoutsOf(d.Member, g.limits)
	e.work = g.workOf(e)
	e.interval = g.intervalOf(e)
	e.silence = g.silenceOf(e)
	e.backlog = g.backlogOf(e)
	e.presence = g.presenceOf(e)
	e.seen = g.seenOf(e)
	e.joinWait = g.joinWaitOf(e)
	e.logLines = g.logLinesOf(e)
	e.process = g.processOf(e)
	e.fitting = fittingOf(e)
	e.alone = explain(e)
	return e
}

// timeouts are the member's, and its heartbeat interval.
type timeouts struct {
	session   *time.Duration
	assumed   bool // the session timeout is the default, not read
	rebalance *time.Duration
	heartbeat time.Duration
}

func timeoutsOf(m *membership.Member, limits inspect.Limits) timeouts {
	var t timeouts
	if m.Session != nil {
		s := m.Session.Duration()
		t.session = &s
	} else if m.ServerSide {
		s := defaultServerSession
		t.session, t.assumed = &s, true
	}
	if m.Rebalance != nil {
		r := m.Rebalance.Duration()
		t.rebalance = &r
	}
	switch {
	case m.ServerSide && limits.Heartbeat != nil:
		t.heartbeat = limits.Heartbeat.Duration()
	case m.ServerSide:
		t.heartbeat = defaultServerHeartbeat
	case t.session != nil:
		t.heartbeat = min(defaultHeartbeat, *t.session/inspect.HeartbeatsPerSession)
	default:
		t.heartbeat = defaultHeartbeat
	}
	return t
}

// equal: the rebalance timeout is the session timeout. Some libraries send it so, and
// then it is no poll interval; in others both run out together.
func (t *timeouts) equal() bool {
	return t.rebalance != nil && t.session != nil && *t.rebalance == *t.session
}

func orZero(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return *d
}

// Defaults that stand in where a timeout is on no record: the broker's
// group.consumer.session.timeout.ms and group.consumer.heartbeat.interval.ms
// (Kafka 3.7 to 4.3), and the clients' heartbeat.interval.ms.
const (
	defaultServerSession   = 45 * time.Second
	defaultServerHeartbeat = 5 * time.Second
	defaultHeartbeat       = 3 * time.Second
)

// work is what the member committed on its partitions while it owned them.
type work struct {
	cad       cadence
	n         int
	compacted bool // commits may be missing
	silent    bool // there are commits enough for silence to mean something
	lastAt    time.Time
	advanceAt time.Time // last commit that moved an offset
	idle      []membership.TopicPartition
}

func (g *group) workOf(e *evidence) work {
	end := e.Pos
	if e.Member.ServerSide && e.Member.StaticLeftPos > 0 && !e.Member.StaticLeft.IsZero() {
		end = e.Member.StaticLeftPos
	}
	ticks := g.commitsOf(e.Held, end)
	w := work{cad: pace(ticks), n: len(ticks)}
	if w.n >= mostTicks {
		w.n = max(w.n, g.countOf(e.Held, end))
	}
	for k := range e.Held {
		w.idle = append(w.idle, k)
	}
	slices.SortFunc(w.idle, membership.Compare)
	if len(ticks) == 0 {
		return w
	}
	w.compacted = !membership.Complete(g.in.Logs, g.Records[ticks[len(ticks)-1].pos])
	w.lastAt = ticks[len(ticks)-1].at
	w.advanceAt = w.lastAt
	for i := len(ticks) - 1; i > 0 && !ticks[i].advanced; i-- {
		w.advanceAt = ticks[i-1].at
	}
	w.silent = len(ticks) >= leastCommits && !w.compacted
	return w
}

// silence is how long before it was out the member committed for the last time, at
// least and at most.
type silence struct {
	gapLo, gapHi time.Duration
	common       time.Duration // of it, nobody else committed either; 0 where that is no longer than usual
}

func (g *group) silenceOf(e *evidence) silence {
	if len(e.cad.ticks) == 0 {
		return silence{}
	}
	s := silence{gapLo: max(0, e.lo.Sub(e.lastAt)), gapHi: max(0, e.hi.Sub(e.lastAt))}
	if common := g.commonSilence(e); common > slack {
		s.common, s.gapLo = common, max(0, s.gapLo-common)
	}
	return s
}

// commonSilence is for how long after the member's last commit none of the others
// committed either, beyond their own pace: the topic was idle then, or the broker
// stood still, and the member's own silence may have begun at any time of that.
func (g *group) commonSilence(e *evidence) time.Duration {
	least, known := time.Duration(0), false
	for id, held := range e.step.Surviving {
		if m := e.step.After[id]; m == nil {
			continue
		}
		ticks := g.commitsOf(held, e.step.First)
		n := 0
		for n < len(ticks) && !ticks[n].at.After(e.lastAt) {
			n++
		}
		c := pace(ticks[:n])
		if n <= leastCommits || e.lastAt.Sub(ticks[n-1].at) > c.longest+slack {
			continue // it had not been committing at the time
		}
		next := e.hi
		if n < len(ticks) && ticks[n].at.Before(next) {
			next = ticks[n].at
		}
		if quiet := next.Sub(ticks[n-1].at) - c.longest; !known || quiet < least {
			least, known = quiet, true
		}
	}
	return least
}

// presence is what shows whether the member took part in the group, and whether the
// coordinator was there for it.
type presence struct {
	polled  bool      // commits show a poll within the poll interval before it was out: it did not overrun
	moved   bool      // the coordinator moved in between
	aliveAt time.Time // latest moment at which records show that it took part; zero unknown
	tailed  bool      // the log goes on long enough to have shown a return
	tenure  time.Duration
}

func (g *group) presenceOf(e *evidence) presence {
	var p presence
	p.polled = e.rebalance != nil && polledSince(e.cad.ticks, e.hi.Add(-*e.rebalance), e.Member)
	p.moved = g.coordinatorMoved(e) || g.liveMoved(e.departure)
	p.aliveAt = g.tookPart(e.departure)
	p.tailed = g.end.Sub(e.step.EndAt) >= max(orZero(e.rebalance), orZero(e.session))
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
