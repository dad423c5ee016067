package judge

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kgdiag/kgdiag/inspect"
	"github.com/kgdiag/kgdiag/inspect/family"
)

// at finds the rebalance of a generation, or of an epoch.
func at(t *testing.T, tl inspect.Timeline, gen int32) inspect.Rebalance {
	t.Helper()
	for _, r := range tl.Rebalances {
		if r.Generation == gen || slices.Contains(r.Generations, gen) {
			return r
		}
	}
	t.Fatalf("no rebalance of generation %d in %+v", gen, tl.Rebalances)
	return inspect.Rebalance{}
}

func want(t *testing.T, r inspect.Rebalance, cause inspect.Cause, conf inspect.Confidence) {
	t.Helper()
	if r.Cause != cause || r.Confidence != conf {
		t.Errorf("generation %d: %s, %s; want %s, %s (evidence %q, rivals %v)", r.Generation, r.Cause, r.Confidence, cause, conf, r.Evidence, r.Rivals)
	}
}

var (
	a  = who{id: "a-1", client: "a", parts: []int32{0, 1}}
	bb = who{id: "b-1", client: "b", host: "10.0.0.2", parts: []int32{2, 3}}
)

func with(w who, parts ...int32) who { w.parts = parts; return w }

func TestCooperativeGenerationsAreOneRebalance(t *testing.T) {
	b := newBook()
	b.assignor = "cooperative-sticky"
	b.generation(0, 1, with(a, 0, 1, 2, 3))
	b.generation(30, 2, with(a, 0, 1), with(bb))
	b.generation(39, 3, with(a, 0, 1), with(bb, 2, 3)) // a whole poll later
	b.generation(80, 4, with(a, 0, 1, 2, 3))
	tl := b.build()
	if len(tl.Rebalances) != 3 {
		t.Fatalf("%d rebalances, want 3: %+v", len(tl.Rebalances), tl.Rebalances)
	}
	r := at(t, tl, 3)
	want(t, r, inspect.MemberJoined, inspect.High)
	if !slices.Equal(r.Generations, []int32{2, 3}) || r.Moved != 2 || r.Assigned != 4 || r.ID != "24:1001" {
		t.Errorf("folded rebalance: generations %v, moved %d of %d, id %s", r.Generations, r.Moved, r.Assigned, r.ID)
	}
}

func TestStaticRestartAndDuplicate(t *testing.T) {
	one := who{id: "s-1", client: "s", instance: "pod-0", parts: []int32{0}}
	two := one
	two.id = "s-2"
	b := newBook()
	b.generation(0, 1, one, with(bb, 1))
	b.commits(1, 60, 0.5, 0, 0, 1)
	b.generation(70, 1, two, with(bb, 1)) // ten seconds after the last commit
	want(t, lastOf(b.build()), inspect.StaticMemberRestarted, inspect.High)

	b = newBook()
	b.generation(0, 1, one, with(bb, 1))
	b.commits(1, 60, 0.5, 0, 0, 1)
	b.generation(59.8, 1, two, with(bb, 1)) // in the middle of its commits
	r := lastOf(b.build())
	want(t, r, inspect.StaticMemberFenced, inspect.Medium)
	if r.SyncTime != nil {
		t.Error("a static swap has no sync time")
	}
	if len(r.Members.Replaced) != 1 || r.Members.Replaced[0].OldMemberID != "s-1" {
		t.Errorf("replaced: %+v", r.Members.Replaced)
	}
}

func lastOf(tl inspect.Timeline) inspect.Rebalance { return tl.Rebalances[len(tl.Rebalances)-1] }

