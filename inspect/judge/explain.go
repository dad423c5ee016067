package judge

import (
	"slices"
	"strings"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/internal/prose"
)

// explanation is one way to read a departure: the cause that it gives, when it fits,
// and what keeps it from being sure. The first of explanations that fits is taken.
type explanation struct {
	name  string
	fits  func(e *evidence) bool
	cause inspect.Cause
	named func(e *evidence) inspect.Cause // instead of cause, where the evidence says which
	conf  inspect.Confidence              // before the doubts
	// opens says what was looked at, and says why it is this cause. Optional.
	opens func(e *evidence, v *verdict)
	says  func(e *evidence) string
	// rivals are the other causes that look the same. Optional.
	rivals  func(e *evidence) []inspect.Cause
	doubts  [][]doubt
	inBatch bool
	back    inspect.Returned // "" what the return says
}

// doubt is something that keeps an explanation from being surer: while it holds, the
// confidence has a cap, a rival is named, and a sentence says so, each of which may be
// missing.
type doubt struct {
	when  func(e *evidence, v *verdict) bool
	cap   inspect.Confidence
	rival inspect.Cause
	says  func(e *evidence) string
	// drain marks the doubt that goes where the same happened again and again.
	drain bool
}

// explain reads a departure by what it left behind itself: the first explanation that
// fits, and all doubts about it.
func explain(e *evidence) verdict {
	x := &explanations[slices.IndexFunc(explanations, func(x explanation) bool { return x.fits(e) })]
	v := verdict{basis: inspect.Inferred, returned: returnedAs(e)}
	if x.back != "" {
		v.returned = x.back
	}
	if x.opens != nil {
		x.opens(e, &v)
	}
	v.cause, v.conf, v.undrained, v.inBatch = x.cause, x.conf, x.conf, x.inBatch
	if x.named != nil {
		v.cause = x.named(e)
	}
	if x.says != nil {
		v.say(x.says(e))
	}
	if x.rivals != nil {
		for _, c := range x.rivals(e) {
			v.add(c, "")
		}
	}
	for _, list := range x.doubts {
		for i := range list {
			v.doubt(e, &list[i])
		}
	}
	if e.heldSurely(&v) {
		return e.waitedFor(v)
	}
	return v
}

