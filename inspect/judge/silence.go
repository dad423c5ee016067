package judge

import (
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
)

// silence is how long before it was out the member committed for the last time, at
// least and at most.
type silence struct {
	gapLo, gapHi time.Duration
	common       time.Duration // of it, nobody else committed either; 0 where that is no longer than usual
	uncounted    time.Duration // of common, what gapLo is without
	unseen       bool          // the committed offsets were not polled any more when it went
	blind        []string      // topics of its own of which polls show no committed offset
}

func (g *group) silenceOf(e *evidence) silence {
	if len(e.cad.ticks) == 0 {
		return silence{}
	}
	s := silence{gapLo: max(0, e.lo.Sub(e.lastAt)), gapHi: max(0, e.hi.Sub(e.lastFrom))}
	s.unseen = g.ByPolls && !g.polledAt(e.lo)
	if g.ByPolls {
		s.blind = g.neverShown(e.parts)
	}
	if e.mayHaveCommitted() {
		s.gapLo = 0
	}
	if common := e.commonSilence(); common > slack {
		s.common, s.uncounted = common, min(s.gapLo, common)
		s.gapLo -= s.uncounted
	}
	return s
}

// polledAt reports whether the committed offsets were polled at a moment or later: what
// was committed until then would have shown.
func (g *group) polledAt(at time.Time) bool {
	return slices.ContainsFunc(g.in.OffsetPolls, func(p inspect.OffsetPolls) bool { return p.Error == "" && !p.To.Before(at) })
}

// neverShown are the topics of partitions of which no poll has shown an offset: nothing was
// committed there, or the user may not describe them. Nil where polls say nothing of topics.
func (g *group) neverShown(parts []part) []string {
	var shown, out []string
	for _, p := range g.in.OffsetPolls {
		shown = append(shown, p.Topics...)
	}
	if len(shown) == 0 {
		return nil
	}
	for _, p := range parts {
		if !slices.Contains(shown, p.Topic) && !slices.Contains(out, p.Topic) {
			out = append(out, p.Topic)
		}
	}
	return out
}

// mayHaveCommitted reports a commit between two polls of which one was before the member
// was out: it may be the member's last, or the next owner's first.
func (e *evidence) mayHaveCommitted() bool {
	return slices.ContainsFunc(e.parts, func(p part) bool { return len(p.next) > 0 && !p.next[0].after.IsZero() && p.next[0].after.Before(e.hi) })
}

// commonSilence is for how long after the member's last commit none of the others
// committed either, beyond their own pace: the topic was idle then, or the broker
// stood still, and the member's own silence may have begun at any time of that.
func (e *evidence) commonSilence() time.Duration {
	least, known := time.Duration(0), false
	for _, o := range e.others {
		n := len(o.cad.ticks)
		if n <= leastCommits || e.lastAt.Sub(o.cad.ticks[n-1].at) > o.cad.longest+slack {
			continue // it had not been committing at the time
		}
		next := e.hi
		if !o.next.IsZero() && o.next.Before(next) {
			next = o.next
		}
		if quiet := next.Sub(o.cad.ticks[n-1].at) - o.cad.longest; !known || quiet < least {
			least, known = quiet, true
		}
	}
	return least
}

// backlog is whether records waited on the departed member's partitions while it was
// silent, from what the next owner worked off, and whether the member had committed the
// same offsets for a while. An idle partition makes silence meaningless.
type backlog struct {
	waiting int      // records waited in the silence: 1 yes, 0 not known, -1 no
	frozen  int      // trailing commits that moved nothing, while others later moved
	stuck   []string // partitions whose offset did not move while it owned them
	// workedNew: it had worked records that came within its poll interval before it was
	// out, so it had polled within that.
	workedNew bool
}

func (g *group) backlogOf(e *evidence) backlog {
	if e.n == 0 {
		return backlog{}
	}
	b := backlog{waiting: g.askedFor(e)}
	if b.waiting == 0 {
		b.waiting = waitingFor(e)
	}
	ticks := e.cad.ticks
	for i := len(ticks) - 1; i >= 0 && !ticks[i].advanced; i-- {
		b.frozen++
	}
	if b.frozen == len(ticks) {
		b.frozen = 0
	}
	b.stuck, b.workedNew = g.stoodStill(e, b.waiting), g.hasWorkedNew(e)
	return b
}

// waitingFor says whether records waited in the silence: 1 yes, 0 not known, -1 no.
func waitingFor(e *evidence) int {
	due, gained, meanwhile, seen := 0.0, 0.0, 0.0, false
	for _, p := range e.parts {
		// Of each partition by its own recent commits, since one that is committed rarely
		// moves far at a time.
		due += p.rate
		seen = seen || len(p.next) > 0
		if p.begun && len(p.next) > 0 {
			got, waited := firstWork(p.next, p.from, max(time.Second, e.cad.median), e.rebalance)
			gained += float64(got)
			meanwhile = max(meanwhile, waited.Seconds())
		}
	}
	silence := max(e.gapLo, e.gapHi/2)
	if e.advanceAt.Before(e.lastAt) {
		silence = max(silence, e.hi.Sub(e.advanceAt))
	}
	switch {
	case !seen:
		return 0
	case gained >= max(1, due*(silence.Seconds()/2+meanwhile)) || caughtUp(e, silence):
		return 1
	case gained < 1 || due*silence.Seconds() < fewRecords || slices.ContainsFunc(e.parts, func(p part) bool { return p.rests(silence) }):
		return -1
	}
	return 0 // the next owner may need all its time for what comes in
}