func TestSkippedAndCompactedGenerations(t *testing.T) {
	b := newBook()
	b.generation(0, 1, a, bb)
	b.generation(30, 4, a, bb)
	r := lastOf(b.build())
	want(t, r, inspect.AssignmentFailed, inspect.Medium)
	if r.Skipped != 2 {
		t.Errorf("skipped %d, want 2", r.Skipped)
	}
	b = newBook()
	b.generation(0, 1, a, bb)
	b.generation(30, 4, a, bb)
	b.c.Logs = []inspect.PartitionLog{{Partition: 24, CompleteFrom: 1001}}
	if r := lastOf(b.build()); r.Skipped != 0 || len(r.Notes) == 0 {
		t.Errorf("compacted generations were taken for skipped ones: %d, %v", r.Skipped, r.Notes)
	}
}

func TestWhatChangedIsTheCause(t *testing.T) {
	b := newBook()
	b.generation(0, 1, a, bb)
	more := a
	more.topics = []string{"t", "u"}
	b.generation(10, 2, more, bb)
	b.generation(20, 3, more, with(bb, 2, 3, 4))
	b.assignor = "roundrobin"
	b.generation(30, 4, more, with(bb, 2, 3, 4))
	b.generation(40, 5, more, with(bb, 2, 3, 4))
	b.epoch = 7
	b.generation(50, 6, more, with(bb, 2, 3, 4))
	b.generation(60, 7)
	b.add(70, inspect.Record{Type: inspect.RecGroupMetadata, Tombstone: true})
	tl := b.build()
	want(t, at(t, tl, 2), inspect.SubscriptionChanged, inspect.High)
	want(t, at(t, tl, 3), inspect.TopicMetadataChanged, inspect.High)
	want(t, at(t, tl, 4), inspect.AssignorChanged, inspect.High)
	want(t, at(t, tl, 5), inspect.UnknownCause, inspect.Low)
	want(t, at(t, tl, 6), inspect.CoordinatorMoved, inspect.Medium)
	want(t, tl.Rebalances[len(tl.Rebalances)-2], inspect.GroupEmptied, inspect.Medium)
	want(t, lastOf(tl), inspect.GroupDeleted, inspect.High)
}

func TestCoordinatorMoveVoidsSilence(t *testing.T) {
	b := newBook()
	b.generation(0, 1, a, bb)
	b.commits(1, 100, 0.5, 0, 0, 1)
	b.commits(1, 200, 0.5, 2, 0, 1)
	b.generation(145.2, 2, with(bb, 0, 1, 2, 3))
	b.commits(145.5, 150, 0.1, 0, 198, 10)
	sortBook(b)
	for i := range b.c.Records {
		if b.c.Records[i].Time.After(clock(120).Time) {
			b.c.Records[i].LeaderEpoch = 2
		}
	}
	tl := Build(b.c, Options{})[0]
	r := lastOf(tl)
	want(t, r, inspect.CoordinatorMoved, inspect.Low)
}

func TestRollingRestartOfFour(t *testing.T) {
	b := newBook()
	ids := []who{}
	for i, c := range []string{"w0", "w1", "w2", "w3"} {
		ids = append(ids, who{id: c + "-1", client: c, parts: []int32{int32(i)}})
	}
	b.generation(0, 1, ids...)
	for i := range ids {
		b.commits(0.5, 100+20*float64(i), 5, int32(i), 0, 20)
		b.commit(100+20*float64(i)-0.1-1, int32(i), 1_000_000) // the closing commit, off the beat
	}
	gen := int32(2)
	for i := range ids {
		at := 100 + 20*float64(i)
		b.generation(at-1, gen, slices.Delete(slices.Clone(ids), i, i+1)...)
		ids[i].id += "-again"
		b.generation(at+8, gen+1, ids...)
		gen += 2
	}
	tl := b.build()
	for g := int32(2); g < gen; g++ {
		r := at(t, tl, g)
		if r.Cause != inspect.RollingRestart {
			t.Errorf("generation %d: %s (%v), want rolling_restart", g, r.Cause, r.Evidence)
		}
	}
}