// explanations is the table, in order: what a record or a poll shows comes before what
// silence suggests, and what voids silence before any measure of it.
var explanations = []explanation{
	{name: "kept partitions that it had to give up", cause: inspect.RejoinTimedOut, conf: inspect.High,
		fits: (*evidence).keptPartitions, says: saysKeptPartitions},
	{name: "the coordinator moved", cause: inspect.CoordinatorMoved, conf: inspect.Low,
		fits: func(e *evidence) bool { return e.moved }, rivals: (*evidence).possible,
		says: always("the coordinator moved in between, which restarts every session: silence proves nothing")},
	{name: "both processes were seen", cause: inspect.RestartedWithinSession, conf: inspect.High, back: inspect.ReturnedNewProcess,
		fits: func(e *evidence) bool { return e.bothSeen && !e.livesOn() },
		says: always("seen live: the new process had joined while the old one still was a member"),
		doubts: [][]doubt{{
			{cap: inspect.Medium, when: func(e *evidence, _ *verdict) bool { return e.ret != nil && e.ret.ambiguous }},
			{cap: inspect.Low, rival: inspect.SessionExpired, when: func(e *evidence, _ *verdict) bool { return e.step.wholesale() },
				says: always("so it was with every member at once: clients that lost their coordinator join again under new ids, and the processes may be the same ones")},
		}}},
	{name: "too slow to sync", cause: inspect.SyncPhaseExpired, conf: inspect.Medium,
		fits: (*evidence).slowToSync, says: saysSlowToSync,
		rivals: these(inspect.SessionExpired, inspect.PollIntervalExceeded), doubts: [][]doubt{joinDoubts}},

	// Without commits, only ids and structure speak.
	{name: "no commits, and a new process had come", cause: inspect.SessionExpired, conf: inspect.Medium, opens: opensUnmeasured,
		fits:   func(e *evidence) bool { return !e.measured() && e.early != nil },
		says:   always("the same client had joined under a new id while the old one was still a member: the old process was gone without a LeaveGroup"),
		rivals: these(inspect.MemberLeft), doubts: [][]doubt{joinDoubts}},
	{name: "no commits, and too soon after a join", cause: inspect.MemberLeft, conf: inspect.Medium, opens: opensUnmeasured,
		fits: func(e *evidence) bool { return !e.measured() && e.tookPartLately() },
		says: saysTookPart, doubts: [][]doubt{tookPartDoubts, joinDoubts}},
	{name: "no commits, and replaced in one record", cause: inspect.RestartedWithinSession, conf: inspect.Low, opens: opensUnmeasured,
		fits:   func(e *evidence) bool { return !e.measured() && e.Swap != nil && !e.step.ServerSide && !e.apart },
		says:   always("the same client had joined by the time that the old member was gone"),
		rivals: (*evidence).possible},
	{name: "no commits", cause: inspect.UnknownCause, conf: inspect.Low, opens: opensUnmeasured,
		fits:   func(e *evidence) bool { return !e.measured() },
		rivals: (*evidence).possible, doubts: [][]doubt{joinDoubts}},

	{name: "the offset did not advance", cause: inspect.PollIntervalExceeded, conf: inspect.Medium,
		fits: (*evidence).isFrozen, says: saysFrozen, rivals: these(inspect.MemberLeft),
		doubts: [][]doubt{{
			{cap: inspect.Low, when: func(e *evidence, _ *verdict) bool { return e.ret == nil }},
			{cap: inspect.Low, rival: inspect.SessionExpired,
				when: func(e *evidence, _ *verdict) bool { return e.session > 0 && e.gapHi >= e.session-slack }},
		}, joinDoubts}},

	// From here on the silence is measured.
	{name: "too soon after a join", cause: inspect.MemberLeft, conf: inspect.Medium, opens: opensMeasured,
		fits: func(e *evidence) bool { return (e.meaningless || len(e.causes) == 0) && e.tookPartLately() },
		says: saysTookPart, doubts: [][]doubt{tookPartDoubts, silenceDoubts, joinDoubts}},
	{name: "too soon for any timeout", cause: inspect.MemberLeft, conf: inspect.Low, opens: opensMeasured,
		fits: func(e *evidence) bool { return e.meaningless && e.closeAloneIsLeft() },
		says: always("too soon after its last commit for any timeout to have ended" + leftByItself), doubts: [][]doubt{silenceDoubts, joinDoubts}},
	{name: "no records waited", cause: inspect.UnknownCause, conf: inspect.Low, opens: opensMeasured,
		fits:   func(e *evidence) bool { return e.meaningless },
		says:   always("no records waited on its partitions, so its silence says nothing"),
		rivals: (*evidence).possible, doubts: [][]doubt{silenceDoubts, joinDoubts}},

	// The silence lies between the windows.
	{name: "no session to compare with", cause: inspect.UnknownCause, conf: inspect.Low, opens: opensMeasured,
		fits:   func(e *evidence) bool { return len(e.causes) == 0 && e.session == 0 },
		rivals: (*evidence).possible, doubts: [][]doubt{silenceDoubts, joinDoubts}},
	{name: "too soon for its session", cause: inspect.MemberLeft, conf: inspect.Low, opens: opensMeasured,
		fits:   func(e *evidence) bool { return len(e.causes) == 0 && e.tooSoonForSession() },
		says:   saysTooSoonForSession,
		rivals: these(inspect.PollIntervalExceeded), doubts: [][]doubt{silenceDoubts, joinDoubts}},
	{name: "a poll interval that is not on the wire", cause: inspect.PollIntervalExceeded, conf: inspect.Low, opens: opensMeasured,
		fits:   func(e *evidence) bool { return len(e.causes) == 0 && e.unseenInterval() },
		says:   always("silent for longer than its session allows, so it went on heartbeating, then left and came back: its poll interval, which is not on the wire, ended"),
		rivals: these(inspect.MemberLeft, inspect.SessionExpired), doubts: [][]doubt{silenceDoubts, joinDoubts}},
	{name: "a late overrun", cause: inspect.PollIntervalExceeded, conf: inspect.Low,
		opens: func(e *evidence, v *verdict) {
			opensMeasured(e, v)
			v.rivals = withoutRival(v.rivals, inspect.PollIntervalExceeded)
		},
		fits: func(e *evidence) bool { return len(e.causes) == 0 && e.lateOverrun() },
		says: saysLateOverrun, rivals: (*evidence).possible, doubts: [][]doubt{silenceDoubts, joinDoubts}},
	{name: "no timeout fits", cause: inspect.UnknownCause, conf: inspect.Low, opens: opensMeasured,
		fits: func(e *evidence) bool { return len(e.causes) == 0 }, says: always("the silence fits no timeout"),
		rivals: (*evidence).possible, doubts: [][]doubt{silenceDoubts, joinDoubts}},

	// The last commit came on the beat of what looks like a timer, and the member went
	// before the next. A closing client commits out of turn, so either the commits come
	// from a loop of the application and it closed, or a background committer went on
	// while the poll loop did not.
	{name: "on the beat, and back", cause: inspect.PollIntervalExceeded, conf: inspect.Low, opens: opensMeasured,
		fits: func(e *evidence) bool { return e.onBeat() && e.ret != nil }, says: saysOnBeat,
		rivals: these(inspect.MemberLeft), doubts: [][]doubt{silenceDoubts, joinDoubts}},
	{name: "on the beat", cause: inspect.MemberLeft, conf: inspect.Low, opens: opensMeasured,
		fits: (*evidence).onBeat, says: saysOnBeat,
		rivals: these(inspect.PollIntervalExceeded), doubts: [][]doubt{silenceDoubts, joinDoubts}},

	// Exactly one cause fits.
	{name: "a close that was none", cause: inspect.PollIntervalExceeded, conf: inspect.Low, inBatch: true, opens: opensMeasured,
		// The process lives on: it was no close.
		fits: func(e *evidence) bool {
			return e.only(inspect.MemberLeft) && e.livesOn() && e.Member.StaticLeft.IsZero()
		},
		says: saysHits, rivals: these(inspect.MemberLeft),
		doubts: [][]doubt{{
			{when: certainly, says: always("the same process came back, so it did not close: an overrun inside a batch whose records are committed one by one, or an unsubscribe")},
			closingCommit,
		}, silenceDoubts, joinDoubts}},
	{name: "a close", cause: inspect.MemberLeft, conf: inspect.High, opens: opensMeasured,
		fits: func(e *evidence) bool { return e.only(inspect.MemberLeft) }, says: saysHits,
		doubts: [][]doubt{measureDoubts, closeDoubts, silenceDoubts, joinDoubts}},
	{name: "its session", named: sessionOrRestart, conf: inspect.High, opens: opensMeasured,
		fits: func(e *evidence) bool { return e.only(inspect.SessionExpired) }, says: saysHits,
		doubts: [][]doubt{measureDoubts, assumedDoubts, sessionDoubts, timeoutDoubts, weakDoubts, sessionDrainDoubts, silenceDoubts, joinDoubts}},
	{name: "its poll interval", cause: inspect.PollIntervalExceeded, conf: inspect.High, opens: opensMeasured,
		fits: func(e *evidence) bool { return e.only(inspect.PollIntervalExceeded) }, says: saysHits,
		doubts: [][]doubt{measureDoubts, assumedDoubts, timeoutDoubts, overrunDoubts, weakDoubts, overrunDrainDoubts, silenceDoubts, joinDoubts}},

	{name: "several", conf: inspect.Low, opens: opensMeasured, named: func(e *evidence) inspect.Cause {
		if c := best(e); c != inspect.SessionExpired {
			return c
		}
		return sessionOrRestart(e)
	},
		fits: func(*evidence) bool { return true },
		says: func(e *evidence) string { return "the silence fits " + names(e.hits) },
		rivals: func(e *evidence) []inspect.Cause {
			b := best(e)
			return slices.DeleteFunc(slices.Clone(e.causes), func(c inspect.Cause) bool { return c == b })
		},
		doubts: [][]doubt{{{rival: inspect.MemberLeft, when: func(e *evidence, _ *verdict) bool { return e.mayHaveDrained() }}}, silenceDoubts, joinDoubts}},
}

