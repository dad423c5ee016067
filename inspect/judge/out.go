package judge

import (
	"cmp"
	"slices"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// timeline assembles the result.
func (g *group) timeline(stuck map[*departure][]string, deploys map[*step]*deploy) inspect.Timeline {
	tl := inspect.Timeline{Group: g.in.Group, Type: g.Type, CompleteSince: g.completeSince(), Rebalances: []inspect.Rebalance{}}
	if tl.Type == inspect.UnknownType && g.in.Snapshot != nil {
		tl.Type = g.in.Snapshot.Type
	}
	for _, s := range g.steps {
		tl.Rebalances = append(tl.Rebalances, g.rebalance(s, stuck, deploys[s]))
	}
	tl.Spans = g.spans()
	tl.Pauses = g.pauses()
	return tl
}

// completeSince is the moment since which the group's offsets partition is known
// to hold everything.
func (g *group) completeSince() inspect.Time {
	var since inspect.Time
	if len(g.Records) == 0 {
		return since
	}
	for _, l := range g.in.Logs {
		if l.Partition == g.Records[len(g.Records)-1].Partition {
			since = l.CompleteSince
		}
	}
	return since
}

// rebalance fills in what the judgement left open.
func (g *group) rebalance(s *step, stuck map[*departure][]string, in *deploy) inspect.Rebalance {
	r := conclude(s, in)
	r.StartedAt = inspect.At(g.began(s))
	r.ID, r.Time, r.Generation, r.PreviousGeneration = s.ID, inspect.At(s.At), s.Generation, s.PreviousGeneration
	if len(s.Generations) > 1 {
		r.Generations = s.Generations
	}
	r.Skipped = s.Skipped
	if s.Polled && !s.ServerSide {
		r.GenerationBasis = "lower_bound"
	}
	r.Moved, r.Assigned = s.Moved, s.Assigned
	if !s.ServerSide && len(s.replaced) == 0 && !s.Deleted && !s.StateTime.IsZero() && !s.Empty {
		r.SyncTime = inspect.Ms(max(0, s.At.Sub(s.StateTime)))
	}
	if s.ServerSide && !s.Converged.IsZero() {
		r.Converged = inspect.Ms(max(0, s.Converged.Sub(s.At)))
		r.ConvergedLast = s.ConvergedLast
	}
	g.paused(s, &r)
	r.Members = g.change(s, stuck)
	for _, d := range s.left {
		if d.v.cause == r.Cause {
			if stall := g.stall(d); stall != nil && (r.Stall == nil || *stall > *r.Stall) {
				r.Stall = stall
			}
			if d.ev.cad.perRecord && d.ev.cad.stepTime > 0 {
				r.Step = inspect.Ms(d.ev.cad.stepTime)
			}
		}
	}
	return r
}

// change lists who came and went.
func (g *group) change(s *step, stuck map[*departure][]string) inspect.Change {
	ch := inspect.Change{Before: len(s.Before), After: len(s.After),
		Joined: []inspect.Join{}, Left: []inspect.Departure{}, Replaced: []inspect.Replacement{}}
	for _, m := range s.Joined {
		ch.Joined = append(ch.Joined, join(s, m))
	}
	for _, d := range s.left {
		ch.Left = append(ch.Left, g.left(d, stuck[d]))
	}
	for _, sw := range s.replaced {
		r := inspect.Replacement{ClientID: sw.New.ClientID, Host: sw.Old.Host, OldMemberID: sw.Old.ID, NewMemberID: sw.New.ID, InstanceID: sw.New.InstanceID}
		if sw.New.Host != sw.Old.Host {
			r.NewHost = sw.New.Host
		}
		ch.Replaced = append(ch.Replaced, r)
	}
	return ch
}

// join says who came, and since when it had been away.
func join(s *step, m *membership.Member) inspect.Join {
	j := inspect.Join{ClientID: m.ClientID, Host: m.Host, MemberID: m.ID, InstanceID: m.InstanceID}
	if d := s.back[m.ID]; d != nil {
		j.Back = d.step.ID
		from := d.ev.lastAt
		if from.IsZero() {
			from = d.ev.hi
		}
		j.BackAfter = inspect.Ms(max(0, s.At.Sub(from)))
		j.Out = inspect.Ms(max(0, s.At.Sub(d.ev.hi)))
	}
	return j
}

// left is one departure in full.
func (g *group) left(d *departure, stuck []string) inspect.Departure {
	e, m := d.ev, d.Member
	out := inspect.Departure{ClientID: m.ClientID, Host: m.Host, MemberID: m.ID, InstanceID: m.InstanceID, Client: m.Client,
		LeftBetween: [2]inspect.Time{inspect.At(e.lo), inspect.At(e.hi)}, Commits: e.n, Session: m.Session, Rebalance: m.Rebalance, Assumed: e.basis,
		Cause: d.v.cause, Confidence: d.v.conf, Returned: d.v.returned, IdlePartitions: []string{}, Stuck: stuck}
	if e.n > 0 {
		out.LastCommit, out.LastAdvance = inspect.At(e.lastAt), inspect.At(e.advanceAt)
		out.Silent = &[2]inspect.Millis{inspect.Millis(e.gapLo), inspect.Millis(e.gapHi)}
		if e.uncounted > 0 {
			out.Common = inspect.Ms(e.uncounted)
		}
		out.Idle = g.idle(d)
		for _, k := range e.idle {
			out.IdlePartitions = append(out.IdlePartitions, k.String())
		}
	}
	out.Process, out.Paused = e.process.word(&d.v), d.v.paused
	out.Rivals, out.InBatch, out.Stall, out.OthersCoped = d.v.rivals, d.v.inBatch, g.stall(d), e.waiting == 1
	if out.Stall != nil && e.cad.timer {
		out.Interval = inspect.Ms(e.cad.median)
	}
	if e.cad.perRecord && e.cad.stepTime > 0 {
		out.Step = inspect.Ms(e.cad.stepTime)
	}
	if back := d.ret; back != nil {
		out.BackAs, out.BackIn = back.m.ID, back.step.ID
		from := e.lastAt
		if from.IsZero() {
			from = e.hi
		}
		out.BackAfter = inspect.Ms(max(0, back.step.At.Sub(from)))
		out.Out = inspect.Ms(max(0, back.step.At.Sub(e.hi)))
	}
	return out
}

// idle is how long the departed member's partitions stood still until they had an
// owner again: since its last progress where records waited, since its last commit
// where that is not known, and null where nothing waited.
func (g *group) idle(d *departure) *inspect.Millis {
	from := d.ev.lastAt
	switch d.ev.waiting {
	case 1:
		from = d.ev.advanceAt
	case -1:
		return nil
	}
	return inspect.Ms(max(0, d.step.EndAt.Sub(from)))
}

// stall is the longest time between two polls that a departure shows: from the
// last commit that moved an offset to the return, and one interval more where a
// timer commits, because the work may have stalled right after its beat. An
// overrun inside a batch shows none, as its commits ran on, and neither does a return
// that a move of the coordinator delayed.
func (g *group) stall(d *departure) *inspect.Millis {
	e := d.ev
	if d.ret == nil || e.n == 0 || d.v.inBatch || e.gapHi <= e.cad.most || e.process.Fate == inspect.FateEnded {
		return nil
	}
	if d.v.cause != inspect.PollIntervalExceeded && d.v.cause != inspect.SessionExpired && d.v.cause != inspect.SyncPhaseExpired {
		return nil
	}
	if g.leaderChanged(d.Pos, d.ret.step.Pos) {
		return nil // it may have been ready long before there was a coordinator to join
	}
	stall := d.ret.step.At.Sub(e.advanceAt)
	if e.cad.timer {
		stall += e.cad.median
	}
	if stall > 10*time.Second { // what follows from it is rounded far more
		stall = prose.WholeSeconds(stall)
	}
	return inspect.Ms(max(0, stall))
}

// paused takes how long the rebalance kept the members that stayed from working.
func (g *group) paused(s *step, r *inspect.Rebalance) {
	p := s.Paused(g.in.Observations)
	r.Stopped, r.StoppedAtMost, r.StoppedBasis, r.Rebalancing = p.Least, p.Most, p.Basis, p.Rebalancing
}

// laneNames gives every member a lane: instance id, or client id, with the host
// where several members share the client id, and the member id's end where they
// share both.
func (g *group) laneNames() map[string]string {
	twins := map[string]bool{} // client id, or client id and host, that several had at once
	for _, s := range g.steps {
		count := map[string]int{}
		for _, m := range s.After {
			if !m.Static() {
				count[m.ClientID]++
				count[m.ClientID+"\x00"+m.Host]++
			}
		}
		for k, n := range count {
			twins[k] = twins[k] || n > 1
		}
	}
	out := map[string]string{}
	for id, m := range g.Seen {
		out[id] = m.Label(twins[m.ClientID], twins[m.ClientID+"\x00"+m.Host])
	}
	return out
}

// spans are the lives of the members for the lane chart.
func (g *group) spans() []inspect.Span {
	lanes := g.laneNames()
	var out []inspect.Span
	open := map[string]time.Time{}
	add := func(id string, from, to time.Time, kind string) {
		if to.After(from) {
			out = append(out, inspect.Span{Lane: lanes[id], From: inspect.At(from), To: inspect.At(to), Kind: kind})
		}
	}
	for _, s := range g.steps {
		for _, sw := range s.replaced {
			if from, ok := open[sw.Old.ID]; ok {
				add(sw.Old.ID, from, s.At, "member")
				delete(open, sw.Old.ID)
			}
		}
		for _, d := range s.left {
			g.departureSpans(d, open, add)
		}
		for id := range s.After {
			if _, ok := open[id]; !ok {
				open[id] = s.At
			}
		}
	}
	for id, from := range open {
		if g.Members[id] != nil {
			add(id, from, g.end, "member")
		}
	}
	slices.SortFunc(out, func(a, b inspect.Span) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), a.From.Compare(b.From.Time), cmp.Compare(a.Kind, b.Kind), a.To.Compare(b.To.Time))
	})
	return out
}