func TestTenureTellsBatchOverruns(t *testing.T) {
	b := newBook()
	slow := who{id: "slow-1", client: "slow", host: "10.0.0.9", parts: []int32{0}, session: 10, rebalance: 60}
	peer := who{id: "peer-1", client: "peer", parts: []int32{1}, session: 10, rebalance: 60}
	b.generation(0, 1, with(peer, 0, 1))
	b.commits(0.2, 400, 0.5, 1, 0, 1)
	now, off, gen := 10.0, int64(0), int32(2)
	for i := range 3 {
		slow.id = "slow-" + string(rune('1'+i))
		b.generation(now, gen, slow, peer)
		off = b.commits(now+1, now+60, 1, 0, off, 1) // a record a second, out after 60 s in the middle
		b.generation(now+60.4, gen+1, with(peer, 0, 1))
		now += 63
		gen += 2
	}
	b.generation(now, gen, slow, peer)
	tl := b.build()
	r := at(t, tl, 3)
	want(t, r, inspect.PollIntervalExceeded, inspect.Medium)
	if !r.Members.Left[0].InBatch || r.Stall != nil {
		t.Errorf("an overrun between the commits of a batch shows no stall: in batch %v, stall %v", r.Members.Left[0].InBatch, r.Stall)
	}
	if r.Step == nil || r.Step.Duration() != time.Second {
		t.Errorf("a record took %v, want 1s", r.Step)
	}
}

// overrun is a member that is silent for 303 s with a poll interval of 300 s.
func overrun() *book {
	b := newBook()
	b.generation(0, 1, with(a, 0), with(bb, 1))
	b.commits(1, 100, 1, 0, 0, 5)
	b.commits(1, 600, 1, 1, 0, 5)
	b.generation(401.5, 2, with(bb, 0, 1))
	b.commits(402, 410, 0.1, 0, 495, 100)
	back := with(a, 0)
	back.id = "a-2"
	b.generation(550, 3, back, with(bb, 1))
	b.c.Window.To = clock(1000)
	return b
}

// A return that had to wait for a new coordinator says nothing of how long the member
// was busy: no setting may be reckoned from it.
func TestStallEndsNotWithACoordinatorsMove(t *testing.T) {
	b := overrun()
	last := &b.c.Records[len(b.c.Records)-1] // of the return
	last.LeaderEpoch = 4
	r := at(t, b.build(), 2)
	want(t, r, inspect.PollIntervalExceeded, inspect.High)
	if r.Stall != nil || r.Members.Left[0].Stall != nil {
		t.Errorf("stall %v, want none", r.Stall)
	}
}

func TestPollOverrunWithNumbers(t *testing.T) {
	tl := overrun().build()
	r := at(t, tl, 2)
	want(t, r, inspect.PollIntervalExceeded, inspect.High)
	d := r.Members.Left[0]
	if d.Stall == nil || d.Stall.Duration() < 450*time.Second || d.Stall.Duration() > 452*time.Second {
		t.Errorf("stall %v, want 451 s: from the last commit that moved to the return", d.Stall)
	}
	j := at(t, tl, 3).Members.Joined[0]
	if j.BackAfter == nil || j.Back != r.ID {
		t.Errorf("the return does not point to its departure: %+v", j)
	}
	if got := inspect.WhatIf(tl, inspect.Overrides{PollInterval: inspect.Ms(10 * time.Minute)}); len(got.Avoided) != 1 || got.Rebalances != 2 {
		t.Errorf("with 10 min: %+v", got)
	}
	if got := inspect.WhatIf(tl, inspect.Overrides{PollInterval: inspect.Ms(6 * time.Minute)}); len(got.Remaining) != 1 || len(got.Avoided) != 0 {
		t.Errorf("with 6 min: %+v", got)
	}
	if i := slices.IndexFunc(r.Rivals, func(v inspect.Rival) bool { return v.Cause == inspect.SessionExpired }); i < 0 || r.Rivals[i].WhyNot == "" {
		t.Errorf("no word on why it was not the session: %+v", r.Rivals)
	}
}

