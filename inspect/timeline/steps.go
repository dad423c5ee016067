package timeline

import (
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/membership"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// findReturns looks for the return of everybody who went in a step.
func (t *track) findReturns(s *step) {
	for _, d := range s.left {
		d.ret = t.comeback(d, s.index)
		if d.step.ServerSide {
			t.earlyReturn(d)
		}
	}
}

// comeback is the first later join of the same member, instance, or client.
func (t *track) comeback(d *departure, at int) *comeback {
	if d.Swap != nil {
		return &comeback{step: d.step, m: d.Swap, by: "client", ambiguous: t.shared(d, d.step)}
	}
	for _, s := range t.steps[at+1:] {
		for _, r := range s.replaced {
			if d.Member.Static() && r.New.Instance() == d.Member.Instance() {
				return &comeback{step: s, m: r.New, by: "instance"}
			}
		}
		for _, m := range s.Joined {
			switch {
			case m.ID == d.Member.ID:
				return &comeback{step: s, m: m, by: "member"}
			case d.Member.Static() && m.Instance() == d.Member.Instance():
				return &comeback{step: s, m: m, by: "instance"}
			}
		}
		if c := t.byClient(d, s); c != nil {
			return c
		}
	}
	return nil
}

// byClient matches a return by client id and host, or by a client id that one
// member alone has, on a new host.
func (t *track) byClient(d *departure, s *step) *comeback {
	if d.Member.Static() || d.Member.ClientID == "" {
		return nil
	}
	for _, m := range s.Joined {
		if m.Static() || m.ClientID != d.Member.ClientID || t.returnsByID(m) {
			continue
		}
		amb := t.shared(d, s)
		if m.Host == d.Member.Host {
			return &comeback{step: s, m: m, by: "client", ambiguous: amb}
		}
		if !amb {
			return &comeback{step: s, m: m, by: "client", newHost: true}
		}
	}
	return nil
}

// returnsByID reports a KIP-848 member that is itself a return under its old id.
func (t *track) returnsByID(m *membership.Member) bool {
	if !m.ServerSide {
		return false
	}
	list := t.leaves[m.ID]
	return len(list) > 0 && list[0].Before(m.Since)
}

// shared reports whether several members went by this client id at the time, so
// that a return cannot be told to be this one's.
func (t *track) shared(d *departure, s *step) bool {
	if d.Member.Static() {
		return false
	}
	n := 0
	for _, m := range d.step.Before {
		if m.ClientID == d.Member.ClientID {
			n++
		}
	}
	return n > 1
}

// earlyReturn: under KIP-848 a restarted process joins under a new id while the
// broker still waits for the old one.
func (t *track) earlyReturn(d *departure) {
	if t.shared(d, d.step) && !t.onlyTwins(d) {
		return
	}
	for _, s := range t.steps {
		if s == d.step || s.At.After(d.step.At) {
			break
		}
		for _, m := range s.Joined {
			if m.ID != d.Member.ID && membership.SameClient(d.Member, m) && d.step.After[m.ID] != nil && s.Before[d.Member.ID] != nil {
				last := t.lastCommit(d)
				if last.IsZero() || s.At.After(last) {
					d.early = &comeback{step: s, m: m, by: "client"}
				}
			}
		}
	}
}

// onlyTwins: the only other member of that client id is the one that came later.
func (t *track) onlyTwins(d *departure) bool {
	n := 0
	for _, m := range d.step.Before {
		if m.ClientID == d.Member.ClientID {
			n++
		}
	}
	return n == 2
}

func (t *track) lastCommit(d *departure) time.Time {
	ticks := t.commitsOf(d.Held, d.Pos)
	if len(ticks) == 0 {
		return time.Time{}
	}
	return ticks[len(ticks)-1].at
}

// judgeStep finds the causes of a step's departures, and then its own.
func (t *track) judgeStep(s *step) {
	for _, d := range s.left {
		d.ev = t.weigh(d)
		d.v = t.judge(d)
		t.stated(d)
	}
	for i := range s.replaced {
		t.judgeSwap(s, &s.replaced[i])
	}
}

// judgeSwap tells a restarted static member from two processes under one id.
func (t *track) judgeSwap(s *step, r *replacement) {
	r.conf = inspect.High
	end := s.Pos
	if !r.Old.StaticLeft.IsZero() {
		end = r.Old.StaticLeftPos
	}
	ticks := t.commitsOf(r.Held, end)
	c := pace(ticks)
	moved := r.Old.Host != "" && r.New.Host != r.Old.Host
	if moved && !s.ServerSide {
		r.fenced, r.conf = true, inspect.Low
		return
	}
	if s.ServerSide { // a duplicate is refused under KIP-848 and writes nothing
		if !moved { // or it is another process for sure
			r.absent(s, ticks, c)
		}
		return
	}
	if len(ticks) < leastCommits {
		r.conf = inspect.Medium
		return
	}
	gap := s.At.Sub(ticks[len(ticks)-1].at)
	switch {
	case gap >= 2*c.most:
	case gap < leastRestart && !c.timer || t.swappedAgain(s, r):
		// No process starts that quickly, or the two put each other out in turn.
		r.fenced, r.conf = true, inspect.Medium
	default:
		r.conf = inspect.Low
	}
}

// absent looks at a static KIP-848 member that said that it goes for a while, and
// came back within its session. Who stops a process and who overruns the poll
// interval says the same; the silence before it tells them apart, and the return:
// a process that lives on has its member id, or is back at once.
func (r *replacement) absent(s *step, ticks []tick, c cadence) {
	left := r.Old.StaticLeft
	if left.IsZero() {
		return
	}
	away, lives := s.At.Sub(left), r.Old.ID == r.New.ID
	if len(ticks) < leastCommits && !lives {
		r.conf, r.mayOverran = inspect.Medium, true
		return
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
		r.overran, r.conf, r.why = true, inspect.Medium, "the process that said that it goes came back under its own member id: it did not stop"
	case away < atOnce:
		r.overran, r.conf, r.why = true, inspect.Medium, "it was back "+dur(away)+" after it said that it goes: no process starts that quickly"
	case limit > 0 && gap >= limit-100*time.Millisecond && gap <= limit+c.most+slack:
		r.overran, r.conf, r.why = true, inspect.Medium, "it said that it goes "+dur(gap)+" after its last commit, that is max.poll.interval.ms "+dur(limit)
	case limit > 0 && gap >= limit-c.most && c.timer:
		r.conf, r.mayOverran = inspect.Low, true
	case !c.timer && !c.polls(r.Old) && !polledSince(ticks, left.Add(-limit), r.Old) && gap <= c.most+300*time.Millisecond:
		r.conf, r.mayOverran = inspect.Low, true
	}
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
func (t *track) swappedAgain(s *step, r *replacement) bool {
	for _, o := range t.steps {
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

// conclude is the cause of the step as a whole.
func (t *track) conclude(s *step) {
	out := &s.out
	out.Rivals, out.Evidence = []inspect.Rival{}, []string{}
	out.Basis = inspect.Inferred
	switch {
	case s.Migrated:
		t.set(out, inspect.ProtocolChanged, inspect.High, inspect.Stated, "from "+s.ProtocolFrom+" to "+s.ProtocolTo)
	case s.Deleted:
		t.set(out, inspect.GroupDeleted, inspect.High, inspect.Stated, "tombstone of the group: deleted, or all its offsets expired")
	case s.Base:
		t.set(out, inspect.UnknownCause, inspect.Low, inspect.Inferred, "what was before it was not read, or is compacted away")
	case len(s.left) > 0:
		t.concludeLeft(s)
	case len(s.replaced) > 0:
		t.concludeSwap(s)
	case len(s.Joined) > 0:
		t.set(out, inspect.MemberJoined, inspect.High, inspect.Stated, joinedText(s.Joined))
	case s.Doubt != "":
		t.set(out, inspect.UnknownCause, inspect.Low, inspect.Inferred, s.Doubt)
	case len(s.Subscriptions) > 0:
		t.set(out, inspect.SubscriptionChanged, inspect.High, inspect.Stated, s.Subscriptions...)
	case s.Topics != "":
		t.set(out, inspect.TopicMetadataChanged, inspect.High, inspect.Inferred, s.Topics)
	case s.ProtocolFrom != s.ProtocolTo && s.ProtocolFrom != "" && s.ProtocolTo != "":
		t.set(out, inspect.AssignorChanged, inspect.High, inspect.Stated, "assignor "+s.ProtocolFrom+" became "+s.ProtocolTo)
	case len(s.Grown) > 0:
		t.set(out, inspect.TopicMetadataChanged, inspect.High, inspect.Inferred, "nobody had "+partitions(s.Grown)+" before: partitions were added, or a topic came")
	default:
		t.concludeNothing(s)
	}
	if s.Skipped > 0 {
		out.Evidence = append(out.Evidence, itoa(s.Skipped)+" join round(s) before it ended without a sync")
	}
	if s.Compacted {
		// Who came and went is the sum of all that was eaten: no cause of this one.
		out.Confidence = inspect.Low
		for _, d := range s.left {
			d.v.conf = inspect.Low
		}
		out.Notes = append(out.Notes, "earlier generations are compacted away")
	}
}

func (t *track) set(out *inspect.Rebalance, c inspect.Cause, conf inspect.Confidence, b inspect.Basis, evidence ...string) {
	out.Cause, out.Confidence, out.Basis = c, conf, b
	out.Evidence = append(out.Evidence, evidence...)
}

func joinedText(joined []*membership.Member) string {
	var names []string
	for _, m := range joined {
		names = append(names, m.Name())
	}
	return strings.Join(names, ", ") + " joined"
}

func partitions(list []membership.TopicPartition) string {
	var out []string
	for _, k := range list {
		out = append(out, k.String())
	}
	return strings.Join(prose.First(out, 8), ", ")
}

// weight orders the causes of departures by how much they explain: one that nobody
// knows explains nothing.
func weight(c inspect.Cause) int {
	if c == inspect.UnknownCause {
		return 0
	}
	return c.Info().Weight
}

// concludeLeft names the step after the departure that weighs most; where the
// departures are of different causes, the step is no surer than the least sure.
func (t *track) concludeLeft(s *step) {
	worst := s.left[0]
	for _, d := range s.left[1:] {
		if a, b := rank(d.v.conf), rank(worst.v.conf); weight(d.v.cause) > weight(worst.v.cause) && a >= b || a > b && weight(d.v.cause) > 0 {
			worst = d
		}
	}
	out := &s.out
	v := worst.v
	t.set(out, v.cause, v.conf, v.basis, v.why...)
	out.Rivals = append(out.Rivals, v.rivals...)
	out.Returned = v.returned
	if s.Empty && (v.cause == inspect.MemberLeft || v.cause == inspect.UnknownCause) {
		out.Rivals = slices.DeleteFunc(out.Rivals, func(r inspect.Rival) bool { return v.cause == inspect.UnknownCause && r.WhyNot != "" })
		out.Cause, out.Basis = inspect.GroupEmptied, inspect.Stated
		out.Evidence = append([]string{"nobody is left in the group"}, out.Evidence...)
	}
	for _, d := range s.left {
		if d != worst && d.v.cause != v.cause {
			out.Notes = append(out.Notes, d.Member.Name()+": "+string(d.v.cause)+", "+string(d.v.conf))
		}
	}
}

func rank(c inspect.Confidence) int {
	switch c {
	case inspect.High:
		return 2
	case inspect.Medium:
		return 1
	}
	return 0
}

func (t *track) concludeSwap(s *step) {
	out := &s.out
	r := s.replaced[0]
	for _, o := range s.replaced[1:] {
		if o.fenced && !r.fenced || o.overran && !r.fenced && !r.overran {
			r = o
		}
	}
	if r.fenced {
		text := "another process took " + r.New.Instance() + " while the old one was still committing"
		if r.New.Host != r.Old.Host {
			text = r.New.Instance() + " moved from " + r.Old.Host + " to " + r.New.Host
		}
		t.set(out, inspect.StaticMemberFenced, r.conf, inspect.Inferred, text)
		out.Rivals = append(out.Rivals, inspect.Rival{Cause: inspect.StaticMemberRestarted})
		return
	}
	if r.overran {
		t.set(out, inspect.PollIntervalExceeded, r.conf, inspect.Inferred, r.why)
		out.Rivals = append(out.Rivals, inspect.Rival{Cause: inspect.StaticMemberRestarted})
		return
	}
	t.set(out, inspect.StaticMemberRestarted, r.conf, inspect.Inferred, r.New.Instance()+" came back under a new member id in the same generation")
	if r.mayOverran {
		out.Rivals = append(out.Rivals, inspect.Rival{Cause: inspect.PollIntervalExceeded})
		out.Evidence = append(out.Evidence, "an overrun of its poll interval, after which the same process came back, would look the same")
	}
	if r.conf != inspect.High && !s.ServerSide {
		out.Rivals = append(out.Rivals, inspect.Rival{Cause: inspect.StaticMemberFenced})
	}
}

// concludeNothing: a new generation in which nothing changed.
func (t *track) concludeNothing(s *step) {
	out := &s.out
	moved := t.movedBefore(s)
	switch {
	case moved:
		t.set(out, inspect.CoordinatorMoved, inspect.Medium, inspect.Inferred, "the coordinator moved since the last commit before it, and nothing else changed")
	case s.Skipped > 0:
		t.set(out, inspect.AssignmentFailed, inspect.Medium, inspect.Inferred, "nothing changed, and generations before it never reached the log: the leader did not sync, or the append failed")
	default:
		t.set(out, inspect.UnknownCause, inspect.Low, inspect.Inferred, "nothing changed: a member asked to rejoin (enforceRebalance, or a member that came and went within one join)")
	}
}

// movedBefore reports a new leader epoch between the record before the step and it.
func (t *track) movedBefore(s *step) bool {
	return t.leaderChanged(max(0, s.First-2), s.First)
}