// The doubts, by what they are about.
var (
	// measureDoubts: high asks for a cadence, and for a departure that is bounded.
	measureDoubts = []doubt{
		{cap: inspect.Medium, when: func(e *evidence, _ *verdict) bool { return e.n < sureCommits }},
		{cap: inspect.Medium, when: func(e *evidence, _ *verdict) bool { return !e.seenWhen() && !surely(e, e.causes[0]) }},
		{cap: inspect.Medium, when: func(e *evidence, _ *verdict) bool { return e.step.Skipped != 0 }},
		{cap: inspect.Medium, when: func(e *evidence, _ *verdict) bool { return !e.narrow() }},
	}
	// assumedDoubts: a timeout that nobody read.
	assumedDoubts = []doubt{{cap: inspect.Medium, when: func(e *evidence, _ *verdict) bool { return e.assumed }}}

	// closingCommit is no doubt but what speaks for a close.
	closingCommit = doubt{when: func(e *evidence, _ *verdict) bool { return e.cad.timer },
		says: func(e *evidence) string {
			return "its last commit came before the timer's beat of " + dur(e.cad.median) + ", as a closing commit does"
		}}
	// closeDoubts: what looks like a clean close may be an overrun inside a batch.
	closeDoubts = []doubt{
		{cap: inspect.Low, when: func(e *evidence, _ *verdict) bool { return e.inBatch },
			says: always("an overrun inside a batch whose records are committed one by one would look the same")},
		{cap: inspect.Medium, rival: inspect.PollIntervalExceeded,
			when: func(e *evidence, _ *verdict) bool { return !e.inBatch && !e.cad.timer && !e.inTime() },
			says: always("it commits by itself, so an overrun inside a batch, after which it did not come back, is possible")},
		// No timeout of a classic member that polled in time, or whose commits come with its
		// polls, ends that soon after a commit. A background committer outlives the poll loop,
		// and a KIP-848 member's return may show that it lives on.
		{cap: inspect.Medium,
			when: func(e *evidence, _ *verdict) bool {
				return !e.inBatch && (e.cad.timer || e.inTime()) && !e.cameBack() && !e.tailed &&
					(e.server() || !e.inTime() && e.family != inspect.Java)
			},
			says: always("the log ends too soon to show a return")},
		closingCommit,
		weakDoubts[0],
	}
	sessionDoubts = []doubt{
		{cap: inspect.Medium, rival: inspect.PollIntervalExceeded, when: func(e *evidence, _ *verdict) bool { return e.littleOver() },
			says: func(e *evidence) string {
				return "a poll interval of " + dur(e.rebalance) + " that a busy machine noticed late would look the same"
			}},
		{cap: inspect.Medium, rival: inspect.PollIntervalExceeded,
			when: func(e *evidence, _ *verdict) bool {
				return e.equal() && !e.step.ServerSide && e.family == inspect.Unknown
			},
			says: always("its rebalance timeout is as long: where that is its poll interval, an overrun looks the same")},
		{rival: inspect.MemberLeft, when: func(e *evidence, _ *verdict) bool { return !e.cameBack() && !e.onlyExpires() },
			says: always("a crash, and a close by a client that sends no LeaveGroup, look the same")},
		{when: func(e *evidence, _ *verdict) bool { return !e.cameBack() && e.onlyExpires() },
			says: always("it sends no LeaveGroup when it closes, so whether it crashed or was stopped does not show")},
	}
	overrunDoubts = []doubt{
		{rival: inspect.MemberLeft, when: func(e *evidence, _ *verdict) bool { return !e.cameBack() },
			says: always("it did not come back; a close after draining for as long would look the same")},
	}
	// timeoutDoubts: that records waited in the silence, and a return that is its own.
	timeoutDoubts = []doubt{
		{cap: inspect.Medium, when: func(e *evidence, _ *verdict) bool { return e.waiting != 1 && !e.cad.repeats }},
		// An expiry that nothing else looks like needs no return.
		{cap: inspect.Medium, when: func(e *evidence, v *verdict) bool {
			return e.Swap == nil && (e.ret == nil || e.ret.ambiguous) && (v.cause != inspect.SessionExpired || e.mayHaveDrained())
		}},
	}
	// weakDoubts: what a timer's beat rules out, were it a timer for sure.
	weakDoubts = []doubt{{cap: inspect.Medium, rival: inspect.MemberLeft, when: func(e *evidence, _ *verdict) bool { return e.weakDropped }}}

	// A member that stops working, closes after a while and is started again looks as
	// if it had been put out, where it happens to drain for as long as a timeout, and the
	// return is as quick as a restart; a timer's beat and a KIP-848 member id rule it
	// out. A drain of the length of a poll interval is likely only where the windows cover
	// a good part of that; one of a session, which is short, always.
	sessionDrainDoubts = []doubt{{cap: inspect.Medium, drain: true, rival: inspect.MemberLeft, says: saysDrained,
		when: func(e *evidence, _ *verdict) bool {
			// Who gives a process long to come back sets its session so.
			return e.ret != nil && e.mayHaveDrained() && e.away() <= max(quickRestart, e.session)
		}}}
	overrunDrainDoubts = []doubt{{cap: inspect.Medium, drain: true, rival: inspect.MemberLeft, says: saysDrained,
		when: func(e *evidence, _ *verdict) bool {
			if e.ret == nil || !e.mayHaveDrained() {
				return false
			}
			width := e.hi.Sub(e.lo)
			for _, w := range e.hits {
				width += w.hi - w.lo
			}
			return e.away() <= quickRestart && 10*width > max(e.rebalance, e.session)
		}}}

	// tookPartDoubts: a poll interval may have ended where it was not too soon for that.
	tookPartDoubts = []doubt{{cap: inspect.Low, rival: inspect.PollIntervalExceeded,
		when: func(e *evidence, _ *verdict) bool {
			return slices.Contains(e.possible(), inspect.PollIntervalExceeded) && (e.rebalance == 0 || e.hi.Sub(e.aliveAt) >= e.rebalance/2)
		}}}

	// silenceDoubts are those of all that silence says. The first look at a return in the
	// record that shows the departure, or right after it: the new process may have come
	// while the old one still counted.
	silenceDoubts = []doubt{
		{cap: inspect.Low, rival: inspect.CoordinatorMoved, when: func(e *evidence, _ *verdict) bool { return e.silentBroker },
			says: always("the coordinator did not answer polls for a while in between: if it moved or restarted, every session restarted too")},
		{rival: inspect.SessionExpired, when: silentBrokerLeaves(inspect.SessionExpired)},
		{rival: inspect.MemberLeft, when: silentBrokerLeaves(inspect.MemberLeft)},
		{rival: inspect.PollIntervalExceeded, when: silentBrokerLeaves(inspect.PollIntervalExceeded)},
		{cap: inspect.Medium, when: func(e *evidence, _ *verdict) bool { return e.cad.grain > 0 },
			says: func(e *evidence) string {
				return "its commits are known from polls of the committed offsets, " + dur(round(e.cad.grain)) + " apart, which do not show a commit of the same offset"
			}},
		{cap: inspect.Low, rival: inspect.MemberLeft, when: (*evidence).mayHaveIdled,
			says: always("nobody knows whether records waited, so it may have gone on committing what it had committed before")},
		{rival: inspect.SessionExpired, when: (*evidence).mayHaveIdled},
		{rival: inspect.PollIntervalExceeded, when: (*evidence).mayHaveIdled},
		{when: func(e *evidence, _ *verdict) bool { return len(e.basis) > 0 },
			says: func(e *evidence) string { return "assumed, not read: " + strings.Join(e.basis, ", ") }},
		{cap: inspect.Low, rival: inspect.SessionExpired,
			when: func(e *evidence, v *verdict) bool { return v.cause == inspect.MemberLeft && e.sessionMayHaveEnded() },
			says: always("how long its session is nobody has told, so it may have ended")},
		{rival: inspect.PollIntervalExceeded, when: func(e *evidence, v *verdict) bool {
			return e.guessed && v.cause != inspect.MemberLeft && slices.Contains(e.possible(), inspect.PollIntervalExceeded)
		}},
		{when: func(e *evidence, _ *verdict) bool { return e.swapped() && e.apart },
			says: always("seen live: it had left before the new process joined")},
		// A process that stood still, and comes back in the same record, looks the same.
		{cap: inspect.Medium, rival: inspect.SessionExpired,
			when: func(e *evidence, v *verdict) bool { return e.swapped() && v.cause == inspect.RestartedWithinSession },
			says: always("the same client joined in the record that shows the old member gone: the join waited until the old session had ended")},
		{rival: inspect.RestartedWithinSession, when: func(e *evidence, v *verdict) bool {
			return e.swapped() && !e.apart && !e.livesOn() && v.hasOpen(inspect.SessionExpired)
		}},
		{cap: inspect.Medium, when: func(e *evidence, v *verdict) bool { return e.backAfterExpiry(v) && e.away() <= e.heartbeat+slack }},
		{rival: inspect.RestartedWithinSession,
			when: func(e *evidence, v *verdict) bool {
				return e.backAfterExpiry(v) && (e.away() <= e.heartbeat+slack || 2*e.away() <= e.session)
			},
			says: func(e *evidence) string {
				return "it was back " + dur(e.away()) + " after it left: a new process may have been on its way already"
			}},
		{rival: inspect.PollIntervalExceeded, when: func(e *evidence, _ *verdict) bool { return e.inBatch }},
		// A session timeout that is a default nobody read rules nothing out, and only a
		// close right after a commit can be told.
		{cap: inspect.Low, when: func(e *evidence, v *verdict) bool {
			return e.assumed && !v.isClose() && v.cause != inspect.SessionExpired
		}},
		{rival: inspect.SessionExpired, when: func(e *evidence, v *verdict) bool { return e.assumed && !v.isClose() },
			says: func(e *evidence) string {
				return "the session timeout was not read, " + dur(e.session) + " is the default"
			}},
	}

	// joinDoubts: the join phase may have waited for it until the rebalance timeout, or for
	// others: where no member stayed, none shows how long it lasted.
	joinDoubts = []doubt{
		{cap: inspect.Low, when: func(e *evidence, _ *verdict) bool { return e.noneStayed() },
			says: always("no member of before stayed, so nothing shows how long the join lasted")},
		{cap: inspect.Medium, rival: inspect.RejoinTimedOut, when: func(e *evidence, v *verdict) bool {
			return e.mayHaveHeld && v.cause != inspect.RestartedWithinSession && !e.heldSurely(v)
		}},
	}
)