func TestLogLineMakesItStated(t *testing.T) {
	b := overrun()
	b.c.LogEvents = []inspect.LogEvent{{Time: clock(400), Kind: inspect.LogPollTimeout, From: inspect.Position{File: "app.log", Line: 7},
		Group: "g", ClientID: "a", Cause: inspect.PollIntervalExceeded, Reason: "consumer poll timeout has expired."},
		{Time: clock(400), Kind: inspect.LogLeft, Group: "g", ClientID: "somebody-else", Cause: inspect.MemberLeft}}
	r := at(t, b.build(), 2)
	want(t, r, inspect.PollIntervalExceeded, inspect.High)
	if r.Basis != inspect.Stated || !strings.Contains(strings.Join(r.Evidence, "\n"), "app.log:7: consumer poll timeout has expired.") {
		t.Errorf("basis %s, evidence %q", r.Basis, r.Evidence)
	}
	b = overrun()
	b.c.LogEvents = []inspect.LogEvent{{Time: clock(401), Kind: inspect.LogLeft, Group: "g", MemberID: "a-1", Cause: inspect.MemberLeft, Reason: "the consumer is being closed"}}
	r = at(t, b.build(), 2)
	want(t, r, inspect.MemberLeft, inspect.High)
	b = overrun()
	b.c.LogEvents = []inspect.LogEvent{{Time: clock(4000), Kind: inspect.LogLeft, Group: "g", MemberID: "a-1", Cause: inspect.MemberLeft}}
	if r = at(t, b.build(), 2); r.Basis != inspect.Inferred {
		t.Error("a line of an hour later was taken for this departure")
	}
}

// live is one observation.
func live(from, to float64, state string, ids ...string) inspect.Observation {
	o := inspect.Observation{Group: "g", From: clock(from), To: clock(to), State: state}
	for _, id := range ids {
		o.Members = append(o.Members, inspect.ObservedMember{MemberID: id, ClientID: id[:1]})
	}
	return o
}

func TestLiveViewBoundsTheDeparture(t *testing.T) {
	b := newBook()
	b.generation(0, 1, with(a, 0), with(bb, 1))
	b.commits(1, 100, 1, 0, 0, 5)
	b.commits(1, 390, 60, 1, 0, 5) // a peer that polls once a minute
	b.generation(190, 2, with(bb, 0, 1))
	b.commits(190.1, 195, 0.1, 0, 495, 100)
	r := at(t, b.build(), 2)
	if r.Confidence == inspect.High {
		t.Errorf("high without knowing when it went: %+v", r)
	}
	b.c.Observations = []inspect.Observation{
		live(90, 144.6, "Stable", "a-1", "b-1"), live(144.85, 189.9, "PreparingRebalance", "b-1"), live(190.1, 300, "Stable", "b-1")}
	r = at(t, b.build(), 2)
	if r.Cause != inspect.SessionExpired {
		t.Errorf("%s, %s; want session_expired: %v", r.Cause, r.Confidence, r.Evidence)
	}
	d := r.Members.Left[0]
	if d.LeftBetween[0] != clock(144.6) || d.LeftBetween[1] != clock(144.85) {
		t.Errorf("left between %v", d.LeftBetween)
	}
	if r.StartedAt != clock(144.85) || r.Rebalancing.Duration().Round(100*time.Millisecond) != 45200*time.Millisecond {
		t.Errorf("started %v, rebalancing %v", r.StartedAt, r.Rebalancing)
	}
}

func TestLiveThreeMembersAreARestart(t *testing.T) {
	b := newBook()
	b.generation(0, 1, with(a, 0), with(bb, 1))
	again := with(a, 0)
	again.id = "a-2"
	b.generation(45, 2, again, with(bb, 1))
	b.c.Observations = []inspect.Observation{live(0, 10, "Stable", "a-1", "b-1"), live(10.2, 44, "PreparingRebalance", "a-1", "a-2", "b-1"), live(45.2, 60, "Stable", "a-2", "b-1")}
	r := at(t, b.build(), 2)
	want(t, r, inspect.RestartedWithinSession, inspect.High)
}