// fewRecords is how many records must be expected in a silence for their absence to mean
// anything.
const fewRecords = 3

// rests reports whether the next owner of a partition, once it had begun, had time left in
// as long as a silence lasted: then it would have worked off a backlog quickly. It waits for
// records between its commits, or commits when nothing has come.
func (p *part) rests(silence time.Duration) bool {
	var pauses []time.Duration
	begun := false
	for i := 1; i < len(p.next) && p.next[i].at.Sub(p.next[0].at) <= silence; i++ {
		if begun && p.next[i].offset == p.next[i-1].offset {
			return true
		}
		begun = begun || p.next[i].offset > p.from
		if !p.next[i].thin {
			pauses = append(pauses, p.next[i].at.Sub(p.next[i-1].at))
		}
	}
	slices.Sort(pauses)
	return len(pauses) >= recent && pauses[len(pauses)/10]*2 <= pauses[len(pauses)/2]
}

// caughtUp reports whether the next owners, in as much time as the silence lasted, worked
// off at least half as many records more than can have come in that time: a consumer that
// commits each record as it goes needs more than a second for a long backlog.
func caughtUp(e *evidence, silence time.Duration) bool {
	more, due := 0.0, 0.0
	for _, p := range e.parts {
		if !p.begun || p.rate == 0 {
			continue
		}
		due += p.rate * silence.Seconds()
		most := 0.0
		for _, cm := range p.next {
			since := cm.at.Sub(e.hi)
			if since > silence {
				break
			}
			most = max(most, float64(cm.offset-p.from)-p.rate*since.Seconds())
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

// stoodStill are the partitions whose committed offset did not move while their
// neighbours' did, or while it was committed again and again.
func (g *group) stoodStill(e *evidence, waiting int) []string {
	var out []string
	for _, p := range e.parts {
		if n := len(p.own); n >= 2 && p.own[0].offset == p.own[n-1].offset && g.hasWork(p.TopicPartition, e, waiting) {
			out = append(out, stuckText(p.TopicPartition, p.own[0].offset))
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

// askedFor says what the leaders' answers show: 1 records waited soon after the last
// commit or all the time, -1 none came until the member was out, 0 not asked, or neither.
func (g *group) askedFor(e *evidence) int {
	none, asked := true, false
	for _, p := range e.parts {
		at, was := g.askedAt(p.TopicPartition, e.lastAt)
		out, is := g.askedAt(p.TopicPartition, e.hi)
		if len(p.own) == 0 || !was || !is || out.Start > p.own[len(p.own)-1].offset {
			continue
		}
		asked = true
		position := p.own[len(p.own)-1].offset
		if out.Offset <= position+markerStep {
			continue
		}
		none = false
		began := e.lastAt
		if at.Offset <= position+markerStep {
			began = at.Next.Time
		}
		if !began.IsZero() && began.Sub(e.lastAt) <= max(e.cad.longest, slack) {
			return 1
		}
	}
	if asked && none {
		return -1
	}
	return 0
}

// freshness is the part of a poll interval that a record may be old at most to show a poll
// within it: what is left is for producers whose clocks differ from the brokers'.
const freshness = 0.9

// freshSince is since when a record must have come for having worked it to show a poll
// within the poll interval before the member was out.
func (e *evidence) freshSince() time.Time {
	return e.hi.Add(-time.Duration(freshness * float64(e.rebalance)))
}

// hasWorkedNew reports a member that had committed behind a record which came within its poll
// interval before it was out. Whoever works a record has polled since that came. The
// answer counts only where no record is younger than the commit behind it: there the
// producers' clocks are ahead.
func (g *group) hasWorkedNew(e *evidence) bool {
	if e.guessed || e.equal() && e.family == inspect.Unknown {
		return false // its poll interval may be another, which is not on the wire
	}
	return slices.ContainsFunc(e.parts, func(p part) bool {
		since, asked := g.askedAt(p.TopicPartition, e.freshSince())
		until, was := g.askedAt(p.TopicPartition, e.lastAt)
		if !asked || !was || len(p.own) == 0 {
			return false
		}
		position := p.own[len(p.own)-1].offset
		return position > since.Offset && position <= until.Offset
	})
}

// askedAt is the answer about a partition at a moment.
func (g *group) askedAt(k membership.TopicPartition, at time.Time) (inspect.OffsetAt, bool) {
	i := slices.IndexFunc(g.asked[k], func(o inspect.OffsetAt) bool { return o.At.Sub(at).Abs() <= time.Millisecond })
	if i < 0 {
		return inspect.OffsetAt{}, false
	}
	return g.asked[k][i], true
}