// silentBrokerLeaves: where the coordinator did not answer, no possible cause is ruled out.
func silentBrokerLeaves(c inspect.Cause) func(*evidence, *verdict) bool {
	return func(e *evidence, _ *verdict) bool { return e.silentBroker && slices.Contains(e.possible(), c) }
}

func certainly(*evidence, *verdict) bool { return true }

func always(text string) func(*evidence) string { return func(*evidence) string { return text } }

func these(list ...inspect.Cause) func(*evidence) []inspect.Cause {
	return func(*evidence) []inspect.Cause { return list }
}

// leftByItself ends the reason of a departure that no timeout explains.
const leftByItself = ": it left by itself"

// opensUnmeasured says why silence cannot be measured.
func opensUnmeasured(e *evidence, v *verdict) {
	switch {
	case e.shares:
		v.say("a share group commits no offsets: its records show that a member went, and nothing of why")
	case e.step.Polled && len(e.cad.ticks) == 0:
		v.say("seen by polls alone, the offsets topic was not read: when it last committed is not known")
	case e.unseen:
		v.say("its committed offsets were not polled until it left: when it last committed is not known")
	case len(e.blind) > 0:
		v.say("polls show no committed offset of its topic " + prose.Few(e.blind, 3) + ": when it last committed is not known")
	case e.compacted:
		v.say("its commits may have been compacted away: silence cannot be measured")
	default:
		v.say("only " + itoa(int32(min(e.n, 1000))) + " commits on its partitions: silence cannot be measured")
	}
}