// A client that lost its coordinator joins again under a new id: nothing was
// restarted, though two ids of it were seen at once. Polls that failed are no proof
// of a move where the leader epochs of the records say that there was none.
func TestLiveCoordinatorMoveIsNoRestart(t *testing.T) {
	elsewhere := live(31, 44, "PreparingRebalance", "a-1", "a-2", "b-1")
	elsewhere.Coordinator = 2
	failed := []inspect.Observation{{Group: "g", From: clock(11), To: clock(30), Error: "broker 0 refuses connections"},
		live(31, 44, "PreparingRebalance", "a-1", "a-2", "b-1")}
	for name, c := range map[string]struct {
		then  []inspect.Observation
		epoch int32 // of the last record
		cause inspect.Cause
		conf  inspect.Confidence
	}{
		"to another broker":              {[]inspect.Observation{elsewhere}, 0, inspect.CoordinatorMoved, inspect.Low},
		"back to the same":               {failed, 2, inspect.CoordinatorMoved, inspect.Low},
		"polls failed, epoch not known":  {failed, -1, inspect.CoordinatorMoved, inspect.Low},
		"polls failed, the epoch stayed": {failed, 0, inspect.RestartedWithinSession, inspect.High},
	} {
		b := newBook()
		b.generation(0, 1, with(a, 0), with(bb, 1))
		again := with(a, 0)
		again.id = "a-2"
		b.epoch = c.epoch
		b.generation(45, 2, again, with(bb, 1))
		b.c.Observations = append([]inspect.Observation{live(0, 10, "Stable", "a-1", "b-1")}, c.then...)
		r := at(t, b.build(), 2)
		if r.Cause != c.cause || r.Confidence != c.conf {
			t.Errorf("%s: %s, %s; want %s, %s", name, r.Cause, r.Confidence, c.cause, c.conf)
		}
	}
}

// A join phase that lasts until the rebalance timeout puts out who did not rejoin; but
// clients that leave by themselves after a poll interval of the same length look alike.
func TestLiveJoinPhaseUntilTheTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		family  inspect.Family
		session float64
		ends    float64
		cause   inspect.Cause
		conf    inspect.Confidence
	}{
		"a client without a poll check":                    {inspect.Sarama, 10, 310, inspect.RejoinTimedOut, inspect.High},
		"a client that nobody knows":                       {"", 10, 310, inspect.RejoinTimedOut, inspect.Medium},
		"a client that leaves by itself":                   {inspect.Java, 10, 310, inspect.UnknownCause, inspect.Low},
		"one that stood still with a longer session":       {inspect.Java, 900, 310, inspect.RejoinTimedOut, inspect.Medium},
		"the session may have ended in the same moment":    {inspect.Sarama, 300, 310, inspect.RejoinTimedOut, inspect.Medium},
		"the join phase ended before the timeout":          {inspect.Sarama, 10, 300, inspect.UnknownCause, inspect.Low},
		"the join phase was longer than the timeout it is": {inspect.Sarama, 10, 330, inspect.UnknownCause, inspect.Low},
	} {
		b := newBook()
		x := who{id: "c-1", client: "c", parts: []int32{2}}
		gone := with(a, 0)
		gone.session = c.session
		b.generation(0, 1, gone, with(bb, 1))
		b.generation(c.ends, 2, with(bb, 0, 1), x)
		b.c.Observations = []inspect.Observation{live(0, 9.9, "Stable", "a-1", "b-1"),
			live(10.1, c.ends-0.2, "PreparingRebalance", "a-1", "b-1", "c-1"), live(c.ends+0.2, 400, "Stable", "b-1", "c-1")}
		sortBook(b)
		r := at(t, Build(b.c, Options{Family: func(family.Evidence) inspect.ClientGuess {
			return inspect.ClientGuess{Family: c.family, Confidence: inspect.High}
		}})[0], 2)
		if r.Cause != c.cause || r.Confidence != c.conf {
			t.Errorf("%s: %s, %s; want %s, %s (%q, %v)", name, r.Cause, r.Confidence, c.cause, c.conf, r.Evidence, r.Rivals)
		}
	}
}

