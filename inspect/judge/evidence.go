package judge

import (
	"time"
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
	trace
	interval
	silence
	backlog
	presence
	seen
	held *heldJoin
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
	e.timeouts = d.limits
	e.trace = g.traceOf(d, e.family)
	e.interval = g.intervalOf(e)
	e.silence = g.silenceOf(e)
	e.backlog = g.backlogOf(e)
	e.presence = g.presenceOf(e)
	e.seen = g.seenOf(e)
	e.held = g.seenHeld(e)
	e.joinWait = joinWaitOf(e)
	e.logLines = g.logLinesOf(e)
	e.process = g.processOf(e)
	e.fitting = fittingOf(e)
	e.alone = explain(e)
	return e
}