// opensMeasured says how long the silence was, and which windows it misses.
func opensMeasured(e *evidence, v *verdict) {
	v.say("last commit " + between(min(e.gapHi, max(0, e.lo.Sub(e.lastAt))), e.gapHi) + " before it left")
	if e.common > 0 {
		v.say("for " + dur(round(e.common)) + " of that nobody else committed either: an idle topic, or a broker that paused")
	}
	for _, w := range e.missed {
		if !slices.Contains(e.causes, w.cause) && !e.byDefault(w.cause) {
			v.add(w.cause, w.whyNot(e))
		}
	}
}

// keptPartitions: a KIP-848 member that had to give partitions up did not within
// its rebalance timeout.
func (e *evidence) keptPartitions() bool {
	m := e.Member
	if !e.step.ServerSide || m.State != inspect.MemberUnrevoked || m.StateAt.IsZero() || e.rebalance == 0 || !m.StaticLeft.IsZero() {
		return false
	}
	return (e.hi.Sub(m.StateAt) - e.rebalance).Abs() <= max(200*time.Millisecond, e.rebalance/500)
}

func saysKeptPartitions(e *evidence) string {
	return "it had to give partitions up and was fenced " + dur(e.hi.Sub(e.Member.StateAt)) + " later without having done so; its rebalance timeout is " + dur(e.rebalance)
}