// server writes KIP-848 records.
func (b *book) join(at float64, id, client string, epoch int32, parts ...int32) {
	b.add(at, inspect.Record{Type: inspect.RecConsumerMember, Member: id, MemberOf: &inspect.MemberMetadata{ClientID: client, Host: "10.0.0.1", Topics: []string{"t"}, Rebalance: inspect.Ms(time.Minute)}})
	b.add(at, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: epoch, MetadataHash: 5}})
	b.current(at+0.01, id, epoch, 0, parts...)
}

func (b *book) current(at float64, id string, epoch int32, state int8, parts ...int32) {
	b.add(at, inspect.Record{Type: inspect.RecConsumerCurrentAssignment, Member: id, Current: &inspect.CurrentAssignment{Epoch: epoch, State: state,
		Assigned: inspect.Tasks{Active: []inspect.TopicIDPartitions{{TopicID: "T", Partitions: parts}}}}})
}

func (b *book) fence(at float64, id string, epoch int32) {
	for _, rt := range []inspect.RecordType{inspect.RecConsumerCurrentAssignment, inspect.RecConsumerTargetMember, inspect.RecConsumerMember} {
		b.add(at, inspect.Record{Type: rt, Member: id, Tombstone: true})
	}
	b.add(at, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: epoch, MetadataHash: 5}})
}

func TestServerSideEpochs(t *testing.T) {
	b := newBook()
	b.join(0, "ida", "a", 1, 0, 1)
	b.join(10, "idb", "b", 2)
	b.current(10.02, "idb", 2, inspect.MemberUnreleased)
	b.current(11, "ida", 1, inspect.MemberUnrevoked, 0)
	b.current(14, "ida", 2, inspect.MemberStable, 0)
	b.current(18.2, "idb", 2, inspect.MemberStable, 1)
	b.add(30, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: 3, MetadataHash: 6}})
	b.current(31, "ida", 3, inspect.MemberUnrevoked, 0)
	b.fence(91, "ida", 4) // it never gave up what it had to
	b.add(120, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Tombstone: true})
	tl := b.build()
	if tl.Type != inspect.Consumer {
		t.Errorf("type %q", tl.Type)
	}
	r := at(t, tl, 2)
	want(t, r, inspect.MemberJoined, inspect.High)
	if r.Converged == nil || r.Converged.Duration() != 8200*time.Millisecond || r.ConvergedLast != "b" {
		t.Errorf("converged after %v, last %s", r.Converged, r.ConvergedLast)
	}
	want(t, at(t, tl, 3), inspect.TopicMetadataChanged, inspect.High)
	r = at(t, tl, 4)
	want(t, r, inspect.RejoinTimedOut, inspect.High)
	want(t, lastOf(tl), inspect.GroupDeleted, inspect.High)
}

func TestPatternBeginsToMatch(t *testing.T) {
	b := newBook()
	b.join(0, "ida", "a", 1, 0)
	match := func(at float64, topics ...string) {
		b.add(at, inspect.Record{Type: inspect.RecConsumerRegularExpression, Regex: "pay.*", Matched: &inspect.RegexTopics{Topics: topics}})
	}
	match(1, "pay.eu")
	match(60, "pay.eu", "pay.us")
	b.add(60, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: 2, MetadataHash: 9}})
	r := lastOf(b.build())
	want(t, r, inspect.TopicMetadataChanged, inspect.High)
	if !strings.Contains(r.Evidence[0], "began to match pay.us") {
		t.Errorf("evidence %q", r.Evidence)
	}
}