// departureSpans closes the life of a departed member: with commits, silent, out.
func (g *group) departureSpans(d *departure, open map[string]time.Time, add func(string, time.Time, time.Time, string)) {
	id, e := d.Member.ID, d.ev
	from, ok := open[id]
	if !ok {
		from = e.lo
		if len(e.cad.ticks) > 0 {
			from = e.cad.ticks[0].at
		}
	}
	delete(open, id)
	silent := e.hi
	since := e.lastAt
	if e.waiting == 1 {
		since = e.advanceAt
	}
	if e.n > 0 && e.hi.Sub(since) > 2*e.cad.most {
		silent = since
	}
	add(id, from, silent, "member")
	add(id, silent, e.hi, "silent")
	if d.ret != nil {
		add(id, e.hi, d.ret.step.At, "out")
	}
}

// mostPauses is how many pauses a timeline keeps.
const mostPauses = 20

// pauses finds the longest silences of members that went on afterwards. Only
// commits that come with the work count: a timer's silence is its interval.
func (g *group) pauses() []inspect.Pause {
	lanes := g.laneNames()
	var out []inspect.Pause
	for i, s := range g.steps {
		until := len(g.Records)
		if i+1 < len(g.steps) {
			until = g.steps[i+1].First
		}
		for _, m := range membership.ByID(s.After) {
			held := map[membership.TopicPartition]int{}
			for _, k := range m.Assigned {
				held[k] = s.Pos
			}
			out = append(out, pausesIn(m, lanes[m.ID], g.commitsOf(held, until))...)
		}
	}
	slices.SortStableFunc(out, func(a, b inspect.Pause) int {
		return cmp.Or(cmp.Compare(b.Length, a.Length), a.From.Compare(b.From.Time))
	})
	return out[:min(len(out), mostPauses)]
}

// pausesIn are the pauses among one member's commits: at least five times its
// median, with records that had waited at the end.
func pausesIn(m *membership.Member, lane string, ticks []tick) []inspect.Pause {
	c := pace(ticks)
	if len(ticks) < leastCommits || c.timer || c.median <= 0 {
		return nil
	}
	var out []inspect.Pause
	for i := 1; i < len(ticks); i++ {
		d := ticks[i].from().Sub(ticks[i-1].at)
		if !ticks[i].thin && d >= 5*c.median && d >= time.Second && workedOff(ticks[i:], c.rate*d.Seconds()) {
			out = append(out, inspect.Pause{Lane: lane, MemberID: m.ID, ClientID: m.ClientID,
				From: inspect.At(ticks[i-1].at), To: inspect.At(ticks[i].from()), Length: inspect.Millis(d)})
		}
	}
	return out
}

// workedOff reports whether the second after a pause saw at least half of the
// records that had come in it.
func workedOff(ticks []tick, due float64) bool {
	var sum int64
	for _, k := range ticks {
		if k.at.Sub(ticks[0].at) > time.Second {
			break
		}
		sum += max(0, k.total)
	}
	return sum >= 2 && float64(sum) >= due/2
}