// slowToSync: the coordinator expired a cooperative member that polls more slowly
// than its session while it rejoined. The trace is a skipped generation.
func (e *evidence) slowToSync() bool {
	s := e.step
	if s.Skipped == 0 || s.Eager && s.ProtocolTo != "" || e.session == 0 {
		return false
	}
	return e.n >= leastCommits && !e.cad.timer && e.cad.longest > e.session && e.ret != nil
}

func saysSlowToSync(e *evidence) string {
	return itoa(e.step.Skipped) + " generation(s) never reached the log, and this member lets " + dur(e.cad.longest) +
		" pass between commits, more than its session of " + dur(e.session) + ": a cooperative client does not heartbeat while it rejoins"
}

// isFrozen: at least two commits repeated the same offsets while records waited.
func (e *evidence) isFrozen() bool {
	return e.frozen >= 2 && e.waiting == 1 && e.cad.timer && e.gapHi <= e.cad.most+slack+max(0, e.hi.Sub(e.lo))
}

func saysFrozen(e *evidence) string {
	return "commits went on, but the offset had not advanced for " + dur(e.hi.Sub(e.advanceAt)) + " while records waited: a background committer outlived the poll loop"
}

// tookPartLately: it took part so shortly before it went that its session cannot have
// ended.
func (e *evidence) tookPartLately() bool {
	return e.ruledOut(inspect.SessionExpired) && !e.Member.Static()
}