func TestUpgradeAndDowngrade(t *testing.T) {
	b := newBook()
	b.generation(0, 7, a, bb)
	b.add(50, inspect.Record{Type: inspect.RecGroupMetadata, Tombstone: true})
	b.join(50, "a-1", "a", 8, 0, 1)
	b.generation(90, 9, a)
	tl := b.build()
	want(t, at(t, tl, 8), inspect.ProtocolChanged, inspect.High)
	want(t, lastOf(tl), inspect.ProtocolChanged, inspect.High)
	for _, r := range tl.Rebalances {
		if r.Cause == inspect.GroupDeleted {
			t.Error("an upgrade was taken for a deletion")
		}
	}
}

func TestServerSideStaticSwap(t *testing.T) {
	b := newBook()
	inst := "pod-0"
	b.add(0, inspect.Record{Type: inspect.RecConsumerMember, Member: "old", MemberOf: &inspect.MemberMetadata{ClientID: "a", InstanceID: &inst, Topics: []string{"t"}}})
	b.add(0, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: 1}})
	b.current(0.1, "old", 1, 0, 0)
	b.current(40, "old", inspect.StaticLeaveEpoch, 0, 0)
	for _, rt := range []inspect.RecordType{inspect.RecConsumerCurrentAssignment, inspect.RecConsumerTargetMember, inspect.RecConsumerMember} {
		b.add(50, inspect.Record{Type: rt, Member: "old", Tombstone: true})
	}
	b.add(50, inspect.Record{Type: inspect.RecConsumerMember, Member: "new", MemberOf: &inspect.MemberMetadata{ClientID: "a", InstanceID: &inst, Topics: []string{"t"}}})
	b.current(50, "new", 1, 0, 0)
	b.commit(80, 0, 5)
	r := lastOf(b.build())
	if r.Cause != inspect.StaticMemberRestarted || len(r.Members.Replaced) != 1 {
		t.Errorf("%s, %+v", r.Cause, r.Members)
	}
}

// TestServerSideStaticAbsence: who stops a static KIP-848 member and who overruns its
// poll interval writes the same records. The silence before them, and how the member
// comes back, tell them apart, or else both are named.
func TestServerSideStaticAbsence(t *testing.T) {
	for _, c := range []struct {
		name         string
		until, every float64 // of the commits, one record each
		back         float64 // after it said that it goes, at 60 s
		as           string  // member id on return
		cause        inspect.Cause
		conf         inspect.Confidence
		rival        inspect.Cause
		busy         bool // never waits for records
	}{
		{name: "a restart of a member that waits for records", until: 59.9, every: 1, back: 5, as: "new", cause: inspect.StaticMemberRestarted, conf: inspect.High},
		{name: "silent for its poll interval", until: 40, every: 1, back: 5, as: "new", cause: inspect.PollIntervalExceeded, conf: inspect.Medium, rival: inspect.StaticMemberRestarted},
		{name: "the same process", until: 59.9, every: 1, back: 5, as: "old", cause: inspect.PollIntervalExceeded, conf: inspect.Medium, rival: inspect.StaticMemberRestarted},
		{name: "back at once", until: 59.9, every: 1, back: 0.05, as: "new", cause: inspect.PollIntervalExceeded, conf: inspect.Medium, rival: inspect.StaticMemberRestarted},
		{name: "commits of a slow batch up to the end", until: 59.9, every: 2, back: 5, as: "new", cause: inspect.StaticMemberRestarted, conf: inspect.Low, rival: inspect.PollIntervalExceeded, busy: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBook()
			inst := "pod-0"
			member := func(at float64, id string) {
				b.add(at, inspect.Record{Type: inspect.RecConsumerMember, Member: id, MemberOf: &inspect.MemberMetadata{ClientID: "a", Host: "10.0.0.1",
					InstanceID: &inst, Topics: []string{"t"}, Rebalance: inspect.Ms(20 * time.Second)}})
			}
			member(0, "old")
			b.add(0, inspect.Record{Type: inspect.RecConsumerGroupMetadata, Epoch: &inspect.GroupEpoch{Epoch: 1}})
			b.current(0.1, "old", 1, 0, 0)
			offset := int64(0)
			for at := c.until; at > 1; at -= c.every {
				offset++
			}
			for i := range offset {
				at := c.until - float64(offset-1-i)*c.every
				if !c.busy && i%3 == 1 { // two records that had waited together
					at -= 0.8 * c.every
				}
				b.commit(at, 0, i)
			}
			b.current(60, "old", inspect.StaticLeaveEpoch, 0, 0)
			for _, rt := range []inspect.RecordType{inspect.RecConsumerCurrentAssignment, inspect.RecConsumerTargetMember, inspect.RecConsumerMember} {
				b.add(60+c.back, inspect.Record{Type: rt, Member: "old", Tombstone: true})
			}
			member(60+c.back, c.as)
			b.current(60+c.back, c.as, 1, 0, 0)
			b.commit(90, 0, offset+5)
			sortBook(b)
			r := lastOf(b.build())
			want(t, r, c.cause, c.conf)
			open := slices.ContainsFunc(r.Rivals, func(v inspect.Rival) bool { return v.Cause == c.rival && v.WhyNot == "" })
			if c.rival != "" && !open || c.rival == "" && len(r.Rivals) > 0 {
				t.Errorf("rivals %v, want %q", r.Rivals, c.rival)
			}
		})
	}
}

func TestSharedClientIDsAreNeverHigh(t *testing.T) {
	b := overrun()
	for i := range b.c.Records {
		if g := b.c.Records[i].Metadata; g != nil {
			for j := range g.Members {
				g.Members[j].ClientID, g.Members[j].Host = "rdkafka", "10.0.0.1"
			}
		}
	}
	r := at(t, b.build(), 2)
	if r.Confidence == inspect.High {
		t.Errorf("high although the return may be anybody's: %+v", r)
	}
}

func TestStuckPartitionIsNamed(t *testing.T) {
	b := newBook()
	b.generation(0, 1, with(a, 0, 9), with(bb, 1))
	b.commits(1, 100, 1, 0, 0, 5)
	for at := 1.5; at < 100; at += 10 {
		b.commit(at, 9, 81204417)
	}
	b.generation(145.5, 2, with(bb, 0, 1, 9))
	d := lastOf(b.build()).Members.Left[0]
	if !slices.Equal(d.Stuck, []string{"t-9 offset 81204417"}) {
		t.Errorf("stuck %q", d.Stuck)
	}
}

// librdkafka hands out a batch of several partitions mixed: commits of one record here
// and one there, in turn, are no sign that it polls in between.
func TestAlternatingCommitsMayBeOneBatch(t *testing.T) {
	b := newBook()
	slow := who{id: "a-1", client: "a", parts: []int32{2, 3}, session: 6, rebalance: 15}
	peer := who{id: "b-1", client: "b", host: "10.0.0.2", parts: []int32{0, 1}, session: 6, rebalance: 15}
	b.generation(0, 1, slow, peer)
	b.commits(1.2, 40, 2.4, 2, 0, 1)
	b.commits(2.4, 40, 2.4, 3, 0, 1)
	b.commits(1, 60, 0.3, 0, 0, 1)
	again := slow
	again.id = "a-2"
	b.generation(40.2, 2, again, peer)
	b.commits(42, 50, 2.4, 2, 20, 1)
	r := at(t, b.build(), 2)
	if r.Confidence != inspect.Low || !slices.ContainsFunc(r.Rivals, func(v inspect.Rival) bool { return v.Cause == inspect.PollIntervalExceeded && v.WhyNot == "" }) {
		t.Errorf("%s, %s, rivals %v; want low, and an overrun within a batch among the rivals", r.Cause, r.Confidence, r.Rivals)
	}
}