func saysTookPart(e *evidence) string {
	return "it had taken part in a rebalance " + dur(round(e.hi.Sub(e.aliveAt))) + " before, so its session of " + dur(e.session) + " cannot have ended" + leftByItself
}

// closeAloneIsLeft reports whether a close alone is left of what is possible, since the
// member's last commit is too near for every timeout.
func (e *evidence) closeAloneIsLeft() bool {
	if e.assumed || e.guessed {
		return false
	}
	open := slices.DeleteFunc(e.possible(), func(c inspect.Cause) bool {
		return slices.ContainsFunc(e.missed, func(w window) bool { return w.cause == c && e.gapHi < w.lo }) &&
			!slices.ContainsFunc(e.missed, func(w window) bool { return w.cause == c && e.gapHi >= w.lo })
	})
	return slices.Equal(open, []inspect.Cause{inspect.MemberLeft})
}

// tooSoonForSession: too soon for any timeout.
func (e *evidence) tooSoonForSession() bool {
	early := e.session - slack
	if e.step.ServerSide {
		early -= e.heartbeat
	}
	return e.gapHi < early && !e.Member.Static() && !e.assumed
}

func saysTooSoonForSession(e *evidence) string {
	return "too soon for its session of " + dur(e.session) + " to have ended: it left by itself, " + between(e.gapLo, e.gapHi) + " after its last commit"
}

// unseenInterval: longer than the session allows, where the wire shows no other timeout.
func (e *evidence) unseenInterval() bool {
	return e.gapLo > e.session+e.cad.most+slack && (e.rebalance == 0 || e.equal()) && e.ret != nil
}

// lateOverrun reports a KIP-848 member that was put out somewhat later than its poll
// interval allows, when its session would have ended long before, and that came back
// as the same process: it neither closed nor crashed.
func (e *evidence) lateOverrun() bool {
	if !e.livesOn() || e.Member.Static() || e.waiting != 1 || e.rebalance == 0 || e.assumed {
		return false
	}
	if e.family != inspect.Unknown && !e.family.PollInterval() {
		return false
	}
	over := e.gapLo - e.rebalance
	return over > 0 && over <= e.session && e.gapLo > e.session+e.cad.most+slack
}

func saysLateOverrun(e *evidence) string {
	return "records waited, the same process came back, and its session of " + dur(e.session) + " would have ended long before: longer than its max.poll.interval.ms of " +
		dur(e.rebalance) + ", which a busy machine notices late"
}

// onBeat: what fits is a close without a closing commit.
func (e *evidence) onBeat() bool { return len(e.causes) == 1 && e.hits[0].weak }

func saysOnBeat(e *evidence) string {
	return "its last commit came on the beat of " + dur(round(e.cad.median)) + ", so no closing commit was made"
}

// only reports whether the silence fits this cause and no other.
func (e *evidence) only(c inspect.Cause) bool { return len(e.causes) == 1 && e.causes[0] == c }

func saysHits(e *evidence) string { return "that is " + names(e.hits) }

func saysDrained(*evidence) string {
	return "a close after draining for as long, and a restart, would look the same"
}

// sessionOrRestart names the end of a session in which a new process came.
func sessionOrRestart(e *evidence) inspect.Cause {
	if e.swapped() && !e.apart && !e.livesOn() {
		return inspect.RestartedWithinSession
	}
	return inspect.SessionExpired
}

// swapped reports a classic member in whose place another process of the same client
// came in the same record.
func (e *evidence) swapped() bool { return !e.step.ServerSide && e.Swap != nil }

// backAfterExpiry reports a classic member whose session expired and that came back in
// a later record, for all that is known as another process.
func (e *evidence) backAfterExpiry(v *verdict) bool {
	return !e.step.ServerSide && e.Swap == nil && v.cause == inspect.SessionExpired && e.ret != nil && !e.livesOn()
}

// littleOver reports a silence that exceeds the poll interval by less than a tenth of it,
// more than a quiet machine is late.
func (e *evidence) littleOver() bool {
	over := e.gapLo - e.rebalance
	return over >= 0 && over < e.rebalance/10 && slices.ContainsFunc(e.missed, func(w window) bool { return w.cause == inspect.PollIntervalExceeded })
}

// noneStayed reports a classic rebalance after which a group of several has other members
// alone, and polls did not see this one go.
func (e *evidence) noneStayed() bool {
	s := e.step
	return !s.ServerSide && !s.Empty && !e.live && len(s.Before) > 1 && len(s.survivors) == 0
}

func (e *evidence) cameBack() bool { return e.ret != nil || e.Swap != nil }

// away is the time from the departure to the return.
func (e *evidence) away() time.Duration { return e.ret.step.At.Sub(e.hi) }

// seenWhen reports whether the departure was seen, or is bounded by what was seen.
func (e *evidence) seenWhen() bool { return e.live || e.common == 0 && (e.exact || e.bounded) }

// mayHaveDrained reports whether it may have closed after it had worked no more for a
// while: its commits would then have ended as well, and it would not be back as itself. Who
// commits again and again what it has committed commits as it closes too.
func (e *evidence) mayHaveDrained() bool {
	return !(e.cad.timer && e.cad.repeats) && !e.Member.Static() && !e.noLeave() && !e.livesOn() && !e.beatsAtWork()
}

// noLeave reports a member whose client sends no LeaveGroup when it closes, so that
// nothing but the end of its session puts it out: a static one that has not said that it
// goes, and Kafka Streams.
func (e *evidence) noLeave() bool {
	return e.Member.Static() && e.Member.StaticLeft.IsZero() || e.family == inspect.StreamsLib && !e.server()
}

// onlyExpires reports a member that sends no LeaveGroup, for sure: polls do not show that a
// static KIP-848 member said that it goes.
func (e *evidence) onlyExpires() bool { return e.noLeave() && !(e.step.Polled && e.server()) }

// beatsAtWork reports a member whose client heartbeats only between the records that it
// works and where there are none, as KafkaJS does, with records waiting all the time: after
// a silence as long as its session it is out, before it can close.
func (e *evidence) beatsAtWork() bool {
	return e.family == inspect.KafkaJS && e.waiting == 1 && e.gapLo >= e.session-pollNoise
}

// inTime reports a member that cannot have exceeded its poll interval: commits show a
// poll within it, its client checks none, or it took part in a rebalance within it.
func (e *evidence) inTime() bool {
	return e.polled || e.family != inspect.Unknown && !e.family.PollInterval() && e.family != inspect.AIOKafka || e.ruledOut(inspect.PollIntervalExceeded)
}

// tooSoon reports whether the member had taken part so shortly before it went that
// a timeout of this length cannot have ended.
func (e *evidence) tooSoon(timeout time.Duration) bool {
	return !e.aliveAt.IsZero() && e.hi.Sub(e.aliveAt) < timeout-100*time.Millisecond
}
